-- phase: expand
-- transaction: on
-- role: admin
--
-- Acts on effects. An operator discards a dead letter with a reason, of either queue; withdraws what was not delivered;
-- and has it tried now. What an endpoint that is switched off should get is held, and its step is told of that. It
-- needs an admin, because the function that looks for tenants with something to do belongs to a role of its own.

-- up
SET LOCAL ROLE signet_owner;

ALTER TABLE workflow_events_outbox
    ADD COLUMN discard_reason text CHECK (char_length(discard_reason) BETWEEN 1 AND 4000),
    DROP CONSTRAINT workflow_events_outbox_status_check,
    ADD CONSTRAINT workflow_events_outbox_status_check CHECK (status IN (
        'pending', 'processing', 'completed', 'failed', 'dead_letter', 'discarded')),
    ADD CONSTRAINT workflow_events_outbox_discarded CHECK ((status = 'discarded') = (discard_reason IS NOT NULL));
DROP TRIGGER restrict_status_regression ON workflow_events_outbox;
CREATE TRIGGER restrict_status_regression BEFORE UPDATE ON workflow_events_outbox
    FOR EACH ROW EXECUTE FUNCTION restrict_status_regression(
        'pending>processing;processing>completed,failed,pending;'
        'failed>pending,processing,dead_letter;dead_letter>pending,discarded');

ALTER TABLE workflow_side_effects_outbox
    -- Since when its endpoint, which is switched off, keeps it waiting. It is looked at again from time to time.
    ADD COLUMN held_at timestamptz,
    -- Why an operator withdrew it, where one did: its step still waits, and is told.
    ADD COLUMN withdraw_reason text CHECK (char_length(withdraw_reason) BETWEEN 1 AND 4000),
    ADD CONSTRAINT workflow_side_effects_outbox_withdrawn CHECK (withdraw_reason IS NULL OR withdrawn_at IS NOT NULL);
-- Answers "what does this endpoint hold".
CREATE INDEX workflow_side_effects_outbox_held ON workflow_side_effects_outbox (tenant_id, endpoint, id)
    WHERE held_at IS NOT NULL AND status IN ('pending', 'failed');

-- What ended without a delivery is kept as long as what was delivered. Every writer that ends it notes the moment.
CREATE FUNCTION note_dropped() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, public, pg_temp
AS $$
BEGIN
    NEW.completed_at := now();
    RETURN NEW;
END
$$;
CREATE TRIGGER note_dropped BEFORE UPDATE ON workflow_events_outbox FOR EACH ROW
    WHEN (NEW.status = 'discarded' AND OLD.status <> NEW.status) EXECUTE FUNCTION note_dropped();
CREATE TRIGGER note_dropped BEFORE UPDATE ON workflow_side_effects_outbox FOR EACH ROW
    WHEN (NEW.status IN ('withdrawn', 'discarded') AND OLD.status <> NEW.status) EXECUTE FUNCTION note_dropped();
CREATE INDEX workflow_events_outbox_dropped ON workflow_events_outbox (tenant_id, completed_at)
    WHERE status = 'discarded';
CREATE INDEX workflow_side_effects_outbox_dropped ON workflow_side_effects_outbox (tenant_id, completed_at)
    WHERE status IN ('withdrawn', 'discarded');

-- A call that is held can be skipped while its step waits, and an answer can be late: then it is not sent.
DROP TRIGGER withdraw_effects ON workflow_step_executions;
CREATE TRIGGER withdraw_effects AFTER UPDATE OF status ON workflow_step_executions FOR EACH ROW
    WHEN (NEW.node_type IN ('webhook_out', 'notification') AND OLD.status = 'running'
          AND (NEW.status IN ('cancelled', 'skipped') OR NEW.output_json #> '{evidence,advanced_by}' IS NOT NULL
               OR NEW.output_json #> '{evidence,timed_out}' IS NOT NULL))
    EXECUTE FUNCTION withdraw_effects_of_step();

-- As before, with what is held, and with what was withdrawn or discarded while its step waits.
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
               SELECT e.step_execution_id,
                      CASE WHEN e.held_at IS NOT NULL AND e.status IN ('pending', 'processing', 'failed')
                           THEN 'held' ELSE e.status END AS status,
                      e.response_json, coalesce(e.withdraw_reason, e.error) AS error
               FROM workflow_step_executions s
               JOIN workflow_side_effects_outbox e
                 ON e.tenant_id = s.tenant_id AND e.step_execution_id = s.id
               WHERE s.tenant_id = current_tenant_id() AND s.instance_id = ANY (locked)
                 AND s.status IN ('pending', 'running') AND s.node_type IN ('webhook_out', 'notification')
                 AND (e.status IN ('completed', 'dead_letter', 'withdrawn', 'discarded')
                      OR e.held_at IS NOT NULL)
           ) AS found)
    FROM lock_and_read_documents(coalesce(entities, '{}'), role_names) AS base;
