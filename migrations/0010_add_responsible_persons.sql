-- phase: expand
-- transaction: on
--
-- The persons responsible for what is written, beside the actor: of a key its owners, of a derived document all who
-- worked on its origin. A set has one row, found by the hash of its sorted ids. It is no foreign key: the rows that name
-- it are many, and a set is never removed while its tenant is there.

-- up
CREATE TABLE responsible_sets (
    tenant_id uuid NOT NULL REFERENCES tenants,
    hash      bytea NOT NULL,
    -- Sorted by their bytes.
    persons   text[] NOT NULL CHECK (cardinality(persons) <= 200),
    PRIMARY KEY (tenant_id, hash),
    -- No role can write a set under the hash of another.
    CHECK (hash = sha256(convert_to(array_to_string(persons, E'\n'), 'UTF8')))
);
CREATE TRIGGER reject_change BEFORE UPDATE OR DELETE ON responsible_sets
    FOR EACH ROW EXECUTE FUNCTION reject_any_change();
CREATE TRIGGER reject_truncate BEFORE TRUNCATE ON responsible_sets
    FOR EACH STATEMENT EXECUTE FUNCTION reject_any_change();
CALL isolate_tenant_table('responsible_sets');
GRANT SELECT, INSERT ON responsible_sets TO signet_api, signet_worker;
GRANT SELECT ON responsible_sets TO signet_janitor;
CALL distribute_tenant_tables('responsible_sets');

-- Rows that are older than this release name no set, but for those that are filled below.
ALTER TABLE documents
    ADD COLUMN creator_responsible bytea,
    ADD COLUMN editor_responsible bytea,
    -- By field, the version that changed it last.
    ADD COLUMN field_versions jsonb NOT NULL DEFAULT '{}';
ALTER TABLE document_versions ADD COLUMN responsible bytea;
ALTER TABLE transition_requests ADD COLUMN responsible bytea;
ALTER TABLE approval_requests ADD COLUMN responsible bytea;
ALTER TABLE workflow_instances
    ADD COLUMN begin_responsible bytea,
    ADD COLUMN responsible bytea,
    -- What a gate has used last of other documents: steps behind it read this, and not what they say now.
    ADD COLUMN pins jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(pins) = 'object');
ALTER TABLE workflow_step_executions ADD COLUMN responsible bytea;
ALTER TABLE workflow_events_outbox ADD COLUMN responsible bytea;
ALTER TABLE workflow_event ADD COLUMN responsible bytea;
ALTER TABLE rules ADD COLUMN responsible bytea;

-- A key stands for the person who made it. Several keys may have had one name: all of their makers count.
CREATE FUNCTION pg_temp.persons_of(of_tenant uuid, actors text[]) RETURNS text[]
    LANGUAGE sql STABLE AS $$
    SELECT coalesce(array_agg(DISTINCT person COLLATE "C" ORDER BY person COLLATE "C"), '{}')
    FROM (
        SELECT k.created_by AS person FROM unnest(actors) AS actor
        JOIN api_keys k ON k.tenant_id = of_tenant AND actor = 'key:' || k.name
        UNION
        SELECT actor FROM unnest(actors) AS actor
        WHERE actor NOT LIKE 'key:%' AND actor NOT LIKE 'signet:%' AND actor <> ''
    ) AS named
$$;
CREATE FUNCTION pg_temp.hash_of(persons text[]) RETURNS bytea
    LANGUAGE sql STABLE AS $$ SELECT sha256(convert_to(array_to_string(persons, E'\n'), 'UTF8')) $$;

-- Fill what is there. The owner of a table is bound by its row security too: it is lifted for these statements.
ALTER TABLE tenants NO FORCE ROW LEVEL SECURITY;
ALTER TABLE api_keys NO FORCE ROW LEVEL SECURITY;
ALTER TABLE audit_log NO FORCE ROW LEVEL SECURITY;
ALTER TABLE rules NO FORCE ROW LEVEL SECURITY;
ALTER TABLE documents NO FORCE ROW LEVEL SECURITY;
ALTER TABLE transition_requests NO FORCE ROW LEVEL SECURITY;
ALTER TABLE approval_requests NO FORCE ROW LEVEL SECURITY;
ALTER TABLE workflow_instances NO FORCE ROW LEVEL SECURITY;
ALTER TABLE responsible_sets NO FORCE ROW LEVEL SECURITY;
CREATE TEMP TABLE named_persons ON COMMIT DROP AS
SELECT tenant_id, 'creator' AS part, id::text AS row_id, pg_temp.persons_of(tenant_id, ARRAY[creator_id]) AS persons
FROM documents
UNION ALL
SELECT tenant_id, 'editor', id::text, pg_temp.persons_of(tenant_id, editor_ids) FROM documents
UNION ALL
SELECT tenant_id, 'requester', id::text, pg_temp.persons_of(tenant_id, ARRAY[actor_id]) FROM transition_requests
UNION ALL
SELECT tenant_id, 'approval', id::text, pg_temp.persons_of(tenant_id, ARRAY[requester_id]) FROM approval_requests
UNION ALL
SELECT tenant_id, 'begin', id::text, pg_temp.persons_of(tenant_id, ARRAY[begin_actor_id]) FROM workflow_instances
UNION ALL
SELECT tenant_id, 'actor', id::text, pg_temp.persons_of(tenant_id, ARRAY[actor_id]) FROM workflow_instances
UNION ALL
SELECT r.tenant_id, 'rule', r.entity_type || '/' || r.name, pg_temp.persons_of(r.tenant_id, ARRAY(
    SELECT DISTINCT a.actor_id FROM audit_log a
    WHERE a.tenant_id = r.tenant_id AND a.subject_type = 'rule' AND a.subject_id = r.entity_type || '/' || r.name))
