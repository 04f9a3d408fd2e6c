-- phase: expand
-- transaction: on
--
-- One transaction writes on behalf of many: a wave performs the steps of different people. Every row says whose it
-- is, and an instance keeps who it runs for, since whom its steps act with their authority.

-- up
ALTER TABLE workflow_instances
    -- why it began, and for whom: with the steps, all that a rebuild needs
    ADD COLUMN birth text NOT NULL DEFAULT 'created' CHECK (birth IN ('created', 'amended', 'reentered')),
    ADD COLUMN begin_actor_id text NOT NULL DEFAULT '',
    ADD COLUMN begin_actor_roles text[] NOT NULL DEFAULT '{}',
    -- whom its steps act for now: who began it, then whoever asked for a transition last
    ADD COLUMN actor_id text NOT NULL DEFAULT '',
    ADD COLUMN actor_roles text[] NOT NULL DEFAULT '{}',
    -- the request on whose way it is
    ADD COLUMN request_id uuid;
ALTER TABLE transition_requests ADD COLUMN actor_roles text[] NOT NULL DEFAULT '{}';

DROP FUNCTION write_edits(json, json, json, json, timestamptz, text, text);
DROP FUNCTION lock_and_read_documents(uuid[], text[]);

-- Locks in id order in one statement, and reads in a later one: that sees what the locks' former holders
-- committed. Its time is after the locks, so that it goes on along a chain. One row, also when no document is
-- found; none when the tenant is not active.
CREATE FUNCTION lock_and_read_documents(document_ids uuid[], role_names text[])
    RETURNS TABLE (now timestamptz, tenant_name text, settings jsonb, epoch integer, xid text, permissions jsonb,
                   documents json)
    LANGUAGE plpgsql VOLATILE
    -- A session keeps the plan of its first calls, perhaps made when the tables were empty: it must be the one
    -- that is right when they are large. Every access here is by key.
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

-- The four kinds of rows that an edit has: the new state, its versions, their audit rows, the triggers with their
-- receipts. A document that changed several times in one transaction is written once, with every version.
CREATE FUNCTION write_edits(document_rows json, version_rows json, audit_rows json, event_rows json,
                            written_at timestamptz) RETURNS void
    LANGUAGE plpgsql VOLATILE
    -- A session keeps the plan of its first calls, perhaps made when the tables were empty: it must be the one
    -- that is right when they are large. The UPDATE names its keys beside the join: every plan finds its rows by them.
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

GRANT EXECUTE ON FUNCTION lock_and_read_documents(uuid[], text[]),
    write_edits(json, json, json, json, timestamptz) TO signet_api, signet_worker;