END
$$;

-- As before, with what ended without a delivery.
CREATE OR REPLACE FUNCTION prune_outbox(queue text, kept interval, at_most integer) RETURNS integer
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp
    SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
AS $$
DECLARE
    pruned integer;
BEGIN
    PERFORM require_bounds(kept, interval '1 day', at_most);
    IF queue = 'events' THEN
        WITH done AS MATERIALIZED (
            SELECT o.created_at, o.id FROM workflow_events_outbox o
            WHERE o.tenant_id = current_tenant_id() AND o.status = 'completed' AND o.completed_at < now() - kept
            ORDER BY o.completed_at LIMIT at_most FOR UPDATE SKIP LOCKED
        ), dropped AS MATERIALIZED (
            SELECT o.created_at, o.id FROM workflow_events_outbox o
            WHERE o.tenant_id = current_tenant_id() AND o.status = 'discarded'
              AND o.completed_at < now() - kept
            ORDER BY o.completed_at LIMIT at_most FOR UPDATE SKIP LOCKED
        ), old AS MATERIALIZED (
            SELECT created_at, id FROM done UNION ALL SELECT created_at, id FROM dropped LIMIT at_most
        )
        DELETE FROM workflow_events_outbox q USING old
        WHERE q.tenant_id = current_tenant_id() AND q.created_at = old.created_at AND q.id = old.id;
    ELSIF queue = 'effects' THEN
        WITH done AS MATERIALIZED (
            SELECT o.created_at, o.id FROM workflow_side_effects_outbox o
            WHERE o.tenant_id = current_tenant_id() AND o.status = 'completed' AND o.completed_at < now() - kept
              AND NOT EXISTS (
                  SELECT FROM workflow_step_executions s
                  WHERE s.tenant_id = current_tenant_id() AND s.instance_id = o.instance_id
                    AND s.id = o.step_execution_id AND s.status IN ('pending', 'running'))
            ORDER BY o.completed_at LIMIT at_most FOR UPDATE SKIP LOCKED
        ), dropped AS MATERIALIZED (
            SELECT o.created_at, o.id FROM workflow_side_effects_outbox o
            WHERE o.tenant_id = current_tenant_id() AND o.status IN ('withdrawn', 'discarded')
              AND o.completed_at < now() - kept
              AND NOT EXISTS (
                  SELECT FROM workflow_step_executions s
                  WHERE s.tenant_id = current_tenant_id() AND s.instance_id = o.instance_id
                    AND s.id = o.step_execution_id AND s.status IN ('pending', 'running'))
            ORDER BY o.completed_at LIMIT at_most FOR UPDATE SKIP LOCKED
        ), old AS MATERIALIZED (
            SELECT created_at, id FROM done UNION ALL SELECT created_at, id FROM dropped LIMIT at_most
        )
        DELETE FROM workflow_side_effects_outbox q USING old
        WHERE q.tenant_id = current_tenant_id() AND q.created_at = old.created_at AND q.id = old.id;
    ELSE
        RAISE EXCEPTION 'no such queue: %', queue USING ERRCODE = '22023';
    END IF;
    GET DIAGNOSTICS pruned = ROW_COUNT;
    RETURN pruned;
END
$$;

GRANT UPDATE (discard_reason) ON workflow_events_outbox TO signet_api;
GRANT UPDATE (held_at, withdraw_reason) ON workflow_side_effects_outbox TO signet_api;
GRANT UPDATE (held_at, max_attempts) ON workflow_side_effects_outbox TO signet_worker;