FROM rules r;
-- A document with more editors than a set holds keeps those of its first two hundred: nobody is let in by it alone.
UPDATE named_persons SET persons = persons[1:200] WHERE cardinality(persons) > 200;
INSERT INTO responsible_sets (tenant_id, hash, persons)
SELECT DISTINCT tenant_id, pg_temp.hash_of(persons), persons FROM named_persons;
UPDATE documents d
SET creator_responsible = (SELECT pg_temp.hash_of(n.persons) FROM named_persons n
                           WHERE n.tenant_id = d.tenant_id AND n.row_id = d.id::text AND n.part = 'creator'),
    editor_responsible = (SELECT pg_temp.hash_of(n.persons) FROM named_persons n
                          WHERE n.tenant_id = d.tenant_id AND n.row_id = d.id::text AND n.part = 'editor');
UPDATE transition_requests q SET responsible = pg_temp.hash_of(n.persons)
FROM named_persons n WHERE n.tenant_id = q.tenant_id AND n.row_id = q.id::text AND n.part = 'requester';
UPDATE approval_requests q SET responsible = pg_temp.hash_of(n.persons)
FROM named_persons n WHERE n.tenant_id = q.tenant_id AND n.row_id = q.id::text AND n.part = 'approval';
UPDATE workflow_instances i SET begin_responsible = pg_temp.hash_of(n.persons)
FROM named_persons n WHERE n.tenant_id = i.tenant_id AND n.row_id = i.id::text AND n.part = 'begin';
UPDATE workflow_instances i SET responsible = pg_temp.hash_of(n.persons)
FROM named_persons n WHERE n.tenant_id = i.tenant_id AND n.row_id = i.id::text AND n.part = 'actor';
UPDATE rules r SET responsible = pg_temp.hash_of(n.persons)
FROM named_persons n
WHERE n.tenant_id = r.tenant_id AND n.row_id = r.entity_type || '/' || r.name AND n.part = 'rule';
DROP TABLE named_persons;
DROP FUNCTION pg_temp.persons_of(uuid, text[]), pg_temp.hash_of(text[]);
ALTER TABLE tenants FORCE ROW LEVEL SECURITY;
ALTER TABLE api_keys FORCE ROW LEVEL SECURITY;
ALTER TABLE audit_log FORCE ROW LEVEL SECURITY;
ALTER TABLE rules FORCE ROW LEVEL SECURITY;
ALTER TABLE documents FORCE ROW LEVEL SECURITY;
ALTER TABLE transition_requests FORCE ROW LEVEL SECURITY;
ALTER TABLE approval_requests FORCE ROW LEVEL SECURITY;
ALTER TABLE workflow_instances FORCE ROW LEVEL SECURITY;
ALTER TABLE responsible_sets FORCE ROW LEVEL SECURITY;

-- The people of a row are part of what it is. A trigger with a list of columns costs nothing to a statement that names
-- none of them.
CREATE TRIGGER reject_identity_change
    BEFORE UPDATE OF tenant_id, id, entity_type, creator_id, creator_responsible, created_at, amended_from_id
    ON documents FOR EACH ROW
    WHEN ((NEW.tenant_id, NEW.id, NEW.entity_type, NEW.creator_id, NEW.creator_responsible, NEW.created_at,
           NEW.amended_from_id)
          IS DISTINCT FROM
          (OLD.tenant_id, OLD.id, OLD.entity_type, OLD.creator_id, OLD.creator_responsible, OLD.created_at,
           OLD.amended_from_id))
    EXECUTE FUNCTION reject_identity_change();
CREATE TRIGGER reject_responsible_change BEFORE UPDATE OF responsible ON workflow_events_outbox FOR EACH ROW
    WHEN (NEW.responsible IS DISTINCT FROM OLD.responsible) EXECUTE FUNCTION reject_identity_change();
CREATE TRIGGER reject_responsible_change BEFORE UPDATE OF responsible ON workflow_step_executions FOR EACH ROW
    WHEN (NEW.responsible IS DISTINCT FROM OLD.responsible) EXECUTE FUNCTION reject_identity_change();
CREATE TRIGGER reject_identity_change
    BEFORE UPDATE OF tenant_id, id, document_id, document_version, transition, actor_id, actor_roles, responsible,
        created_at
    ON transition_requests FOR EACH ROW
    WHEN ((NEW.tenant_id, NEW.id, NEW.document_id, NEW.document_version, NEW.transition, NEW.actor_id,
           NEW.actor_roles, NEW.responsible, NEW.created_at)
          IS DISTINCT FROM
          (OLD.tenant_id, OLD.id, OLD.document_id, OLD.document_version, OLD.transition, OLD.actor_id,
           OLD.actor_roles, OLD.responsible, OLD.created_at))
    EXECUTE FUNCTION reject_identity_change();
CREATE TRIGGER reject_begin_change BEFORE UPDATE OF begin_responsible ON workflow_instances FOR EACH ROW
    WHEN (NEW.begin_responsible IS DISTINCT FROM OLD.begin_responsible)
    EXECUTE FUNCTION reject_identity_change();

-- The functions of mutations and waves write and read the sets' hashes.

CREATE OR REPLACE FUNCTION lock_and_read_documents(document_ids uuid[], role_names text[])
    RETURNS TABLE (now timestamptz, tenant_name text, settings jsonb, epoch integer, xid text, permissions jsonb,
                   documents json)
    LANGUAGE plpgsql VOLATILE
    SET search_path = pg_catalog, public, pg_temp
    -- A session keeps the plan of its first calls, which may have been made when the tables were empty. It must be the
    -- plan that is right when they are large. Every access here is by key.
    SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
    SET enable_hashjoin = off SET enable_mergejoin = off
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

