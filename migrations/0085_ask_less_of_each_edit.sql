-- phase: expand
-- transaction: on
--
-- An edit asks less of the server. Every node of a plan makes each of its columns ready, so that a lookup names those that
-- it is for. The ids of edited documents come beside their rows, which were read twice. A trigger is called where editors
-- are lost, and not where one is added. Where nobody was an editor, it looks for the new set alone.

-- up
CREATE OR REPLACE FUNCTION lock_and_read_documents(document_ids uuid[], role_names text[])
    RETURNS TABLE(now timestamptz, tenant_name text, settings jsonb, epoch integer, xid text, permissions jsonb, documents json)
    LANGUAGE plpgsql
    SET search_path = pg_catalog, public, pg_temp
    SET plan_cache_mode = 'force_generic_plan'
    SET enable_seqscan = 'off'
    SET enable_bitmapscan = 'off'
AS $$
#variable_conflict use_column
BEGIN
    IF document_ids <> '{}' THEN
        PERFORM FROM documents d
        WHERE d.tenant_id = current_tenant_id() AND d.id = ANY (document_ids)
        ORDER BY d.id
        FOR NO KEY UPDATE;
    END IF;
    SELECT clock_timestamp(), t.name, t.settings, (SELECT max(e.epoch) FROM audit_epochs e),
           pg_current_xact_id()::text,
           (SELECT jsonb_object_agg(r.role, r.permissions) FROM roles r
            WHERE r.tenant_id = current_tenant_id() AND r.role = ANY (role_names))
    INTO now, tenant_name, settings, epoch, xid, permissions
    FROM tenants t
    WHERE t.tenant_id = current_tenant_id() AND t.status = 'active';
    IF NOT FOUND THEN
        RETURN;
    END IF;
    -- A read names no document: this part is then neither planned nor begun. The tenant is named as the policies name it:
    -- against another column they would be asked for each row of each table.
    IF document_ids <> '{}' THEN
        documents := (SELECT json_agg(found) FROM (
            SELECT d.id, d.entity_type, d.contract_version, d.status, d.version, d.data, d.amended_from_id,
                   d.creator_id, d.editor_ids, d.field_versions, d.created_at, d.updated_at, d.deleted_at,
                   i.id AS instance_id, i.version AS instance_version,
                   i.entity_version AS instance_entity_version, i.edit_window, i.edit_window_node,
                   i.definition_version,
                   CASE WHEN i.status = 'paused' THEN read_pause(i.id, i.reason, i.active_tokens) END AS pause,
                   q.id AS request_id, q.transition AS requested, q.actor_id AS requester_id,
                   q.actor_roles AS requester_roles,
                   (SELECT s.persons FROM responsible_sets s
                    WHERE s.tenant_id = current_tenant_id() AND s.hash = d.creator_responsible) AS creator_responsible,
                   (SELECT s.persons FROM responsible_sets s
                    WHERE s.tenant_id = current_tenant_id() AND s.hash = d.editor_responsible) AS editor_responsible,
                   read_persons(q.responsible) AS requester_responsible,
                   read_member(q.actor_id) AS requester_member,
                   h.seq AS audit_seq, h.hash AS audit_hash,
                   v.id AS snapshot_id, v.hash AS snapshot_hash,
                   (SELECT jsonb_object_agg(p.id, p.value) FROM personal_values p
                    WHERE p.tenant_id = current_tenant_id() AND p.document_id = d.id AND p.erased_at IS NULL) AS personal
            FROM documents d
            -- LIMIT keeps each a lookup for its document, whatever a join would seem to cost. Each names its columns, the
            -- narrow ones first: every column is made ready in every node of the plan.
            LEFT JOIN LATERAL (
                SELECT v.id, v.hash FROM document_versions v
                WHERE v.tenant_id = current_tenant_id() AND v.document_id = d.id AND v.version = d.version
                LIMIT 1
            ) v ON true
            LEFT JOIN LATERAL (
                SELECT a.seq, a.hash FROM audit_log a
                WHERE a.tenant_id = current_tenant_id() AND a.subject_type = 'document' AND a.subject_id = d.id::text
                  AND a.seq IS NOT NULL
                ORDER BY a.seq DESC LIMIT 1
            ) h ON true
            LEFT JOIN LATERAL (
                SELECT q.id, q.transition, q.actor_id, q.actor_roles, q.responsible FROM transition_requests q
                WHERE q.tenant_id = current_tenant_id() AND q.document_id = d.id AND q.status = 'open'
                LIMIT 1
            ) q ON true
            LEFT JOIN LATERAL (
                SELECT i.id, i.version, i.entity_version, i.edit_window, i.edit_window_node, i.definition_version,
                       i.status, i.reason, i.active_tokens
                FROM workflow_instances i
                WHERE i.tenant_id = current_tenant_id() AND i.entity_type = d.entity_type AND i.entity_id = d.id
                  AND i.kind = 'envelope' AND i.status IN ('running', 'paused')
                LIMIT 1
            ) i ON true
            WHERE d.tenant_id = current_tenant_id() AND d.id = ANY (document_ids)
           ) AS found);
    END IF;
    RETURN NEXT;
