-- phase: expand
-- transaction: on
--
-- A claim updates its rows in one statement. For each statement PostgreSQL reads the checks of its table and the conditions
-- of its triggers from their texts, and a claim of a hundred rows had a hundred statements. The usual ways of a status are
-- conditions of its trigger, so that its function is called for all others, and refuses what its argument does not allow.

-- up
CREATE OR REPLACE FUNCTION claim_events(own_claim uuid, since timestamptz, at_most integer, alone_from integer, lease_seconds double precision)
    RETURNS SETOF workflow_events_outbox
    LANGUAGE plpgsql
    SET search_path = pg_catalog, public, pg_temp
    SET plan_cache_mode = 'force_generic_plan'
    SET enable_seqscan = 'off'
    SET enable_bitmapscan = 'off'
    SET enable_hashjoin = 'off'
    SET enable_mergejoin = 'off'
AS $$
DECLARE
    times timestamptz[];
    ids   uuid[];
BEGIN
    -- The first due row and those after it. A row that failed too often goes alone, so that no other fails with it. So
    -- does one that was given back for long: if that happens again, the cause is its own (outbox/given_back.py).
    WITH first AS (
        SELECT q.created_at, q.id,
               q.attempts >= alone_from
               OR q.given_back >= 10 AND q.given_back_since <= now() - interval '15 minutes' AS is_alone
        FROM workflow_events_outbox q
        WHERE q.tenant_id = current_tenant_id() AND q.status IN ('pending', 'failed') AND q.due_at BETWEEN since AND now()
        ORDER BY q.due_at, q.id
        LIMIT 1
        FOR UPDATE SKIP LOCKED
    ), together AS (
        SELECT q.created_at, q.id FROM workflow_events_outbox q
        WHERE q.tenant_id = current_tenant_id() AND q.status IN ('pending', 'failed') AND q.due_at BETWEEN since AND now()
          AND q.attempts < alone_from AND NOT (SELECT first.is_alone FROM first)
          AND (q.given_back < 10 OR q.given_back_since > now() - interval '15 minutes')
        ORDER BY q.due_at, q.id
        LIMIT at_most
        FOR UPDATE SKIP LOCKED
    )
    SELECT array_agg(chosen.created_at), array_agg(chosen.id) INTO times, ids
    FROM (
        SELECT first.created_at, first.id FROM first WHERE first.is_alone
        UNION ALL
        SELECT together.created_at, together.id FROM together
    ) AS chosen;
    IF times IS NULL THEN
        RETURN;
    END IF;
    -- By arrays, as no join does: it would be planned for the empty queue of a new month, and then read all of the tenant.
    RETURN QUERY
    UPDATE workflow_events_outbox q
    SET status = 'processing', attempts = q.attempts + 1, claim_id = own_claim,
        lease_until = now() + make_interval(secs => lease_seconds)
    WHERE q.tenant_id = current_tenant_id() AND q.created_at = ANY (times)
      AND array_position(ids, q.id) IS NOT NULL
    RETURNING q.*;
END
$$;

CREATE OR REPLACE FUNCTION claim_effects(own_claim uuid, since timestamptz, at_most integer, alone_from integer, lease_seconds double precision)
    RETURNS SETOF workflow_side_effects_outbox
    LANGUAGE plpgsql
    SET search_path = pg_catalog, public, pg_temp
    SET plan_cache_mode = 'force_generic_plan'
    SET enable_seqscan = 'off'
    SET enable_bitmapscan = 'off'
    SET enable_hashjoin = 'off'
    SET enable_mergejoin = 'off'
AS $$
DECLARE
    times timestamptz[];
    ids   uuid[];
