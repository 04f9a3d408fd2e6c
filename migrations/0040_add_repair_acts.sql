-- phase: expand
-- transaction: on
--
-- A document without a live instance is restarted. Its incident, which names the instance that ended, closes by that.

-- up
ALTER TABLE workflow_instances
    DROP CONSTRAINT workflow_instances_birth_check,
    ADD CONSTRAINT workflow_instances_birth_check CHECK (birth IN ('created', 'amended', 'reentered', 'restarted'));
ALTER TABLE incidents
    DROP CONSTRAINT incidents_closing_check,
    ADD CONSTRAINT incidents_closing_check CHECK (closing IN (
        'retried', 'resumed', 'skipped', 'advanced', 'rejected', 'went_on', 'overtaken', 'withdrawn', 'ended',
        'restarted'));
-- Finds the open incidents of a document that a person brings on; there are few of them.
CREATE INDEX incidents_of_documents ON incidents (tenant_id, entity_id) WHERE closed_at IS NULL;

-- A document goes along to the contract of the definition that it is restarted under, as it does in a move.
CREATE OR REPLACE FUNCTION restrict_contract_change() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, public, pg_temp
AS $$
BEGIN
    IF NOT EXISTS (
        SELECT FROM workflow_instances i
        JOIN workflow_step_executions s ON s.tenant_id = i.tenant_id AND s.instance_id = i.id
        WHERE i.tenant_id = NEW.tenant_id AND i.entity_type = NEW.entity_type AND i.entity_id = NEW.id
          AND i.kind = 'envelope' AND i.status IN ('running', 'paused') AND s.node_id = 'sys:control:moved'
          AND (s.output_json -> 'to' ->> 'contract_version')::integer = NEW.contract_version)
       AND NOT EXISTS (
        SELECT FROM workflow_instances i
        JOIN workflow_definitions w
          ON w.tenant_id = i.tenant_id AND w.id = i.definition_id AND w.version = i.definition_version
        WHERE i.tenant_id = NEW.tenant_id AND i.entity_type = NEW.entity_type AND i.entity_id = NEW.id
          AND i.kind = 'envelope' AND i.status = 'running' AND i.birth = 'restarted' AND i.version = 0
          AND w.contract_version = NEW.contract_version) THEN
        RAISE EXCEPTION 'document % was not moved to version % of its contract', NEW.id, NEW.contract_version
            USING ERRCODE = 'SG003';
    END IF;
    RETURN NEW;
END
$$;

-- What is asked of a document is refused at once while its workflow is paused.
CREATE OR REPLACE FUNCTION lock_and_read_documents(document_ids uuid[], role_names text[])
    RETURNS TABLE (now timestamp with time zone, tenant_name text, settings jsonb, epoch integer, xid text, permissions jsonb,
                   documents json)
    LANGUAGE plpgsql
    SET search_path = pg_catalog, public, pg_temp
    SET plan_cache_mode = 'force_generic_plan'
    SET enable_seqscan = 'off'
    SET enable_bitmapscan = 'off'
    SET enable_hashjoin = 'off'
    SET enable_mergejoin = 'off'
    AS $$