CREATE OR REPLACE FUNCTION write_steps(step_rows json, written_at timestamptz) RETURNS bigint
    LANGUAGE plpgsql VOLATILE
    SET search_path = pg_catalog, public, pg_temp
    SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
    written bigint;
BEGIN
    WITH step AS MATERIALIZED (
        SELECT * FROM json_to_recordset(step_rows) AS row (
            id uuid, created_at timestamptz, instance_id uuid, seq bigint, end_seq bigint, node_id text,
            node_type text, token_id text, entity_version bigint, version_after bigint, status text, run_as text,
            idempotency_key bytea, input jsonb, output jsonb, error text, actor_id text, resume_at timestamptz,
            waiting_for_event_key text, snapshot_version_id uuid, trace_id text, responsible bytea)
    ), receipt AS (
        INSERT INTO workflow_step_receipts (tenant_id, instance_id, idempotency_key, step_execution_id, created_at)
        SELECT current_tenant_id(), instance_id, idempotency_key, id, written_at FROM step
        ON CONFLICT DO NOTHING
        RETURNING step_execution_id
    ), inserted AS (
        INSERT INTO workflow_step_executions (
            tenant_id, created_at, id, instance_id, seq, end_seq, node_id, node_type, token_id, entity_version,
            version_after, status, run_as, idempotency_key, started_at, completed_at, duration_ms, input_json,
            output_json, error, actor_user_id, resume_at, waiting_for_event_key, snapshot_version_id, trace_id,
            responsible)
        SELECT current_tenant_id(), step.created_at, step.id, step.instance_id, step.seq, step.end_seq, step.node_id,
               step.node_type, step.token_id, step.entity_version, step.version_after, step.status, step.run_as,
               step.idempotency_key, written_at, CASE WHEN step.end_seq IS NOT NULL THEN written_at END,
               CASE WHEN step.end_seq IS NOT NULL THEN 0 END, step.input, step.output, step.error, step.actor_id,
               step.resume_at, step.waiting_for_event_key, step.snapshot_version_id, step.trace_id, step.responsible
        FROM step JOIN receipt ON receipt.step_execution_id = step.id
    )
    SELECT count(*) INTO written FROM receipt;
    RETURN written;
END
$$;

CREATE OR REPLACE FUNCTION write_edits(document_rows json, version_rows json, audit_rows json, event_rows json,
                            written_at timestamptz) RETURNS void
    LANGUAGE plpgsql VOLATILE
    SET search_path = pg_catalog, public, pg_temp
    -- A session keeps the plan of its first calls, which may have been made when the tables were empty. It must be the
    -- plan that is right when they are large. The UPDATE names its keys beside the join, so that every plan finds its
    -- rows by them.
    SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
AS $$
#variable_conflict use_column
DECLARE
    ids     uuid[] := ARRAY(SELECT id FROM json_to_recordset(document_rows) AS row (id uuid));
    written bigint;
BEGIN
    UPDATE documents d
    SET status = row.status, version = row.version, data = row.data, editor_ids = row.editor_ids,
        editor_responsible = coalesce(row.editor_responsible, d.editor_responsible),
        field_versions = coalesce(row.field_versions, d.field_versions),
        deleted_at = CASE WHEN row.is_deleted THEN written_at END, updated_at = written_at,
        t1 = row.t1, t2 = row.t2, t3 = row.t3, t4 = row.t4, n1 = row.n1, n2 = row.n2, n3 = row.n3,
        n4 = row.n4, d1 = row.d1, d2 = row.d2
    FROM json_to_recordset(document_rows) AS row (
        id uuid, status text, seen_version bigint, version bigint, data jsonb, editor_ids text[], is_deleted boolean,
        editor_responsible bytea, field_versions jsonb,
        t1 text, t2 text, t3 text, t4 text, n1 bigint, n2 bigint, n3 bigint, n4 bigint,
        d1 timestamptz, d2 timestamptz)
    WHERE d.tenant_id = current_tenant_id() AND d.id = ANY (ids) AND d.id = row.id AND d.version = row.seen_version;
    GET DIAGNOSTICS written = ROW_COUNT;
    IF written <> cardinality(ids) THEN
        RAISE EXCEPTION 'of % documents % were at the version that was seen', cardinality(ids), written
            USING ERRCODE = 'SG004';
    END IF;

    WITH version AS (
        INSERT INTO document_versions (tenant_id, document_id, version, id, snapshot, hash, actor_id, responsible,
                                       created_at)
        SELECT current_tenant_id(), document_id, version, id, snapshot, hash, actor_id, responsible, written_at
        FROM json_to_recordset(version_rows) AS row (
            document_id uuid, version bigint, id uuid, snapshot text, hash text, actor_id text, responsible bytea)
    ), audit AS (
        INSERT INTO audit_log (tenant_id, id, subject_type, subject_id, seq, previous_hash, hash, content, action,
                               actor_id, created_at, epoch, xid)
        SELECT current_tenant_id(), id, subject_type, subject_id, seq, previous_hash, hash, content, action, actor_id,
               created_at, epoch, xid
        FROM json_to_recordset(audit_rows) AS row (
            id uuid, subject_type text, subject_id text, seq bigint, previous_hash text, hash text, content text,
            action text, actor_id text, created_at timestamptz, epoch integer, xid xid8)
    ), event AS (
        -- The same event twice in one batch is one event.
        SELECT DISTINCT ON (instance_id, idempotency_key) * FROM json_to_recordset(event_rows) AS row (
            id uuid, created_at timestamptz, instance_id uuid, entity_version bigint, definition_version integer,
            event_type text, payload jsonb, idempotency_key bytea, trace_id text, due_at timestamptz, responsible bytea)
        ORDER BY instance_id, idempotency_key, id
    ), receipt AS (
        INSERT INTO workflow_outbox_receipts (tenant_id, instance_id, source_table, event_idempotency_key, created_at)
        SELECT current_tenant_id(), instance_id, 'events', idempotency_key, written_at FROM event
        ON CONFLICT DO NOTHING
        RETURNING instance_id, event_idempotency_key
    )
    INSERT INTO workflow_events_outbox (
        tenant_id, created_at, id, instance_id, entity_version, definition_version, event_type, payload_json,
        event_idempotency_key, trace_id, due_at, responsible)
    SELECT current_tenant_id(), event.created_at, event.id, event.instance_id, event.entity_version,
           event.definition_version, event.event_type, event.payload, event.idempotency_key, event.trace_id,
           coalesce(event.due_at, written_at), event.responsible
    FROM event
    JOIN receipt ON receipt.instance_id = event.instance_id AND receipt.event_idempotency_key = event.idempotency_key;