END
$$;

CREATE FUNCTION write_edits(ids uuid[], document_rows json, version_rows json, audit_rows json, event_rows json, written_at timestamptz)
    RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp
    SET plan_cache_mode = 'force_generic_plan'
    SET enable_seqscan = 'off'
    SET enable_bitmapscan = 'off'
AS $$
#variable_conflict use_column
DECLARE
    own_tenant uuid := current_tenant_id();
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
    SELECT own_tenant, document_id, version, id, snapshot, hash, actor_id, responsible, written_at
    FROM json_to_recordset(version_rows) AS row (
        document_id uuid, version bigint, id uuid, snapshot text, hash text, actor_id text, responsible bytea);
    GET DIAGNOSTICS versions = ROW_COUNT;
    INSERT INTO audit_log (tenant_id, id, subject_type, subject_id, seq, previous_hash, hash, content, action,
                           actor_id, created_at, epoch, xid)
    SELECT own_tenant, id, subject_type, subject_id, seq, previous_hash, hash, content, action, actor_id,
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
        SELECT own_tenant, instance_id, 'events', idempotency_key, written_at FROM event
        ON CONFLICT DO NOTHING
        RETURNING instance_id, event_idempotency_key
    )
    INSERT INTO workflow_events_outbox (
        tenant_id, created_at, id, instance_id, entity_version, definition_version, event_type, payload_json,
        event_idempotency_key, trace_id, due_at, responsible)
    SELECT own_tenant, event.created_at, event.id, event.instance_id, event.entity_version,
           event.definition_version, event.event_type, event.payload, event.idempotency_key, event.trace_id,
           coalesce(event.due_at, written_at), event.responsible
    FROM event
    JOIN receipt ON receipt.instance_id = event.instance_id AND receipt.event_idempotency_key = event.idempotency_key;