#variable_conflict use_column
BEGIN
    PERFORM FROM documents d
    WHERE d.tenant_id = current_tenant_id() AND d.id = ANY (document_ids)
    ORDER BY d.id
    FOR NO KEY UPDATE;
    RETURN QUERY
    SELECT clock_timestamp(), t.name, t.settings, (SELECT max(e.epoch) FROM audit_epochs e),
           pg_current_xact_id()::text,
           (SELECT jsonb_object_agg(r.role, r.permissions) FROM roles r
            WHERE r.tenant_id = t.tenant_id AND r.role = ANY (role_names)),
           (SELECT json_agg(found) FROM (
               SELECT d.id, d.entity_type, d.contract_version, d.status, d.version, d.data, d.amended_from_id,
                      d.creator_id, d.editor_ids, d.field_versions, d.created_at, d.updated_at, d.deleted_at,
                      i.id AS instance_id, i.version AS instance_version,
                      i.entity_version AS instance_entity_version, i.edit_window, i.edit_window_node,
                      i.definition_version,
                      -- A pause of the whole, and not one that follows from held tokens.
                      CASE WHEN i.status = 'paused' AND NOT (
                               i.active_tokens @? '$[*] ? (exists(@.hold))'
                               AND NOT i.active_tokens
                                       @? '$[*] ? ((@.state == "ready" || @.state == "waiting") && !exists(@.hold))')
                           THEN json_build_object('reason', i.reason, 'is_by_person', coalesce((
                               SELECT s.run_as = 'actor' FROM workflow_step_executions s
                               WHERE s.tenant_id = i.tenant_id AND s.instance_id = i.id
                                 AND s.node_id = 'sys:control:paused'
                               ORDER BY s.seq DESC LIMIT 1), false))
                      END AS pause,
                      q.id AS request_id, q.transition AS requested, q.actor_id AS requester_id,
                      q.actor_roles AS requester_roles,
                      (SELECT s.persons FROM responsible_sets s
                       WHERE s.tenant_id = d.tenant_id AND s.hash = d.creator_responsible) AS creator_responsible,
                      (SELECT s.persons FROM responsible_sets s
                       WHERE s.tenant_id = d.tenant_id AND s.hash = d.editor_responsible) AS editor_responsible,
                      (SELECT s.persons FROM responsible_sets s
                       WHERE s.tenant_id = q.tenant_id AND s.hash = q.responsible) AS requester_responsible,
                      (SELECT json_build_object('status', m.status, 'roles', ARRAY(
                                  SELECT h.role FROM member_roles h
                                  WHERE h.tenant_id = m.tenant_id AND h.user_id = m.user_id))
                       FROM members m WHERE m.tenant_id = q.tenant_id AND m.user_id = q.actor_id) AS requester_member,
                      h.seq AS audit_seq, h.hash AS audit_hash,
                      v.id AS snapshot_id, v.hash AS snapshot_hash,
                      (SELECT jsonb_object_agg(p.id, p.value) FROM personal_values p
                       WHERE p.tenant_id = d.tenant_id AND p.document_id = d.id AND p.erased_at IS NULL) AS personal
               FROM documents d
               -- LIMIT keeps each a lookup for its document, whatever a join would seem to cost.
               LEFT JOIN LATERAL (
                   SELECT * FROM workflow_instances i
                   WHERE i.tenant_id = d.tenant_id AND i.entity_type = d.entity_type AND i.entity_id = d.id
                     AND i.kind = 'envelope' AND i.status IN ('running', 'paused')
                   LIMIT 1
               ) i ON true
               LEFT JOIN LATERAL (
                   SELECT * FROM transition_requests q
                   WHERE q.tenant_id = d.tenant_id AND q.document_id = d.id AND q.status = 'open'
                   LIMIT 1
               ) q ON true
               LEFT JOIN LATERAL (
                   SELECT v.id, v.hash FROM document_versions v
                   WHERE v.tenant_id = d.tenant_id AND v.document_id = d.id AND v.version = d.version
                   LIMIT 1
               ) v ON true
               LEFT JOIN LATERAL (
                   SELECT a.seq, a.hash FROM audit_log a
                   WHERE a.tenant_id = d.tenant_id AND a.subject_type = 'document' AND a.subject_id = d.id::text
                     AND a.seq IS NOT NULL
                   ORDER BY a.seq DESC LIMIT 1
               ) h ON true
               WHERE d.tenant_id = current_tenant_id() AND d.id = ANY (document_ids)
           ) AS found)
    FROM tenants t
    WHERE t.tenant_id = current_tenant_id() AND t.status = 'active';
END
$$;

-- down
CREATE OR REPLACE FUNCTION lock_and_read_documents(document_ids uuid[], role_names text[])
    RETURNS TABLE (now timestamp with time zone, tenant_name text, settings jsonb, epoch integer, xid text, permissions jsonb,
                   documents json)
    LANGUAGE plpgsql
    SET search_path = pg_catalog, public, pg_temp
    SET plan_cache_mode = 'force_generic_plan'
    SET enable_seqscan = 'off'
    SET enable_bitmapscan = 'off'
    SET enable_hashjoin = 'off'
    SET enable_mergejoin = 'off'
    AS $$
