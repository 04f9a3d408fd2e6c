-- phase: expand
-- transaction: on
--
-- Behind a field that steps or rules may write stands everybody who wrote the document, whether they have written it or not.
-- Who reads a document of another one asks which fields these are.

-- up
-- The fields that steps of the document's newest instances, or rules in force, may write; '*' where a function in Python may
-- write each. A patch names the actions that its nodes run, and its contract what they set.
CREATE FUNCTION list_fields_of_steps(document uuid, document_type text) RETURNS text[]
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, public, pg_temp
AS $$
BEGIN
    RETURN ARRAY(
        WITH newest AS (
            SELECT i.definition_id FROM workflow_instances i
            WHERE i.tenant_id = current_tenant_id() AND i.entity_type = document_type AND i.entity_id = document
            ORDER BY i.id DESC
            LIMIT 20
        ), run AS MATERIALIZED (
            SELECT DISTINCT w.contract_version, node #>> '{config,action}' AS action
            FROM (SELECT DISTINCT definition_id FROM newest) AS n
            JOIN workflow_definitions w ON w.tenant_id = current_tenant_id() AND w.id = n.definition_id
            JOIN workflow_definitions p ON p.tenant_id = current_tenant_id() AND p.id = w.source_id
            CROSS JOIN LATERAL jsonb_path_query(p.body_patches_json, '$.slots.*.nodes[*] ? (@.type == "action")') AS node
        ), declared AS MATERIALIZED (
            SELECT c.version, c.body::jsonb -> 'actions' AS actions
            FROM contracts c
            WHERE c.tenant_id = current_tenant_id() AND c.entity_type = document_type
              AND c.version IN (SELECT contract_version FROM run)
        ), known AS (
            SELECT d.actions -> run.action AS action FROM run JOIN declared d ON d.version = run.contract_version
        )
        SELECT jsonb_object_keys(action -> 'set') FROM known WHERE action ->> 'kind' = 'update'
        UNION
        SELECT '*' FROM known WHERE action ->> 'kind' = 'python'
        UNION
        SELECT jsonb_object_keys(action -> 'values')
        FROM rules r
        CROSS JOIN LATERAL jsonb_array_elements(r.actions) AS action
        WHERE r.tenant_id = current_tenant_id() AND r.entity_type = document_type AND r.is_enabled
          AND action ->> 'kind' = 'set');
END
$$;
REVOKE EXECUTE ON FUNCTION list_fields_of_steps(uuid, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION list_fields_of_steps(uuid, text) TO signet_worker, signet_api;

-- down
DROP FUNCTION list_fields_of_steps(uuid, text);