END
$$;

CREATE OR REPLACE FUNCTION open_wave(trigger_times timestamptz[], trigger_ids uuid[], own_claim uuid)
    RETURNS TABLE (now timestamptz, tenant_name text, settings jsonb, epoch integer, xid text, permissions jsonb,
                   documents json, triggers uuid[], known uuid[], instances json, steps json, effects json)
    LANGUAGE plpgsql VOLATILE
    SET search_path = pg_catalog, public, pg_temp
    SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
    SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
#variable_conflict use_column
DECLARE
    own_triggers uuid[];
    wanted       uuid[];
    taken        uuid[];
    entities     uuid[];
    locked       uuid[];
    role_names   text[];
BEGIN
    -- Found by their times, of which there are few; a join would be planned by how large the queue was when the
    -- session began.
    WITH own AS MATERIALIZED (
        SELECT q.id, q.instance_id FROM workflow_events_outbox q
        WHERE q.tenant_id = current_tenant_id() AND q.created_at = ANY (trigger_times)
          AND q.claim_id = own_claim AND array_position(trigger_ids, q.id) IS NOT NULL
        FOR UPDATE
    )
    SELECT array_agg(own.id), array_agg(DISTINCT own.instance_id) INTO own_triggers, wanted FROM own;

    SELECT array_agg(id) INTO taken
    FROM unnest(wanted) AS id
    WHERE pg_try_advisory_xact_lock(hashtextextended(id::text, 0));

    SELECT array_agg(i.entity_id) INTO entities FROM workflow_instances i
    WHERE i.tenant_id = current_tenant_id() AND i.id = ANY (taken);

    WITH held AS MATERIALIZED (
        SELECT d.id FROM documents d
        WHERE d.tenant_id = current_tenant_id() AND d.id = ANY (entities)
        ORDER BY d.id
        FOR NO KEY UPDATE SKIP LOCKED
    )
    SELECT array_agg(held.id) INTO entities FROM held;

    WITH held AS MATERIALIZED (
        SELECT i.id FROM workflow_instances i
        WHERE i.tenant_id = current_tenant_id() AND i.id = ANY (taken)
          AND (i.entity_id IS NULL OR i.entity_id = ANY (entities))
        ORDER BY i.id
        FOR NO KEY UPDATE SKIP LOCKED
    )
    SELECT array_agg(held.id) INTO locked FROM held;

    SELECT array_agg(DISTINCT role) INTO role_names FROM (
        SELECT 'service_account' AS role
        UNION ALL
        SELECT unnest(i.actor_roles) FROM workflow_instances i
        WHERE i.tenant_id = current_tenant_id() AND i.id = ANY (locked)
        UNION ALL
        SELECT unnest(q.actor_roles) FROM transition_requests q
        WHERE q.tenant_id = current_tenant_id() AND q.document_id = ANY (entities) AND q.status = 'open'
    ) AS named;

    RETURN QUERY
    SELECT base.*, own_triggers,
           ARRAY(SELECT i.id FROM workflow_instances i
                 WHERE i.tenant_id = current_tenant_id() AND i.id = ANY (wanted)),
           (SELECT json_agg(found) FROM (
               SELECT i.id, i.kind, i.definition_id, i.definition_version, i.entity_type, i.entity_id,
                      i.entity_version, i.status, i.reason, i.version, i.birth, i.actor_id, i.actor_roles, i.request_id,
                      i.active_tokens, i.context_json, i.depth, i.trace_id, i.pins,
                      (SELECT json_build_object('status', m.status, 'roles', ARRAY(
                                  SELECT h.role FROM member_roles h
                                  WHERE h.tenant_id = m.tenant_id AND h.user_id = m.user_id))
                       FROM members m WHERE m.tenant_id = i.tenant_id AND m.user_id = i.actor_id) AS actor_member,
                      (SELECT s.persons FROM responsible_sets s
                       WHERE s.tenant_id = i.tenant_id AND s.hash = i.responsible) AS responsible
               FROM workflow_instances i
               WHERE i.tenant_id = current_tenant_id() AND i.id = ANY (locked)
               ORDER BY i.id
           ) AS found),
           (SELECT json_agg(found) FROM (
               SELECT s.id, s.instance_id, s.seq, s.node_id, s.token_id, s.entity_version, s.version_after,
                      s.started_at, s.resume_at, s.waiting_for_event_key
               FROM workflow_step_executions s
               WHERE s.tenant_id = current_tenant_id() AND s.instance_id = ANY (locked)
                 AND s.status IN ('pending', 'running')
               ORDER BY s.instance_id, s.seq
           ) AS found),
           (SELECT json_agg(found) FROM (
               SELECT e.step_execution_id, e.status, e.response_json, e.error
               FROM workflow_step_executions s
               JOIN workflow_side_effects_outbox e
                 ON e.tenant_id = s.tenant_id AND e.step_execution_id = s.id
               WHERE s.tenant_id = current_tenant_id() AND s.instance_id = ANY (locked)
                 AND s.status IN ('pending', 'running') AND s.node_type IN ('webhook_out', 'notification')
                 AND e.status IN ('completed', 'dead_letter')
           ) AS found)
    FROM lock_and_read_documents(coalesce(entities, '{}'), role_names) AS base;