BEGIN
    -- The first due row and those after it. A row that failed too often goes alone, so that no other fails with it.
    WITH first AS (
        SELECT q.created_at, q.id, q.attempts FROM workflow_side_effects_outbox q
        WHERE q.tenant_id = current_tenant_id() AND q.status IN ('pending', 'failed') AND q.due_at BETWEEN since AND now()
        ORDER BY q.due_at, q.id
        LIMIT 1
        FOR UPDATE SKIP LOCKED
    ), together AS (
        SELECT q.created_at, q.id FROM workflow_side_effects_outbox q
        WHERE q.tenant_id = current_tenant_id() AND q.status IN ('pending', 'failed') AND q.due_at BETWEEN since AND now()
          AND q.attempts < alone_from AND (SELECT first.attempts FROM first) < alone_from
        ORDER BY q.due_at, q.id
        LIMIT at_most
        FOR UPDATE SKIP LOCKED
    )
    SELECT array_agg(chosen.created_at), array_agg(chosen.id) INTO times, ids
    FROM (
        SELECT first.created_at, first.id FROM first WHERE first.attempts >= alone_from
        UNION ALL
        SELECT together.created_at, together.id FROM together
    ) AS chosen;
    IF times IS NULL THEN
        RETURN;
    END IF;
    -- By arrays, as no join does: it would be planned for the empty queue of a new month, and then read all of the tenant.
    RETURN QUERY
    UPDATE workflow_side_effects_outbox q
    SET status = 'processing', attempts = q.attempts + 1, claim_id = own_claim,
        lease_until = now() + make_interval(secs => lease_seconds), claimed_at = now(),
        left_at = coalesce(q.left_at, now())
    WHERE q.tenant_id = current_tenant_id() AND q.created_at = ANY (times)
      AND array_position(ids, q.id) IS NOT NULL
    RETURNING q.*;
END
$$;

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

CREATE OR REPLACE FUNCTION write_steps(step_rows json, usual bytea, written_at timestamptz)
    RETURNS bigint
    LANGUAGE plpgsql
    SET search_path = pg_catalog, public, pg_temp
    SET plan_cache_mode = 'force_generic_plan'
AS $$
#variable_conflict use_column
DECLARE
    own_tenant uuid := current_tenant_id();
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
        SELECT own_tenant, instance_id, idempotency_key, id, written_at FROM step
        ON CONFLICT DO NOTHING
        RETURNING step_execution_id
    ), inserted AS (
        INSERT INTO workflow_step_executions (
            tenant_id, created_at, id, instance_id, seq, end_seq, node_id, node_type, token_id, entity_version,
            version_after, status, run_as, idempotency_key, started_at, completed_at, duration_ms, input_json,
            output_json, error, actor_user_id, resume_at, waiting_for_event_key, snapshot_version_id, trace_id,
            responsible)
        SELECT own_tenant, step.created_at, step.id, step.instance_id, step.seq, step.end_seq, step.node_id,
               step.node_type, step.token_id, step.entity_version, step.version_after, step.status, step.run_as,
               step.idempotency_key, written_at, CASE WHEN step.end_seq IS NOT NULL THEN written_at END,
               CASE WHEN step.end_seq IS NOT NULL THEN 0 END, step.input, step.output, step.error, step.actor_id,
               step.resume_at, step.waiting_for_event_key, step.snapshot_version_id, step.trace_id,
               coalesce(step.responsible, usual)
        FROM step JOIN receipt ON receipt.step_execution_id = step.id
    )
    SELECT count(*) INTO written FROM receipt;
    RETURN written;
END
$$;

-- Columns that no step may change; an update that names none of them cannot change any.
CREATE OR REPLACE TRIGGER restrict_step_execution_updates
    BEFORE UPDATE OF tenant_id, created_at, id, instance_id, seq, node_id, node_type, token_id, entity_version, run_as,
                     idempotency_key, input_json, actor_user_id, snapshot_version_id
    ON workflow_step_executions
    FOR EACH ROW EXECUTE FUNCTION restrict_step_execution_updates();
CREATE OR REPLACE TRIGGER restrict_status_regression BEFORE UPDATE ON workflow_step_executions
    FOR EACH ROW WHEN (NEW.status <> OLD.status AND (OLD.status <> 'running' OR NEW.status <> 'completed'))
    EXECUTE FUNCTION restrict_status_regression(
        'pending>running,cancelled;running>completed,failed,skipped,cancelled');