END
$$;
REVOKE ALL ON FUNCTION write_edits(uuid[], json, json, json, json, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION write_edits(uuid[], json, json, json, json, timestamptz) TO signet_api, signet_worker;

-- The release before this one sends no ids.
CREATE OR REPLACE FUNCTION write_edits(document_rows json, version_rows json, audit_rows json, event_rows json, written_at timestamptz)
    RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp
AS $$
    SELECT write_edits(ARRAY(SELECT id FROM json_to_recordset(document_rows) AS row (id uuid)), document_rows,
                       version_rows, audit_rows, event_rows, written_at)
$$;

CREATE OR REPLACE FUNCTION reject_lost_editors() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, public, pg_temp
AS $$
BEGIN
    RAISE EXCEPTION 'editors of a document are not taken away: %', OLD.id USING ERRCODE = 'SG002';
END
$$;
CREATE OR REPLACE TRIGGER reject_lost_editors BEFORE UPDATE OF editor_ids ON documents FOR EACH ROW
    WHEN (NOT OLD.editor_ids <@ NEW.editor_ids) EXECUTE FUNCTION reject_lost_editors();

-- A set that is none at all, or that nobody knows, is smaller than each.
CREATE OR REPLACE FUNCTION reject_smaller_set_of_editors() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, public, pg_temp
AS $$
BEGIN
    IF OLD.editor_ids = '{}' AND OLD.editor_responsible = sha256('') THEN
        IF EXISTS (SELECT FROM responsible_sets n
                   WHERE n.tenant_id = NEW.tenant_id AND n.hash = NEW.editor_responsible) THEN
            RETURN NULL;
        END IF;
    ELSIF EXISTS (
        SELECT FROM responsible_sets n
        WHERE n.tenant_id = NEW.tenant_id AND n.hash = NEW.editor_responsible
          AND coalesce((SELECT o.persons FROM responsible_sets o
                        WHERE o.tenant_id = OLD.tenant_id AND o.hash = OLD.editor_responsible),
                       OLD.editor_ids) <@ n.persons) THEN
        RETURN NULL;
    END IF;
    RAISE EXCEPTION 'persons behind a document are not taken away: %', NEW.id USING ERRCODE = 'SG002';
END
$$;

-- down
CREATE OR REPLACE FUNCTION lock_and_read_documents(document_ids uuid[], role_names text[])
    RETURNS TABLE(now timestamptz, tenant_name text, settings jsonb, epoch integer, xid text, permissions jsonb, documents json)
    LANGUAGE plpgsql
    SET search_path = pg_catalog, public, pg_temp
    SET plan_cache_mode = 'force_generic_plan'
    SET enable_seqscan = 'off'
    SET enable_bitmapscan = 'off'
AS $$
#variable_conflict use_column
BEGIN
    IF document_ids <> '{}' THEN
        PERFORM FROM documents d
        WHERE d.tenant_id = current_tenant_id() AND d.id = ANY (document_ids)
        ORDER BY d.id
        FOR NO KEY UPDATE;
    END IF;
    SELECT clock_timestamp(), t.name, t.settings, (SELECT max(e.epoch) FROM audit_epochs e),
           pg_current_xact_id()::text,
           (SELECT jsonb_object_agg(r.role, r.permissions) FROM roles r
            WHERE r.tenant_id = current_tenant_id() AND r.role = ANY (role_names))
    INTO now, tenant_name, settings, epoch, xid, permissions
    FROM tenants t
    WHERE t.tenant_id = current_tenant_id() AND t.status = 'active';
    IF NOT FOUND THEN
        RETURN;
    END IF;
    -- A read names no document: this part is then neither planned nor begun. The tenant is named as the policies name it:
    -- against another column they would be asked for each row of each table.
    IF document_ids <> '{}' THEN
        documents := (SELECT json_agg(found) FROM (
            SELECT d.id, d.entity_type, d.contract_version, d.status, d.version, d.data, d.amended_from_id,
                   d.creator_id, d.editor_ids, d.field_versions, d.created_at, d.updated_at, d.deleted_at,
                   i.id AS instance_id, i.version AS instance_version,
                   i.entity_version AS instance_entity_version, i.edit_window, i.edit_window_node,
                   i.definition_version,
                   CASE WHEN i.status = 'paused' THEN read_pause(i.id, i.reason, i.active_tokens) END AS pause,
                   q.id AS request_id, q.transition AS requested, q.actor_id AS requester_id,
                   q.actor_roles AS requester_roles,
                   (SELECT s.persons FROM responsible_sets s
                    WHERE s.tenant_id = current_tenant_id() AND s.hash = d.creator_responsible) AS creator_responsible,
                   (SELECT s.persons FROM responsible_sets s
                    WHERE s.tenant_id = current_tenant_id() AND s.hash = d.editor_responsible) AS editor_responsible,
                   read_persons(q.responsible) AS requester_responsible,
                   read_member(q.actor_id) AS requester_member,
                   h.seq AS audit_seq, h.hash AS audit_hash,
                   v.id AS snapshot_id, v.hash AS snapshot_hash,
                   (SELECT jsonb_object_agg(p.id, p.value) FROM personal_values p
                    WHERE p.tenant_id = current_tenant_id() AND p.document_id = d.id AND p.erased_at IS NULL) AS personal
            FROM documents d
            -- LIMIT keeps each a lookup for its document, whatever a join would seem to cost.
            LEFT JOIN LATERAL (
                SELECT * FROM workflow_instances i
                WHERE i.tenant_id = current_tenant_id() AND i.entity_type = d.entity_type AND i.entity_id = d.id
                  AND i.kind = 'envelope' AND i.status IN ('running', 'paused')
                LIMIT 1
            ) i ON true
            LEFT JOIN LATERAL (
                SELECT * FROM transition_requests q
                WHERE q.tenant_id = current_tenant_id() AND q.document_id = d.id AND q.status = 'open'
                LIMIT 1
            ) q ON true
            LEFT JOIN LATERAL (
                SELECT v.id, v.hash FROM document_versions v
                WHERE v.tenant_id = current_tenant_id() AND v.document_id = d.id AND v.version = d.version
                LIMIT 1
            ) v ON true
            LEFT JOIN LATERAL (
                SELECT a.seq, a.hash FROM audit_log a
                WHERE a.tenant_id = current_tenant_id() AND a.subject_type = 'document' AND a.subject_id = d.id::text
                  AND a.seq IS NOT NULL
                ORDER BY a.seq DESC LIMIT 1
            ) h ON true
            WHERE d.tenant_id = current_tenant_id() AND d.id = ANY (document_ids)
           ) AS found);
    END IF;
    RETURN NEXT;
END
$$;

CREATE OR REPLACE FUNCTION write_edits(document_rows json, version_rows json, audit_rows json, event_rows json, written_at timestamptz)
    RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp
    SET plan_cache_mode = 'force_generic_plan'
    SET enable_seqscan = 'off'
    SET enable_bitmapscan = 'off'
AS $$
#variable_conflict use_column
DECLARE
    own_tenant uuid := current_tenant_id();
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
    SELECT own_tenant, document_id, version, id, snapshot, hash, actor_id, responsible, written_at
    FROM json_to_recordset(version_rows) AS row (
        document_id uuid, version bigint, id uuid, snapshot text, hash text, actor_id text, responsible bytea);
    GET DIAGNOSTICS versions = ROW_COUNT;
    INSERT INTO audit_log (tenant_id, id, subject_type, subject_id, seq, previous_hash, hash, content, action,
                           actor_id, created_at, epoch, xid)
    SELECT own_tenant, id, subject_type, subject_id, seq, previous_hash, hash, content, action, actor_id,
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
        SELECT own_tenant, instance_id, 'events', idempotency_key, written_at FROM event
        ON CONFLICT DO NOTHING
        RETURNING instance_id, event_idempotency_key
    )
    INSERT INTO workflow_events_outbox (
        tenant_id, created_at, id, instance_id, entity_version, definition_version, event_type, payload_json,
        event_idempotency_key, trace_id, due_at, responsible)
    SELECT own_tenant, event.created_at, event.id, event.instance_id, event.entity_version,
           event.definition_version, event.event_type, event.payload, event.idempotency_key, event.trace_id,
           coalesce(event.due_at, written_at), event.responsible
    FROM event
    JOIN receipt ON receipt.instance_id = event.instance_id AND receipt.event_idempotency_key = event.idempotency_key;
END
$$;
DROP FUNCTION write_edits(uuid[], json, json, json, json, timestamptz);

CREATE OR REPLACE FUNCTION reject_lost_editors() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, public, pg_temp
AS $$
BEGIN
    IF NOT OLD.editor_ids <@ NEW.editor_ids
       OR (OLD.editor_responsible IS NOT NULL AND NEW.editor_responsible IS NULL) THEN
        RAISE EXCEPTION 'editors of a document are not taken away: %', OLD.id USING ERRCODE = 'SG002';
    END IF;
    RETURN NEW;
END
$$;
CREATE OR REPLACE TRIGGER reject_lost_editors BEFORE UPDATE OF editor_ids, editor_responsible ON documents FOR EACH ROW
    WHEN (NEW.editor_ids <> OLD.editor_ids OR NEW.editor_responsible IS NULL)
    EXECUTE FUNCTION reject_lost_editors();

CREATE OR REPLACE FUNCTION reject_smaller_set_of_editors() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, public, pg_temp
AS $$
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