END
$$;

CREATE OR REPLACE FUNCTION end_wave(step_rows json, instance_rows json, effect_rows json, history_rows json,
                         trigger_times timestamptz[], trigger_ids uuid[], written_at timestamptz) RETURNS void
    LANGUAGE plpgsql VOLATILE
    SET search_path = pg_catalog, public, pg_temp
    -- Each UPDATE names the keys (or the times, of which there are few) beside the join. So every possible plan finds
    -- its rows by them, however large the tenant has become since the plan was made.
    SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
AS $$
#variable_conflict use_column
DECLARE
    step_times timestamptz[] := ARRAY(
        SELECT DISTINCT created_at FROM json_to_recordset(step_rows) AS row (created_at timestamptz));
    ids uuid[] := ARRAY(SELECT id FROM json_to_recordset(instance_rows) AS row (id uuid));
BEGIN
    UPDATE workflow_step_executions s
    SET status = row.status, end_seq = row.end_seq, version_after = row.version_after, output_json = row.output,
        error = row.error, resume_at = row.resume_at, waiting_for_event_key = row.waiting_for_event_key,
        approval_request_id = coalesce(row.approval_request_id, s.approval_request_id),
        completed_at = CASE WHEN row.end_seq IS NOT NULL THEN written_at END,
        duration_ms = CASE WHEN row.end_seq IS NOT NULL
                           THEN extract(epoch FROM (written_at - s.started_at)) * 1000 END
    FROM json_to_recordset(step_rows) AS row (
        id uuid, status text, end_seq bigint, version_after bigint, output jsonb, error text, resume_at timestamptz,
        waiting_for_event_key text, approval_request_id uuid)
    WHERE s.tenant_id = current_tenant_id() AND s.created_at = ANY (step_times) AND s.id = row.id;

    UPDATE workflow_instances i
    SET status = row.status, reason = row.reason, version = row.version, entity_version = row.entity_version,
        active_tokens = row.active_tokens, current_nodes = row.current_nodes, edit_window = row.edit_window,
        edit_window_node = row.edit_window_node, context_json = row.context, timeout_at = row.timeout_at,
        last_step_execution_id = row.last_step_id, actor_id = row.actor_id, actor_roles = row.actor_roles,
        responsible = row.responsible, pins = coalesce(row.pins, i.pins), request_id = row.request_id,
        completed_at = CASE WHEN row.status IN ('completed', 'failed', 'cancelled') THEN written_at END,
        updated_at = written_at
    FROM json_to_recordset(instance_rows) AS row (
        id uuid, status text, reason text, version bigint, entity_version bigint, active_tokens jsonb,
        current_nodes text[], edit_window text, edit_window_node text, context jsonb, timeout_at timestamptz,
        last_step_id uuid, actor_id text, actor_roles text[], responsible bytea, pins jsonb,
        request_id uuid)
    WHERE i.tenant_id = current_tenant_id() AND i.id = ANY (ids) AND i.id = row.id;

    IF effect_rows IS NOT NULL THEN
        WITH effect AS MATERIALIZED (
            SELECT * FROM json_to_recordset(effect_rows) AS row (
                id uuid, created_at timestamptz, instance_id uuid, step_id uuid, effect_type text, endpoint text,
                payload jsonb, idempotency_key bytea, trace_id text)
        ), receipt AS (
            INSERT INTO workflow_outbox_receipts (tenant_id, instance_id, source_table, event_idempotency_key,
                                                  created_at)
            SELECT current_tenant_id(), instance_id, 'side_effects', idempotency_key, written_at FROM effect
            ON CONFLICT DO NOTHING
            RETURNING instance_id, event_idempotency_key
        )
        INSERT INTO workflow_side_effects_outbox (
            tenant_id, created_at, id, instance_id, step_execution_id, effect_type, endpoint, payload_json,
            event_idempotency_key, trace_id, due_at)
        SELECT current_tenant_id(), effect.created_at, effect.id, effect.instance_id, effect.step_id,
               effect.effect_type, effect.endpoint, effect.payload, effect.idempotency_key, effect.trace_id, written_at
        FROM effect JOIN receipt ON receipt.instance_id = effect.instance_id
                                AND receipt.event_idempotency_key = effect.idempotency_key;
    END IF;

    INSERT INTO workflow_event (tenant_id, created_at, id, subject_kind, subject_id, entry, actor_id,
                                step_execution_id, data, trace_id, responsible)
    SELECT current_tenant_id(), created_at, id, 'instance', instance_id, entry, actor_id, step_id, data, trace_id,
           responsible
    FROM json_to_recordset(history_rows) AS row (
        id uuid, created_at timestamptz, instance_id uuid, entry text, actor_id text, step_id uuid, data jsonb,
        trace_id text, responsible bytea);

    UPDATE workflow_events_outbox q
    SET status = 'completed', completed_at = written_at, claim_id = NULL, lease_until = NULL, error = NULL
    WHERE q.tenant_id = current_tenant_id() AND q.created_at = ANY (trigger_times)
      AND array_position(trigger_ids, q.id) IS NOT NULL;
END
$$;

