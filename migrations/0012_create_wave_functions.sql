-- phase: expand
-- transaction: on
--
-- The three statements of a wave as functions: what it opens with, what each round writes, what it ends with.
-- Their statements are planned once a session (docs/decisions/0008). They run with the rights of whoever calls.

-- up
-- The steps of an instance that are still open: what a wave reads beside the instance itself.
CREATE INDEX workflow_step_executions_open ON workflow_step_executions (tenant_id, instance_id)
    WHERE status IN ('pending', 'running');

-- A plan that is made while a table is nearly empty finds every index equally good, and a session keeps it. An index
-- that says "where its second column is not null" can only be chosen by a statement that names that column: what
-- looks for a row by its key is left with the key.
DROP INDEX workflow_instances_by_entity, workflow_instances_by_status, workflow_instances_by_definition,
    workflow_instances_by_subject, workflow_step_executions_by_instance, workflow_events_outbox_by_instance,
    workflow_side_effects_outbox_by_instance, workflow_side_effects_outbox_by_step;
CREATE INDEX workflow_instances_by_entity ON workflow_instances (tenant_id, entity_type, entity_id, id)
    WHERE entity_id IS NOT NULL;
-- Without the time of the last change: that would be a new entry for every wave.
CREATE INDEX workflow_instances_by_status ON workflow_instances (tenant_id, status, id) WHERE status IS NOT NULL;
CREATE INDEX workflow_instances_by_definition ON workflow_instances (tenant_id, definition_id, id)
    WHERE definition_id IS NOT NULL;
CREATE INDEX workflow_instances_by_subject ON workflow_instances (tenant_id, subject_id, id)
    WHERE subject_id IS NOT NULL;
CREATE INDEX workflow_step_executions_by_instance ON workflow_step_executions (tenant_id, instance_id, seq)
    WHERE instance_id IS NOT NULL;
CREATE INDEX workflow_events_outbox_by_instance ON workflow_events_outbox (tenant_id, instance_id, id)
    WHERE instance_id IS NOT NULL;
CREATE INDEX workflow_side_effects_outbox_by_instance ON workflow_side_effects_outbox (tenant_id, instance_id, id)
    WHERE instance_id IS NOT NULL;
CREATE INDEX workflow_side_effects_outbox_by_step ON workflow_side_effects_outbox (tenant_id, step_execution_id)
    WHERE step_execution_id IS NOT NULL;

-- A published definition is not emptied away either.
CREATE TRIGGER reject_truncate BEFORE TRUNCATE ON workflow_definitions
    FOR EACH STATEMENT EXECUTE FUNCTION reject_any_change();
CREATE TRIGGER reject_truncate BEFORE TRUNCATE ON contracts
    FOR EACH STATEMENT EXECUTE FUNCTION reject_any_change();

-- Locks in the order that everybody keeps to, each in a statement of its own: the claimed triggers that are still
-- ours, then, only trying, the instances (WF-01), their documents, their rows; and reads only then, so that what is
-- read is what the locks' former holders committed. Nothing when the tenant is not active.
CREATE FUNCTION open_wave(trigger_times timestamptz[], trigger_ids uuid[], own_claim uuid)
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

-- A receipt first, and a step only where the receipt was new (WF-02, WF-14). How many were: fewer than were sent
-- means that somebody has been here before, and the caller must not act on any of them.
CREATE FUNCTION write_steps(step_rows json, written_at timestamptz) RETURNS bigint
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

-- What is left to be written when the last round is over; the caller's transaction ends with it.
CREATE FUNCTION end_wave(step_rows json, instance_rows json, effect_rows json, history_rows json,
                         trigger_times timestamptz[], trigger_ids uuid[], written_at timestamptz) RETURNS void
    LANGUAGE plpgsql VOLATILE
    -- Each UPDATE names the keys (or the times, of which there are few) beside the join, so that every plan that
    -- there is finds its rows by them, however large the tenant has become since it was made.
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

GRANT EXECUTE ON FUNCTION open_wave(timestamptz[], uuid[], uuid), write_steps(json, timestamptz),
    end_wave(json, json, json, json, timestamptz[], uuid[], timestamptz) TO signet_worker;

-- down
DROP FUNCTION end_wave(json, json, json, json, timestamptz[], uuid[], timestamptz);
DROP FUNCTION write_steps(json, timestamptz);
DROP FUNCTION open_wave(timestamptz[], uuid[], uuid);
DROP TRIGGER reject_truncate ON contracts;
DROP TRIGGER reject_truncate ON workflow_definitions;
DROP INDEX workflow_step_executions_open;
DROP INDEX workflow_instances_by_entity, workflow_instances_by_status, workflow_instances_by_definition,
    workflow_instances_by_subject, workflow_step_executions_by_instance, workflow_events_outbox_by_instance,
    workflow_side_effects_outbox_by_instance, workflow_side_effects_outbox_by_step;
CREATE INDEX workflow_instances_by_entity ON workflow_instances (tenant_id, entity_type, entity_id, id);
CREATE INDEX workflow_instances_by_status ON workflow_instances (tenant_id, status, updated_at);
CREATE INDEX workflow_instances_by_definition ON workflow_instances (tenant_id, definition_id, id);
CREATE INDEX workflow_instances_by_subject ON workflow_instances (tenant_id, subject_id, id);
CREATE INDEX workflow_step_executions_by_instance ON workflow_step_executions (tenant_id, instance_id, seq);
CREATE INDEX workflow_events_outbox_by_instance ON workflow_events_outbox (tenant_id, instance_id, id);
CREATE INDEX workflow_side_effects_outbox_by_instance ON workflow_side_effects_outbox (tenant_id, instance_id, id);
CREATE INDEX workflow_side_effects_outbox_by_step ON workflow_side_effects_outbox (tenant_id, step_execution_id);
