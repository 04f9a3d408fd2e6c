-- phase: expand
-- transaction: on
--
-- The persons behind the content of a document never become fewer, and a field is never said to be older than it is.
-- Runtime roles write documents by one function only, so that no single statement of theirs changes a status, or takes
-- an editor away and with them the bar that keeps them from deciding.

-- up
CREATE OR REPLACE FUNCTION write_edits(document_rows json, version_rows json, audit_rows json, event_rows json,
                            written_at timestamptz) RETURNS void
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
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
    versions bigint;
    entries bigint;
BEGIN
    UPDATE documents d
    SET status = row.status, version = row.version, data = row.data, editor_ids = row.editor_ids,
        editor_responsible = coalesce(row.editor_responsible, d.editor_responsible),
        field_versions = d.field_versions || coalesce(row.field_versions, '{}'),
        deleted_at = CASE WHEN row.is_deleted THEN written_at END, updated_at = written_at,
        t1 = row.t1, t2 = row.t2, t3 = row.t3, t4 = row.t4, n1 = row.n1, n2 = row.n2, n3 = row.n3,
        n4 = row.n4, d1 = row.d1, d2 = row.d2
    FROM json_to_recordset(document_rows) AS row (
        id uuid, status text, seen_version bigint, version bigint, data jsonb, editor_ids text[], is_deleted boolean,
        editor_responsible bytea, field_versions jsonb,
        t1 text, t2 text, t3 text, t4 text, n1 bigint, n2 bigint, n3 bigint, n4 bigint,
        d1 timestamptz, d2 timestamptz)
    WHERE d.tenant_id = current_tenant_id() AND d.id = ANY (ids) AND d.id = row.id AND d.version = row.seen_version
      -- A field is never said to have changed before this edit.
      AND NOT EXISTS (SELECT FROM jsonb_each(row.field_versions) AS field WHERE field.value::bigint <= d.version);
    GET DIAGNOSTICS written = ROW_COUNT;
    IF written <> cardinality(ids) THEN
        RAISE EXCEPTION 'of % documents % were at the version that was seen', cardinality(ids), written
            USING ERRCODE = 'SG004';
    END IF;

    INSERT INTO document_versions (tenant_id, document_id, version, id, snapshot, hash, actor_id, responsible,
                                   created_at)
    SELECT current_tenant_id(), document_id, version, id, snapshot, hash, actor_id, responsible, written_at
    FROM json_to_recordset(version_rows) AS row (
        document_id uuid, version bigint, id uuid, snapshot text, hash text, actor_id text, responsible bytea);
    GET DIAGNOSTICS versions = ROW_COUNT;
    INSERT INTO audit_log (tenant_id, id, subject_type, subject_id, seq, previous_hash, hash, content, action,
                           actor_id, created_at, epoch, xid)
    SELECT current_tenant_id(), id, subject_type, subject_id, seq, previous_hash, hash, content, action, actor_id,
           created_at, epoch, xid
    FROM json_to_recordset(audit_rows) AS row (
        id uuid, subject_type text, subject_id text, seq bigint, previous_hash text, hash text, content text,
        action text, actor_id text, created_at timestamptz, epoch integer, xid xid8);
    GET DIAGNOSTICS entries = ROW_COUNT;
    IF least(versions, entries) < written THEN
        RAISE EXCEPTION '% documents have % versions and % rows in the audit trail', written, versions, entries
            USING ERRCODE = 'SG002';
    END IF;

    WITH event AS (
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
-- What is left: `updated_at`, without which no role may lock a row, the contract of a document that is moved, and the
-- set of editors, which an erasure and an answer by hand add to.
REVOKE UPDATE (status, version, data, editor_ids, editor_responsible, field_versions, deleted_at, t1, t2, t3, t4, n1,
               n2, n3, n4, d1, d2) ON documents FROM signet_api, signet_worker;
GRANT UPDATE (editor_responsible) ON documents TO signet_api;

CREATE FUNCTION reject_lost_editors() RETURNS trigger LANGUAGE plpgsql
    SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'editors of a document are not taken away: %', OLD.id USING ERRCODE = 'SG002';
END
$$;
CREATE TRIGGER reject_lost_editors BEFORE UPDATE OF editor_ids, editor_responsible ON documents
    FOR EACH ROW
    WHEN (NOT OLD.editor_ids <@ NEW.editor_ids
          OR (OLD.editor_responsible IS NOT NULL AND NEW.editor_responsible IS NULL))
    EXECUTE FUNCTION reject_lost_editors();

-- What a document says changes only with its version, until the janitor empties what was deleted long ago.
CREATE FUNCTION reject_unversioned_change() RETURNS trigger LANGUAGE plpgsql
    SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'a document changes only with its version: %', OLD.id USING ERRCODE = 'SG002';
END
$$;
CREATE TRIGGER reject_unversioned_change BEFORE UPDATE OF status, data, version ON documents
    FOR EACH ROW
    WHEN (NEW.version < OLD.version
          OR (NEW.version = OLD.version AND NEW.purged_at IS NULL
              AND (NEW.status, NEW.data) IS DISTINCT FROM (OLD.status, OLD.data)))
    EXECUTE FUNCTION reject_unversioned_change();

-- At the commit, because a new set is written at the end of its transaction.
CREATE FUNCTION reject_smaller_set_of_editors() RETURNS trigger LANGUAGE plpgsql
    SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NOT EXISTS (
        SELECT FROM responsible_sets n
        WHERE n.tenant_id = NEW.tenant_id AND n.hash = NEW.editor_responsible
          AND coalesce((SELECT o.persons FROM responsible_sets o
                        WHERE o.tenant_id = OLD.tenant_id AND o.hash = OLD.editor_responsible),
                       OLD.editor_ids) <@ n.persons) THEN
        RAISE EXCEPTION 'persons behind a document are not taken away: %', NEW.id USING ERRCODE = 'SG002';
    END IF;
    RETURN NULL;
END
$$;
CREATE CONSTRAINT TRIGGER reject_smaller_set_of_editors AFTER UPDATE OF editor_responsible ON documents
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
    WHEN (NEW.editor_responsible IS DISTINCT FROM OLD.editor_responsible)
    EXECUTE FUNCTION reject_smaller_set_of_editors();

-- down
DROP TRIGGER reject_smaller_set_of_editors ON documents;
DROP FUNCTION reject_smaller_set_of_editors();
DROP TRIGGER reject_unversioned_change ON documents;
DROP FUNCTION reject_unversioned_change();
DROP TRIGGER reject_lost_editors ON documents;
DROP FUNCTION reject_lost_editors();
GRANT UPDATE (status, version, data, editor_ids, editor_responsible, field_versions, deleted_at, t1, t2, t3, t4, n1,
              n2, n3, n4, d1, d2) ON documents TO signet_api, signet_worker;
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