#variable_conflict use_column
BEGIN
    PERFORM FROM documents d
    WHERE d.tenant_id = current_tenant_id() AND d.id = ANY (document_ids)
    ORDER BY d.id
    FOR NO KEY UPDATE;
    RETURN QUERY
    SELECT clock_timestamp(), t.name, t.settings, (SELECT max(e.epoch) FROM audit_epochs e),
           pg_current_xact_id()::text,
           (SELECT jsonb_object_agg(r.role, r.permissions) FROM roles r
            WHERE r.tenant_id = t.tenant_id AND r.role = ANY (role_names)),
           (SELECT json_agg(found) FROM (
               SELECT d.id, d.entity_type, d.contract_version, d.status, d.version, d.data, d.amended_from_id,
                      d.creator_id, d.editor_ids, d.field_versions, d.created_at, d.updated_at, d.deleted_at,
                      i.id AS instance_id, i.version AS instance_version,
                      i.entity_version AS instance_entity_version, i.edit_window, i.edit_window_node,
                      i.definition_version,
                      q.id AS request_id, q.transition AS requested, q.actor_id AS requester_id,
                      q.actor_roles AS requester_roles,
                      (SELECT s.persons FROM responsible_sets s
                       WHERE s.tenant_id = d.tenant_id AND s.hash = d.creator_responsible) AS creator_responsible,
                      (SELECT s.persons FROM responsible_sets s
                       WHERE s.tenant_id = d.tenant_id AND s.hash = d.editor_responsible) AS editor_responsible,
                      (SELECT s.persons FROM responsible_sets s
                       WHERE s.tenant_id = q.tenant_id AND s.hash = q.responsible) AS requester_responsible,
                      (SELECT json_build_object('status', m.status, 'roles', ARRAY(
                                  SELECT h.role FROM member_roles h
                                  WHERE h.tenant_id = m.tenant_id AND h.user_id = m.user_id))
                       FROM members m WHERE m.tenant_id = q.tenant_id AND m.user_id = q.actor_id) AS requester_member,
                      h.seq AS audit_seq, h.hash AS audit_hash,
                      v.id AS snapshot_id, v.hash AS snapshot_hash,
                      (SELECT jsonb_object_agg(p.id, p.value) FROM personal_values p
                       WHERE p.tenant_id = d.tenant_id AND p.document_id = d.id AND p.erased_at IS NULL) AS personal
               FROM documents d
               -- LIMIT keeps each a lookup for its document, whatever a join would seem to cost.
               LEFT JOIN LATERAL (
                   SELECT * FROM workflow_instances i
                   WHERE i.tenant_id = d.tenant_id AND i.entity_type = d.entity_type AND i.entity_id = d.id
                     AND i.kind = 'envelope' AND i.status IN ('running', 'paused')
                   LIMIT 1
               ) i ON true
               LEFT JOIN LATERAL (
                   SELECT * FROM transition_requests q
                   WHERE q.tenant_id = d.tenant_id AND q.document_id = d.id AND q.status = 'open'
                   LIMIT 1
               ) q ON true
               LEFT JOIN LATERAL (
                   SELECT v.id, v.hash FROM document_versions v
                   WHERE v.tenant_id = d.tenant_id AND v.document_id = d.id AND v.version = d.version
                   LIMIT 1
               ) v ON true
               LEFT JOIN LATERAL (
                   SELECT a.seq, a.hash FROM audit_log a
                   WHERE a.tenant_id = d.tenant_id AND a.subject_type = 'document' AND a.subject_id = d.id::text
                     AND a.seq IS NOT NULL
                   ORDER BY a.seq DESC LIMIT 1
               ) h ON true
               WHERE d.tenant_id = current_tenant_id() AND d.id = ANY (document_ids)
           ) AS found)
    FROM tenants t
    WHERE t.tenant_id = current_tenant_id() AND t.status = 'active';
END
$$;
CREATE OR REPLACE FUNCTION restrict_contract_change() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, public, pg_temp
AS $$
BEGIN
    IF NOT EXISTS (
        SELECT FROM workflow_instances i
        JOIN workflow_step_executions s ON s.tenant_id = i.tenant_id AND s.instance_id = i.id
        WHERE i.tenant_id = NEW.tenant_id AND i.entity_type = NEW.entity_type AND i.entity_id = NEW.id
          AND i.kind = 'envelope' AND i.status IN ('running', 'paused') AND s.node_id = 'sys:control:moved'
          AND (s.output_json -> 'to' ->> 'contract_version')::integer = NEW.contract_version) THEN
        RAISE EXCEPTION 'document % was not moved to version % of its contract', NEW.id, NEW.contract_version
            USING ERRCODE = 'SG003';
    END IF;
    RETURN NEW;
END
$$;
DROP INDEX incidents_of_documents;
ALTER TABLE incidents
    DROP CONSTRAINT incidents_closing_check,
    ADD CONSTRAINT incidents_closing_check CHECK (closing IN (
        'retried', 'resumed', 'skipped', 'advanced', 'rejected', 'went_on', 'overtaken', 'withdrawn', 'ended'));
ALTER TABLE workflow_instances
    DROP CONSTRAINT workflow_instances_birth_check,
    ADD CONSTRAINT workflow_instances_birth_check CHECK (birth IN ('created', 'amended', 'reentered'));