CREATE OR REPLACE TRIGGER restrict_status_regression BEFORE UPDATE ON workflow_instances
    FOR EACH ROW WHEN (NEW.status <> OLD.status AND (OLD.status <> 'running' OR NEW.status <> 'completed'))
    EXECUTE FUNCTION restrict_status_regression(
        'running>paused,completed,failed,cancelled;paused>running,completed,failed,cancelled');
CREATE OR REPLACE TRIGGER restrict_status_regression BEFORE UPDATE ON workflow_events_outbox
    FOR EACH ROW WHEN (NEW.status <> OLD.status AND (OLD.status <> 'pending' OR NEW.status <> 'processing')
                       AND (OLD.status <> 'processing' OR NEW.status <> 'completed'))
    EXECUTE FUNCTION restrict_status_regression(
        'pending>processing;processing>completed,failed,pending;failed>pending,processing,dead_letter;dead_letter>pending,discarded');

-- down
CREATE OR REPLACE TRIGGER restrict_status_regression BEFORE UPDATE ON workflow_events_outbox
    FOR EACH ROW EXECUTE FUNCTION restrict_status_regression(
        'pending>processing;processing>completed,failed,pending;failed>pending,processing,dead_letter;dead_letter>pending,discarded');
CREATE OR REPLACE TRIGGER restrict_status_regression BEFORE UPDATE ON workflow_instances
    FOR EACH ROW EXECUTE FUNCTION restrict_status_regression(
        'running>paused,completed,failed,cancelled;paused>running,completed,failed,cancelled');
CREATE OR REPLACE TRIGGER restrict_status_regression BEFORE UPDATE ON workflow_step_executions
    FOR EACH ROW EXECUTE FUNCTION restrict_status_regression(
        'pending>running,cancelled;running>completed,failed,skipped,cancelled');
CREATE OR REPLACE TRIGGER restrict_step_execution_updates BEFORE UPDATE ON workflow_step_executions
    FOR EACH ROW EXECUTE FUNCTION restrict_step_execution_updates();
CREATE OR REPLACE FUNCTION claim_events(own_claim uuid, since timestamptz, at_most integer, alone_from integer, lease_seconds double precision)
    RETURNS SETOF workflow_events_outbox
    LANGUAGE plpgsql
    SET search_path = pg_catalog, public, pg_temp
    SET plan_cache_mode = 'force_generic_plan'
    SET enable_seqscan = 'off'
    SET enable_bitmapscan = 'off'
    SET enable_hashjoin = 'off'
    SET enable_mergejoin = 'off'
AS $$
DECLARE
    chosen record;
BEGIN
    -- The first due row and those after it. A row that failed too often goes alone, so that no other fails with it. So
    -- does one that was given back for long: if that happens again, the cause is its own (outbox/given_back.py).
    FOR chosen IN
        WITH first AS (
            SELECT q.created_at, q.id,
                   q.attempts >= alone_from
                   OR q.given_back >= 10 AND q.given_back_since <= now() - interval '15 minutes' AS is_alone
            FROM workflow_events_outbox q
            WHERE q.tenant_id = current_tenant_id() AND q.status IN ('pending', 'failed') AND q.due_at BETWEEN since AND now()
            ORDER BY q.due_at, q.id
            LIMIT 1
            FOR UPDATE SKIP LOCKED
        ), together AS (
            SELECT q.created_at, q.id FROM workflow_events_outbox q
            WHERE q.tenant_id = current_tenant_id() AND q.status IN ('pending', 'failed') AND q.due_at BETWEEN since AND now()
              AND q.attempts < alone_from AND NOT (SELECT first.is_alone FROM first)
              AND (q.given_back < 10 OR q.given_back_since > now() - interval '15 minutes')
            ORDER BY q.due_at, q.id
            LIMIT at_most
            FOR UPDATE SKIP LOCKED
        )
        SELECT first.created_at, first.id FROM first WHERE first.is_alone
        UNION ALL
        SELECT together.created_at, together.id FROM together
    LOOP
        -- One by one: a join would be planned for the empty queue of a new month, and then read all of the tenant.
        RETURN QUERY
        UPDATE workflow_events_outbox q
        SET status = 'processing', attempts = q.attempts + 1, claim_id = own_claim,
            lease_until = now() + make_interval(secs => lease_seconds)
        WHERE q.tenant_id = current_tenant_id() AND q.created_at = chosen.created_at AND q.id = chosen.id
        RETURNING q.*;
    END LOOP;