RESET ROLE;

-- down
SET LOCAL ROLE signet_owner;
REVOKE UPDATE (discard_reason) ON workflow_events_outbox FROM signet_api;
REVOKE UPDATE (held_at, withdraw_reason) ON workflow_side_effects_outbox FROM signet_api;
REVOKE UPDATE (held_at, max_attempts) ON workflow_side_effects_outbox FROM signet_worker;
CREATE OR REPLACE FUNCTION prune_outbox(queue text, kept interval, at_most integer) RETURNS integer
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp
    SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
AS $$
DECLARE
    pruned integer;
BEGIN
    PERFORM require_bounds(kept, interval '1 day', at_most);
    IF queue = 'events' THEN
        WITH old AS MATERIALIZED (
            SELECT o.created_at, o.id FROM workflow_events_outbox o
            WHERE o.tenant_id = current_tenant_id() AND o.status = 'completed' AND o.completed_at < now() - kept
            ORDER BY o.completed_at LIMIT at_most FOR UPDATE SKIP LOCKED
        )
        DELETE FROM workflow_events_outbox q USING old
        WHERE q.tenant_id = current_tenant_id() AND q.created_at = old.created_at AND q.id = old.id;
    ELSIF queue = 'effects' THEN
        WITH old AS MATERIALIZED (
            SELECT o.created_at, o.id FROM workflow_side_effects_outbox o
            WHERE o.tenant_id = current_tenant_id() AND o.status = 'completed' AND o.completed_at < now() - kept
              AND NOT EXISTS (
                  SELECT FROM workflow_step_executions s
                  WHERE s.tenant_id = current_tenant_id() AND s.instance_id = o.instance_id
                    AND s.id = o.step_execution_id AND s.status IN ('pending', 'running'))
            ORDER BY o.completed_at LIMIT at_most FOR UPDATE SKIP LOCKED
        )
        DELETE FROM workflow_side_effects_outbox q USING old
        WHERE q.tenant_id = current_tenant_id() AND q.created_at = old.created_at AND q.id = old.id;
    ELSE
        RAISE EXCEPTION 'no such queue: %', queue USING ERRCODE = '22023';
    END IF;
    GET DIAGNOSTICS pruned = ROW_COUNT;
    RETURN pruned;
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
DROP TRIGGER withdraw_effects ON workflow_step_executions;
CREATE TRIGGER withdraw_effects AFTER UPDATE OF status ON workflow_step_executions FOR EACH ROW
    WHEN (NEW.node_type IN ('webhook_out', 'notification') AND OLD.status = 'running'
          AND (NEW.status = 'cancelled' OR NEW.output_json #> '{evidence,advanced_by}' IS NOT NULL))
    EXECUTE FUNCTION withdraw_effects_of_step();
DROP INDEX workflow_events_outbox_dropped;
DROP INDEX workflow_side_effects_outbox_dropped;
DROP TRIGGER note_dropped ON workflow_events_outbox;
DROP TRIGGER note_dropped ON workflow_side_effects_outbox;
DROP FUNCTION note_dropped();
DROP INDEX workflow_side_effects_outbox_held;
ALTER TABLE workflow_side_effects_outbox
    DROP CONSTRAINT workflow_side_effects_outbox_withdrawn,
    DROP COLUMN withdraw_reason,
    DROP COLUMN held_at;
DROP TRIGGER restrict_status_regression ON workflow_events_outbox;
CREATE TRIGGER restrict_status_regression BEFORE UPDATE ON workflow_events_outbox
    FOR EACH ROW EXECUTE FUNCTION restrict_status_regression(
        'pending>processing;processing>completed,failed,pending;'
        'failed>pending,processing,dead_letter;dead_letter>pending');
ALTER TABLE workflow_events_outbox
    DROP CONSTRAINT workflow_events_outbox_discarded,
    DROP CONSTRAINT workflow_events_outbox_status_check,
    ADD CONSTRAINT workflow_events_outbox_status_check CHECK (status IN (
        'pending', 'processing', 'completed', 'failed', 'dead_letter')),
    DROP COLUMN discard_reason;
RESET ROLE;