-- down
DROP TRIGGER reject_begin_change ON workflow_instances;
DROP TRIGGER reject_identity_change ON transition_requests;
DROP TRIGGER reject_responsible_change ON workflow_step_executions;
DROP TRIGGER reject_responsible_change ON workflow_events_outbox;
DROP TRIGGER reject_identity_change ON documents;
CREATE OR REPLACE FUNCTION lock_and_read_documents(document_ids uuid[], role_names text[])
    RETURNS TABLE (now timestamptz, tenant_name text, settings jsonb, epoch integer, xid text, permissions jsonb,
                   documents json)
    LANGUAGE plpgsql VOLATILE
    -- A session keeps the plan of its first calls, which may have been made when the tables were empty. It must be the
    -- plan that is right when they are large. Every access here is by key.
    SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
    SET enable_hashjoin = off SET enable_mergejoin = off
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
                      d.creator_id, d.editor_ids, d.created_at, d.updated_at, d.deleted_at,
                      i.id AS instance_id, i.version AS instance_version,
                      i.entity_version AS instance_entity_version, i.edit_window, i.edit_window_node,
                      i.definition_version,
                      q.id AS request_id, q.transition AS requested, q.actor_id AS requester_id,
                      q.actor_roles AS requester_roles,
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

CREATE OR REPLACE FUNCTION write_steps(step_rows json, written_at timestamptz) RETURNS bigint
    LANGUAGE plpgsql VOLATILE
    SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
    written bigint;
BEGIN
    WITH step AS MATERIALIZED (
        SELECT * FROM json_to_recordset(step_rows) AS row (
            id uuid, created_at timestamptz, instance_id uuid, seq bigint, end_seq bigint, node_id text,
            node_type text, token_id text, entity_version bigint, version_after bigint, status text, run_as text,
            idempotency_key bytea, input jsonb, output jsonb, error text, actor_id text, resume_at timestamptz,
            waiting_for_event_key text, snapshot_version_id uuid, trace_id text)
    ), receipt AS (
        INSERT INTO workflow_step_receipts (tenant_id, instance_id, idempotency_key, step_execution_id, created_at)
        SELECT current_tenant_id(), instance_id, idempotency_key, id, written_at FROM step
        ON CONFLICT DO NOTHING
        RETURNING step_execution_id
    ), inserted AS (
        INSERT INTO workflow_step_executions (
            tenant_id, created_at, id, instance_id, seq, end_seq, node_id, node_type, token_id, entity_version,
            version_after, status, run_as, idempotency_key, started_at, completed_at, duration_ms, input_json,
            output_json, error, actor_user_id, resume_at, waiting_for_event_key, snapshot_version_id, trace_id)
        SELECT current_tenant_id(), step.created_at, step.id, step.instance_id, step.seq, step.end_seq, step.node_id,
               step.node_type, step.token_id, step.entity_version, step.version_after, step.status, step.run_as,
               step.idempotency_key, written_at, CASE WHEN step.end_seq IS NOT NULL THEN written_at END,
               CASE WHEN step.end_seq IS NOT NULL THEN 0 END, step.input, step.output, step.error, step.actor_id,
               step.resume_at, step.waiting_for_event_key, step.snapshot_version_id, step.trace_id
        FROM step JOIN receipt ON receipt.step_execution_id = step.id
    )
    SELECT count(*) INTO written FROM receipt;
    RETURN written;
END
$$;

CREATE OR REPLACE FUNCTION write_edits(document_rows json, version_rows json, audit_rows json, event_rows json,
                            written_at timestamptz) RETURNS void
    LANGUAGE plpgsql VOLATILE
    -- A session keeps the plan of its first calls, which may have been made when the tables were empty. It must be the
    -- plan that is right when they are large. The UPDATE names its keys beside the join, so that every plan finds its
    -- rows by them.
    SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
AS $$
#variable_conflict use_column
DECLARE
    ids     uuid[] := ARRAY(SELECT id FROM json_to_recordset(document_rows) AS row (id uuid));
    written bigint;
BEGIN
    UPDATE documents d
    SET status = row.status, version = row.version, data = row.data, editor_ids = row.editor_ids,
        deleted_at = CASE WHEN row.is_deleted THEN written_at END, updated_at = written_at,
        t1 = row.t1, t2 = row.t2, t3 = row.t3, t4 = row.t4, n1 = row.n1, n2 = row.n2, n3 = row.n3,
        n4 = row.n4, d1 = row.d1, d2 = row.d2
    FROM json_to_recordset(document_rows) AS row (
        id uuid, status text, seen_version bigint, version bigint, data jsonb, editor_ids text[], is_deleted boolean,
        t1 text, t2 text, t3 text, t4 text, n1 bigint, n2 bigint, n3 bigint, n4 bigint,
        d1 timestamptz, d2 timestamptz)
    WHERE d.tenant_id = current_tenant_id() AND d.id = ANY (ids) AND d.id = row.id AND d.version = row.seen_version;
    GET DIAGNOSTICS written = ROW_COUNT;
    IF written <> cardinality(ids) THEN
        RAISE EXCEPTION 'of % documents % were at the version that was seen', cardinality(ids), written
            USING ERRCODE = 'SG004';
    END IF;

    WITH version AS (
        INSERT INTO document_versions (tenant_id, document_id, version, id, snapshot, hash, actor_id, created_at)
        SELECT current_tenant_id(), document_id, version, id, snapshot, hash, actor_id, written_at
        FROM json_to_recordset(version_rows) AS row (
            document_id uuid, version bigint, id uuid, snapshot text, hash text, actor_id text)
    ), audit AS (
        INSERT INTO audit_log (tenant_id, id, subject_type, subject_id, seq, previous_hash, hash, content, action,
                               actor_id, created_at, epoch, xid)
        SELECT current_tenant_id(), id, subject_type, subject_id, seq, previous_hash, hash, content, action, actor_id,
               created_at, epoch, xid
        FROM json_to_recordset(audit_rows) AS row (
            id uuid, subject_type text, subject_id text, seq bigint, previous_hash text, hash text, content text,
            action text, actor_id text, created_at timestamptz, epoch integer, xid xid8)
    ), event AS (
        -- The same event twice in one batch is one event.
        SELECT DISTINCT ON (instance_id, idempotency_key) * FROM json_to_recordset(event_rows) AS row (
            id uuid, created_at timestamptz, instance_id uuid, entity_version bigint, definition_version integer,
            event_type text, payload jsonb, idempotency_key bytea, trace_id text, due_at timestamptz)
        ORDER BY instance_id, idempotency_key, id
    ), receipt AS (
        INSERT INTO workflow_outbox_receipts (tenant_id, instance_id, source_table, event_idempotency_key, created_at)
        SELECT current_tenant_id(), instance_id, 'events', idempotency_key, written_at FROM event
        ON CONFLICT DO NOTHING
        RETURNING instance_id, event_idempotency_key
    )
    INSERT INTO workflow_events_outbox (
        tenant_id, created_at, id, instance_id, entity_version, definition_version, event_type, payload_json,
        event_idempotency_key, trace_id, due_at)
    SELECT current_tenant_id(), event.created_at, event.id, event.instance_id, event.entity_version,
           event.definition_version, event.event_type, event.payload, event.idempotency_key, event.trace_id,
           coalesce(event.due_at, written_at)
    FROM event
    JOIN receipt ON receipt.instance_id = event.instance_id AND receipt.event_idempotency_key = event.idempotency_key;