-- down
DROP FUNCTION write_edits(json, json, json, json, timestamptz);
DROP FUNCTION lock_and_read_documents(uuid[], text[]);
-- Locks in id order in one statement, and reads in a later one: that sees what the locks' former holders
-- committed. Its time is after the locks, so that it goes on along a chain. One row, also when no document is
-- found; none when the tenant is not active.
CREATE FUNCTION lock_and_read_documents(document_ids uuid[], role_names text[])
    RETURNS TABLE (now timestamptz, tenant_name text, settings jsonb, epoch integer, xid text, permissions text[],
                   documents json)
    LANGUAGE plpgsql VOLATILE
    -- A session keeps the plan of its first calls, perhaps made when the tables were empty: it must be the one
    -- that is right when they are large. Every access here is by key.
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
           ARRAY(SELECT DISTINCT unnest(r.permissions) FROM roles r
                 WHERE r.tenant_id = t.tenant_id AND r.role = ANY (role_names)),
           (SELECT json_agg(found) FROM (
               SELECT d.id, d.entity_type, d.contract_version, d.status, d.version, d.data, d.amended_from_id,
                      d.creator_id, d.editor_ids, d.created_at, d.updated_at, d.deleted_at,
                      i.id AS instance_id, i.version AS instance_version,
                      i.entity_version AS instance_entity_version, i.edit_window, i.edit_window_node,
                      i.definition_version,
                      q.id AS request_id, q.transition AS requested,
                      h.seq AS audit_seq, h.hash AS audit_hash,
                      v.hash AS snapshot_hash,
                      (SELECT jsonb_object_agg(p.id, p.value) FROM personal_values p
                       WHERE p.tenant_id = d.tenant_id AND p.document_id = d.id AND p.erased_at IS NULL) AS personal
               FROM documents d
               LEFT JOIN workflow_instances i
                      ON i.tenant_id = d.tenant_id AND i.entity_type = d.entity_type AND i.entity_id = d.id
                     AND i.kind = 'envelope' AND i.status IN ('running', 'paused')
               LEFT JOIN transition_requests q
                      ON q.tenant_id = d.tenant_id AND q.document_id = d.id AND q.status = 'open'
               LEFT JOIN document_versions v
                      ON v.tenant_id = d.tenant_id AND v.document_id = d.id AND v.version = d.version
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

-- An edit's four kinds of rows: the new state, its version, its audit row, the trigger with its receipt.
CREATE FUNCTION write_edits(document_rows json, version_rows json, audit_rows json, event_rows json,
                            written_at timestamptz, actor text, trace text) RETURNS void
    LANGUAGE plpgsql VOLATILE
    -- A session keeps the plan of its first calls, perhaps made when the tables were empty: it must be the one
    -- that is right when they are large. Every access here is by key.
    SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
    SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
#variable_conflict use_column
DECLARE
    row record;
BEGIN
    -- One by one: each finds its row by key, whatever the statistics say of how large a tenant is.
    FOR row IN
        SELECT * FROM json_to_recordset(document_rows) AS row (
            id uuid, status text, version bigint, data jsonb, editor_ids text[], is_deleted boolean,
            t1 text, t2 text, t3 text, t4 text, n1 bigint, n2 bigint, n3 bigint, n4 bigint,
            d1 timestamptz, d2 timestamptz)
    LOOP
        UPDATE documents d
        SET status = row.status, version = row.version, data = row.data, editor_ids = row.editor_ids,
            deleted_at = CASE WHEN row.is_deleted THEN written_at END, updated_at = written_at,
            t1 = row.t1, t2 = row.t2, t3 = row.t3, t4 = row.t4, n1 = row.n1, n2 = row.n2, n3 = row.n3,
            n4 = row.n4, d1 = row.d1, d2 = row.d2
        WHERE d.tenant_id = current_tenant_id() AND d.id = row.id AND d.version = row.version - 1;
    END LOOP;

    WITH version AS (
        INSERT INTO document_versions (tenant_id, document_id, version, id, snapshot, hash, actor_id, created_at)
        SELECT current_tenant_id(), document_id, version, id, snapshot, hash, actor, written_at
        FROM json_to_recordset(version_rows) AS row (
            document_id uuid, version bigint, id uuid, snapshot text, hash text)
    ), audit AS (
        INSERT INTO audit_log (tenant_id, id, subject_type, subject_id, seq, previous_hash, hash, content, action,
                               actor_id, created_at, epoch, xid)
        SELECT current_tenant_id(), id, subject_type, subject_id, seq, previous_hash, hash, content, action, actor_id,
               created_at, epoch, xid
        FROM json_to_recordset(audit_rows) AS row (
            id uuid, subject_type text, subject_id text, seq bigint, previous_hash text, hash text, content text,
            action text, actor_id text, created_at timestamptz, epoch integer, xid xid8)
    ), event AS (
        SELECT * FROM json_to_recordset(event_rows) AS row (
            id uuid, created_at timestamptz, instance_id uuid, entity_version bigint, definition_version integer,
            event_type text, payload jsonb, idempotency_key bytea)
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
           event.definition_version, event.event_type, event.payload, event.idempotency_key, trace, written_at
    FROM event
    JOIN receipt ON receipt.instance_id = event.instance_id AND receipt.event_idempotency_key = event.idempotency_key;
END
$$;

GRANT EXECUTE ON FUNCTION lock_and_read_documents(uuid[], text[]),
    write_edits(json, json, json, json, timestamptz, text, text) TO signet_api, signet_worker;

ALTER TABLE transition_requests DROP COLUMN actor_roles;
ALTER TABLE workflow_instances
    DROP COLUMN birth, DROP COLUMN begin_actor_id, DROP COLUMN begin_actor_roles, DROP COLUMN actor_id,
    DROP COLUMN actor_roles, DROP COLUMN request_id;