END
$$;

CREATE OR REPLACE FUNCTION claim_effects(own_claim uuid, since timestamptz, at_most integer, alone_from integer, lease_seconds double precision)
    RETURNS SETOF workflow_side_effects_outbox
    LANGUAGE plpgsql
    SET search_path = pg_catalog, public, pg_temp
    SET plan_cache_mode = 'force_generic_plan'
    SET enable_seqscan = 'off'
    SET enable_bitmapscan = 'off'
    SET enable_hashjoin = 'off'
    SET enable_mergejoin = 'off'
AS $$
DECLARE
    chosen record;
BEGIN
    -- The first due row and those after it. A row that failed too often goes alone, so that no other fails with it.
    FOR chosen IN
        WITH first AS (
            SELECT q.created_at, q.id, q.attempts FROM workflow_side_effects_outbox q
            WHERE q.tenant_id = current_tenant_id() AND q.status IN ('pending', 'failed') AND q.due_at BETWEEN since AND now()
            ORDER BY q.due_at, q.id
            LIMIT 1
            FOR UPDATE SKIP LOCKED
        ), together AS (
            SELECT q.created_at, q.id FROM workflow_side_effects_outbox q
            WHERE q.tenant_id = current_tenant_id() AND q.status IN ('pending', 'failed') AND q.due_at BETWEEN since AND now()
              AND q.attempts < alone_from AND (SELECT first.attempts FROM first) < alone_from
            ORDER BY q.due_at, q.id
            LIMIT at_most
            FOR UPDATE SKIP LOCKED
        )
        SELECT first.created_at, first.id FROM first WHERE first.attempts >= alone_from
        UNION ALL
        SELECT together.created_at, together.id FROM together
    LOOP
        -- One by one: a join would be planned for the empty queue of a new month, and then read all of the tenant.
        RETURN QUERY
        UPDATE workflow_side_effects_outbox q
        SET status = 'processing', attempts = q.attempts + 1, claim_id = own_claim,
            lease_until = now() + make_interval(secs => lease_seconds), claimed_at = now(),
            left_at = coalesce(q.left_at, now())
        WHERE q.tenant_id = current_tenant_id() AND q.created_at = chosen.created_at AND q.id = chosen.id
        RETURNING q.*;
    END LOOP;
END
$$;

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
            WHERE r.tenant_id = t.tenant_id AND r.role = ANY (role_names))
    INTO now, tenant_name, settings, epoch, xid, permissions
    FROM tenants t
    WHERE t.tenant_id = current_tenant_id() AND t.status = 'active';
    IF NOT FOUND THEN
        RETURN;
    END IF;
    -- A read names no document: this part is then neither planned nor begun.
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
                    WHERE s.tenant_id = d.tenant_id AND s.hash = d.creator_responsible) AS creator_responsible,
                   (SELECT s.persons FROM responsible_sets s
                    WHERE s.tenant_id = d.tenant_id AND s.hash = d.editor_responsible) AS editor_responsible,
                   read_persons(q.responsible) AS requester_responsible,
                   read_member(q.actor_id) AS requester_member,
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

CREATE OR REPLACE FUNCTION write_steps(step_rows json, usual bytea, written_at timestamptz)
    RETURNS bigint
    LANGUAGE plpgsql
    SET search_path = pg_catalog, public, pg_temp
    SET plan_cache_mode = 'force_generic_plan'
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
               step.resume_at, step.waiting_for_event_key, step.snapshot_version_id, step.trace_id,
               coalesce(step.responsible, usual)
        FROM step JOIN receipt ON receipt.step_execution_id = step.id
    )
    SELECT count(*) INTO written FROM receipt;
    RETURN written;
END
$$;