END
$$;

CREATE OR REPLACE FUNCTION open_wave(trigger_times timestamptz[], trigger_ids uuid[], own_claim uuid)
    RETURNS TABLE (now timestamptz, tenant_name text, settings jsonb, epoch integer, xid text, permissions jsonb,
                   documents json, triggers uuid[], known uuid[], instances json, steps json, effects json)
    LANGUAGE plpgsql VOLATILE
    SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
    SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
#variable_conflict use_column
DECLARE
    own_triggers uuid[];
    wanted       uuid[];
    taken        uuid[];
    entities     uuid[];
    locked       uuid[];
    role_names   text[];
BEGIN
    -- Found by their times, of which there are few; a join would be planned by how large the queue was when the
    -- session began.
    WITH own AS MATERIALIZED (
        SELECT q.id, q.instance_id FROM workflow_events_outbox q
        WHERE q.tenant_id = current_tenant_id() AND q.created_at = ANY (trigger_times)
          AND q.claim_id = own_claim AND array_position(trigger_ids, q.id) IS NOT NULL
        FOR UPDATE
    )
    SELECT array_agg(own.id), array_agg(DISTINCT own.instance_id) INTO own_triggers, wanted FROM own;

    SELECT array_agg(id) INTO taken
    FROM unnest(wanted) AS id
    WHERE pg_try_advisory_xact_lock(hashtextextended(id::text, 0));

    SELECT array_agg(i.entity_id) INTO entities FROM workflow_instances i
    WHERE i.tenant_id = current_tenant_id() AND i.id = ANY (taken);

    WITH held AS MATERIALIZED (
        SELECT d.id FROM documents d
        WHERE d.tenant_id = current_tenant_id() AND d.id = ANY (entities)
        ORDER BY d.id
        FOR NO KEY UPDATE SKIP LOCKED
    )
    SELECT array_agg(held.id) INTO entities FROM held;

    WITH held AS MATERIALIZED (
        SELECT i.id FROM workflow_instances i
        WHERE i.tenant_id = current_tenant_id() AND i.id = ANY (taken)
          AND (i.entity_id IS NULL OR i.entity_id = ANY (entities))
        ORDER BY i.id
        FOR NO KEY UPDATE SKIP LOCKED
    )
    SELECT array_agg(held.id) INTO locked FROM held;

    SELECT array_agg(DISTINCT role) INTO role_names FROM (
        SELECT 'service_account' AS role
        UNION ALL
        SELECT unnest(i.actor_roles) FROM workflow_instances i
        WHERE i.tenant_id = current_tenant_id() AND i.id = ANY (locked)
        UNION ALL
        SELECT unnest(q.actor_roles) FROM transition_requests q
        WHERE q.tenant_id = current_tenant_id() AND q.document_id = ANY (entities) AND q.status = 'open'
    ) AS named;

    RETURN QUERY
    SELECT base.*, own_triggers,
           ARRAY(SELECT i.id FROM workflow_instances i
                 WHERE i.tenant_id = current_tenant_id() AND i.id = ANY (wanted)),
           (SELECT json_agg(found) FROM (
               SELECT i.id, i.kind, i.definition_id, i.definition_version, i.entity_type, i.entity_id,
                      i.entity_version, i.status, i.reason, i.version, i.birth, i.actor_id, i.actor_roles, i.request_id,
                      i.active_tokens, i.context_json, i.depth, i.trace_id
               FROM workflow_instances i
               WHERE i.tenant_id = current_tenant_id() AND i.id = ANY (locked)
               ORDER BY i.id
           ) AS found),
           (SELECT json_agg(found) FROM (
               SELECT s.id, s.instance_id, s.seq, s.node_id, s.token_id, s.entity_version, s.version_after,
                      s.started_at, s.resume_at, s.waiting_for_event_key
               FROM workflow_step_executions s
               WHERE s.tenant_id = current_tenant_id() AND s.instance_id = ANY (locked)
                 AND s.status IN ('pending', 'running')
               ORDER BY s.instance_id, s.seq
           ) AS found),
           (SELECT json_agg(found) FROM (
               SELECT e.step_execution_id, e.status, e.response_json, e.error
               FROM workflow_step_executions s
               JOIN workflow_side_effects_outbox e
                 ON e.tenant_id = s.tenant_id AND e.step_execution_id = s.id
               WHERE s.tenant_id = current_tenant_id() AND s.instance_id = ANY (locked)
                 AND s.status IN ('pending', 'running') AND s.node_type IN ('webhook_out', 'notification')
                 AND e.status IN ('completed', 'dead_letter')
           ) AS found)
    FROM lock_and_read_documents(coalesce(entities, '{}'), role_names) AS base;
