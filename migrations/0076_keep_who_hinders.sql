-- phase: expand
-- transaction: on
--
-- A refusal leaves a document as it was. Who wrote what the refusal has read stands behind each field that others read of the
-- document. So does who holds its changes back by an open amendment, and everybody who wrote it while its workflow is held. The
-- fields of steps are those of more than its last 20 instances.

-- up
ALTER TABLE documents ADD COLUMN hindered_by bytea;

-- Add to the persons who wrote what a refusal has read. They never become fewer; of more than a set holds, the first stay.
CREATE FUNCTION keep_hinderers(document uuid, hinderers text[]) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp
AS $$
DECLARE
    known  text[];
    joined text[];
    digest bytea;
BEGIN
    SELECT s.persons INTO known
    FROM documents d
    LEFT JOIN responsible_sets s ON s.tenant_id = d.tenant_id AND s.hash = d.hindered_by
    WHERE d.tenant_id = current_tenant_id() AND d.id = document
    FOR NO KEY UPDATE OF d;
    joined := ARRAY(SELECT DISTINCT person COLLATE "C" AS person
                    FROM unnest(coalesce(known, '{}') || hinderers) AS person ORDER BY person);
    IF NOT FOUND OR joined = known OR cardinality(joined) = 0 OR cardinality(joined) > 200 THEN
        RETURN;
    END IF;
    digest := sha256(convert_to(array_to_string(joined, E'\n'), 'UTF8'));
    INSERT INTO responsible_sets (tenant_id, hash, persons) VALUES (current_tenant_id(), digest, joined)
    ON CONFLICT DO NOTHING;
    UPDATE documents d SET hindered_by = digest WHERE d.tenant_id = current_tenant_id() AND d.id = document;
END
$$;
REVOKE EXECUTE ON FUNCTION keep_hinderers(uuid, text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION keep_hinderers(uuid, text[]) TO signet_worker, signet_api;

-- The persons who keep a document as it is. Where a step lacks a permission, these are those who have taken permissions.
CREATE FUNCTION list_hinderers(document uuid) RETURNS text[]
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, public, pg_temp
AS $$
DECLARE
    codes text[] := ARRAY(SELECT DISTINCT i.code FROM incidents i
                          WHERE i.tenant_id = current_tenant_id() AND i.entity_id = document AND i.closed_at IS NULL);
BEGIN
    RETURN ARRAY(
        SELECT unnest(s.persons)
        FROM documents d
        JOIN responsible_sets s ON s.tenant_id = current_tenant_id()
         AND (s.hash = d.hindered_by OR codes <> '{}' AND s.hash IN (d.creator_responsible, d.editor_responsible))
        WHERE d.tenant_id = current_tenant_id() AND d.id = document
        UNION
        SELECT unnest(s.persons)
        FROM amendments a
        JOIN documents m ON m.tenant_id = current_tenant_id() AND m.id = a.document_id
        JOIN contracts c ON c.tenant_id = current_tenant_id() AND c.entity_type = m.entity_type
                        AND c.version = (SELECT d.contract_version FROM documents d
                                         WHERE d.tenant_id = current_tenant_id() AND d.id = document)
                        AND c.body::jsonb #>> '{amendment,while_open}' = 'suspended'
        JOIN responsible_sets s ON s.tenant_id = current_tenant_id()
                               AND s.hash IN (m.creator_responsible, m.editor_responsible)
        WHERE a.tenant_id = current_tenant_id() AND a.original_id = document AND a.closing IS NULL
        UNION
        SELECT unnest(taken.persons)
        FROM (SELECT e.persons FROM eligibility_changes e
              WHERE 'PERMISSION_DENIED' = ANY (codes) AND e.tenant_id = current_tenant_id()
                AND e.kind IN ('role_taken', 'role_deleted', 'role_permissions_changed', 'member_disabled')
              ORDER BY e.changed_at DESC LIMIT 1000) AS taken);
END
$$;
REVOKE EXECUTE ON FUNCTION list_hinderers(uuid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION list_hinderers(uuid) TO signet_worker, signet_api;

-- The fields that steps of the document's newest instances, or rules in force, may write; '*' for each field, where a function in
-- Python may write it, or where there are too many instances to look at. A patch names the actions that its nodes run, and its contract what they set.
CREATE OR REPLACE FUNCTION list_fields_of_steps(document uuid, document_type text) RETURNS text[]
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, public, pg_temp
AS $$
BEGIN
    RETURN ARRAY(
        WITH newest AS (
            SELECT i.definition_id FROM workflow_instances i
            WHERE i.tenant_id = current_tenant_id() AND i.entity_type = document_type AND i.entity_id = document
            ORDER BY i.id DESC
            LIMIT 1000
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
        SELECT '*' WHERE (SELECT count(*) FROM newest) = 1000
        UNION
        SELECT jsonb_object_keys(action -> 'values')
        FROM rules r
        CROSS JOIN LATERAL jsonb_array_elements(r.actions) AS action
        WHERE r.tenant_id = current_tenant_id() AND r.entity_type = document_type AND r.is_enabled
          AND action ->> 'kind' = 'set');
END
$$;

-- down
-- The fields that steps of the document's newest instances, or rules in force, may write; '*' where a function in Python may
-- write each. A patch names the actions that its nodes run, and its contract what they set.
CREATE OR REPLACE FUNCTION list_fields_of_steps(document uuid, document_type text) RETURNS text[]
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
DROP FUNCTION list_hinderers(uuid);
DROP FUNCTION keep_hinderers(uuid, text[]);
ALTER TABLE documents DROP COLUMN hindered_by;