END
$$;

CREATE OR REPLACE FUNCTION end_wave(step_rows json, instance_rows json, effect_rows json, history_rows json,
                         trigger_times timestamptz[], trigger_ids uuid[], written_at timestamptz) RETURNS void
    LANGUAGE plpgsql VOLATILE
    -- Each UPDATE names the keys (or the times, of which there are few) beside the join. So every possible plan finds
    -- its rows by them, however large the tenant has become since the plan was made.
    SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
AS $$
#variable_conflict use_column
DECLARE
    step_times timestamptz[] := ARRAY(
        SELECT DISTINCT created_at FROM json_to_recordset(step_rows) AS row (created_at timestamptz));
    ids uuid[] := ARRAY(SELECT id FROM json_to_recordset(instance_rows) AS row (id uuid));
BEGIN
    UPDATE workflow_step_executions s
    SET status = row.status, end_seq = row.end_seq, version_after = row.version_after, output_json = row.output,
        error = row.error, resume_at = row.resume_at, waiting_for_event_key = row.waiting_for_event_key,
        approval_request_id = coalesce(row.approval_request_id, s.approval_request_id),
        completed_at = CASE WHEN row.end_seq IS NOT NULL THEN written_at END,
        duration_ms = CASE WHEN row.end_seq IS NOT NULL
                           THEN extract(epoch FROM (written_at - s.started_at)) * 1000 END
    FROM json_to_recordset(step_rows) AS row (
        id uuid, status text, end_seq bigint, version_after bigint, output jsonb, error text, resume_at timestamptz,
        waiting_for_event_key text, approval_request_id uuid)
    WHERE s.tenant_id = current_tenant_id() AND s.created_at = ANY (step_times) AND s.id = row.id;

    UPDATE workflow_instances i
    SET status = row.status, reason = row.reason, version = row.version, entity_version = row.entity_version,
        active_tokens = row.active_tokens, current_nodes = row.current_nodes, edit_window = row.edit_window,
        edit_window_node = row.edit_window_node, context_json = row.context, timeout_at = row.timeout_at,
        last_step_execution_id = row.last_step_id, actor_id = row.actor_id, actor_roles = row.actor_roles,
        request_id = row.request_id,
        completed_at = CASE WHEN row.status IN ('completed', 'failed', 'cancelled') THEN written_at END,
        updated_at = written_at
    FROM json_to_recordset(instance_rows) AS row (
        id uuid, status text, reason text, version bigint, entity_version bigint, active_tokens jsonb,
        current_nodes text[], edit_window text, edit_window_node text, context jsonb, timeout_at timestamptz,
        last_step_id uuid, actor_id text, actor_roles text[], request_id uuid)
    WHERE i.tenant_id = current_tenant_id() AND i.id = ANY (ids) AND i.id = row.id;

    IF effect_rows IS NOT NULL THEN
        WITH effect AS MATERIALIZED (
            SELECT * FROM json_to_recordset(effect_rows) AS row (
                id uuid, created_at timestamptz, instance_id uuid, step_id uuid, effect_type text, endpoint text,
                payload jsonb, idempotency_key bytea, trace_id text)
        ), receipt AS (
            INSERT INTO workflow_outbox_receipts (tenant_id, instance_id, source_table, event_idempotency_key,
                                                  created_at)
            SELECT current_tenant_id(), instance_id, 'side_effects', idempotency_key, written_at FROM effect
            ON CONFLICT DO NOTHING
            RETURNING instance_id, event_idempotency_key
        )
        INSERT INTO workflow_side_effects_outbox (
            tenant_id, created_at, id, instance_id, step_execution_id, effect_type, endpoint, payload_json,
            event_idempotency_key, trace_id, due_at)
        SELECT current_tenant_id(), effect.created_at, effect.id, effect.instance_id, effect.step_id,
               effect.effect_type, effect.endpoint, effect.payload, effect.idempotency_key, effect.trace_id, written_at
        FROM effect JOIN receipt ON receipt.instance_id = effect.instance_id
                                AND receipt.event_idempotency_key = effect.idempotency_key;
    END IF;

    INSERT INTO workflow_event (tenant_id, created_at, id, subject_kind, subject_id, entry, actor_id,
                                step_execution_id, data, trace_id)
    SELECT current_tenant_id(), created_at, id, 'instance', instance_id, entry, actor_id, step_id, data, trace_id
    FROM json_to_recordset(history_rows) AS row (
        id uuid, created_at timestamptz, instance_id uuid, entry text, actor_id text, step_id uuid, data jsonb,
        trace_id text);

    UPDATE workflow_events_outbox q
    SET status = 'completed', completed_at = written_at, claim_id = NULL, lease_until = NULL, error = NULL
    WHERE q.tenant_id = current_tenant_id() AND q.created_at = ANY (trigger_times)
      AND array_position(trigger_ids, q.id) IS NOT NULL;
END
$$;
ALTER TABLE rules DROP COLUMN responsible;
ALTER TABLE workflow_event DROP COLUMN responsible;
ALTER TABLE workflow_events_outbox DROP COLUMN responsible;
ALTER TABLE workflow_step_executions DROP COLUMN responsible;
ALTER TABLE workflow_instances DROP COLUMN pins, DROP COLUMN responsible, DROP COLUMN begin_responsible;
ALTER TABLE approval_requests DROP COLUMN responsible;
ALTER TABLE transition_requests DROP COLUMN responsible;
ALTER TABLE document_versions DROP COLUMN responsible;
ALTER TABLE documents DROP COLUMN field_versions, DROP COLUMN editor_responsible, DROP COLUMN creator_responsible;
DROP TABLE responsible_sets;
