-- phase: expand
-- transaction: on
-- role: admin
--
-- Records of who gave and took eligibility: roles, membership, reporting lines, delegations and seats. A vote is judged
-- by them. Seats can be handed over from a member who is disabled. It needs an admin, because the function that looks
-- for tenants with something to do belongs to a role of its own.

-- up
SET LOCAL ROLE signet_owner;

CREATE TABLE eligibility_changes (
    tenant_id     uuid NOT NULL REFERENCES tenants,
    -- Its beginning is the time, so that ids sort by it.
    id            uuid NOT NULL,
    -- The moment of the statement and not of the transaction, which may have waited for a lock.
    changed_at    timestamptz NOT NULL,
    kind          text NOT NULL CHECK (kind IN (
                      'role_given', 'role_taken', 'member_enabled', 'member_disabled', 'manager_set',
                      'delegation_given', 'delegation_revoked', 'seat_given', 'role_permissions_changed',
                      'role_deleted')),
    -- Whose eligibility it is. A member who is disabled has a row for each role, and one without a role.
    user_id       text,
    role          text,
    -- The person whose manager it is, or the other side of a delegation or a seat.
    other_user_id text,
    -- The people who are responsible for the change.
    persons       text[] NOT NULL CHECK (cardinality(persons) BETWEEN 1 AND 200),
    actor_id      text NOT NULL,
    PRIMARY KEY (tenant_id, id),
    CHECK (user_id IS NOT NULL OR role IS NOT NULL)
);
CREATE INDEX eligibility_changes_of_user ON eligibility_changes (tenant_id, user_id, changed_at)
    WHERE user_id IS NOT NULL;
CREATE INDEX eligibility_changes_of_role ON eligibility_changes (tenant_id, role, changed_at) WHERE role IS NOT NULL;
CREATE INDEX eligibility_changes_by_time ON eligibility_changes (tenant_id, changed_at);

-- Only prune_eligibility_changes() removes rows. It does so in the name of its owner.
CREATE FUNCTION reject_eligibility_rewriting() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, public, pg_temp
AS $$
BEGIN
    IF TG_OP = 'DELETE' AND current_user = 'signet_owner'
       AND current_setting('signet.pruning', true) = 'eligibility_changes' THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'rows of % are written once: % is refused', TG_TABLE_NAME, lower(TG_OP)
        USING ERRCODE = 'SG002';
END
$$;
CREATE TRIGGER reject_change BEFORE UPDATE OR DELETE ON eligibility_changes
    FOR EACH ROW EXECUTE FUNCTION reject_eligibility_rewriting();
CREATE TRIGGER reject_truncate BEFORE TRUNCATE ON eligibility_changes
    FOR EACH STATEMENT EXECUTE FUNCTION reject_eligibility_rewriting();

CALL isolate_tenant_table('eligibility_changes');
GRANT SELECT, INSERT ON eligibility_changes TO signet_api;
GRANT SELECT ON eligibility_changes TO signet_worker;
CALL distribute_tenant_tables('eligibility_changes');

-- List what was changed since a moment by one of these persons, about these people or these roles. The newest of each
-- kind of change is enough. It can stand in a subselect of the statement that judges a vote.
CREATE FUNCTION eligibility_changes_since(since timestamptz, user_ids text[], roles text[], concerned text[])
    RETURNS TABLE (kind text, changed_at timestamptz, actor_id text, persons text[], user_id text, role text,
                   other_user_id text)
    LANGUAGE sql STABLE PARALLEL SAFE ROWS 10
BEGIN ATOMIC
    SELECT DISTINCT ON (c.kind, c.user_id, c.role, c.other_user_id, c.persons)
           c.kind, c.changed_at, c.actor_id, c.persons, c.user_id, c.role, c.other_user_id
    FROM (
        SELECT u.* FROM eligibility_changes u
        WHERE u.tenant_id = current_tenant_id() AND u.user_id = ANY ($2) AND u.changed_at >= $1
        UNION ALL
        SELECT r.* FROM eligibility_changes r
        WHERE r.tenant_id = current_tenant_id() AND r.role = ANY ($3) AND r.changed_at >= $1
          AND r.kind IN ('role_taken', 'member_disabled', 'role_permissions_changed', 'role_deleted')
    ) AS c
    WHERE c.persons && $4
    ORDER BY c.kind, c.user_id, c.role, c.other_user_id, c.persons, c.changed_at DESC
    LIMIT 1000;
END;
REVOKE EXECUTE ON FUNCTION eligibility_changes_since(timestamptz, text[], text[], text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION eligibility_changes_since(timestamptz, text[], text[], text[]) TO signet_api, signet_worker;

-- What is newer than the oldest open request stays: a vote about it may still have to be judged. Requests that old are
-- found by their steps, which are open as long and stand in partitions by the month.
CREATE FUNCTION prune_eligibility_changes(kept interval, at_most integer) RETURNS integer
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp
    SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
AS $$
DECLARE
    cutoff timestamptz;
    pruned integer;
BEGIN
    PERFORM require_bounds(kept, interval '1 day', at_most);
    cutoff := least(now() - kept, (
        SELECT min(q.created_at)
        FROM workflow_step_executions s
        JOIN approval_requests q ON q.tenant_id = s.tenant_id AND q.step_execution_id = s.id AND q.status = 'open'
        WHERE s.tenant_id = current_tenant_id() AND s.status IN ('pending', 'running') AND s.node_type = 'approval'
          AND s.created_at < now() - kept + interval '1 day'));
    PERFORM set_config('signet.pruning', 'eligibility_changes', true);
    WITH old AS MATERIALIZED (
        SELECT o.id FROM eligibility_changes o
        WHERE o.tenant_id = current_tenant_id() AND o.changed_at < cutoff
        ORDER BY o.changed_at LIMIT at_most FOR UPDATE SKIP LOCKED
    )
    DELETE FROM eligibility_changes c USING old WHERE c.tenant_id = current_tenant_id() AND c.id = old.id;
    GET DIAGNOSTICS pruned = ROW_COUNT;
    PERFORM set_config('signet.pruning', '', true);
    RETURN pruned;
END
$$;
REVOKE EXECUTE ON FUNCTION prune_eligibility_changes(interval, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION prune_eligibility_changes(interval, integer) TO signet_janitor;

-- The person that held the seat before, where it was handed over.
ALTER TABLE approval_seats ADD COLUMN handed_over_from text;

-- Hand the open seats of a disabled member over to an active one, who takes no second seat in a stage. Requests are
-- locked first and in order, as a vote locks them. So nobody decides from a seat that is on its way.
CREATE FUNCTION hand_over_seats(from_user text, to_user text, at_most integer)
    RETURNS TABLE (request_id uuid, stage integer, "position" integer)
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    asked uuid[];
BEGIN
    IF at_most IS NULL OR at_most NOT BETWEEN 1 AND 10000 OR from_user IS NULL OR to_user IS NULL
       OR NOT EXISTS (SELECT FROM members m WHERE m.tenant_id = current_tenant_id() AND m.user_id = from_user
                        AND m.status = 'disabled')
       OR NOT EXISTS (SELECT FROM members m WHERE m.tenant_id = current_tenant_id() AND m.user_id = to_user
                        AND m.status = 'active') THEN
        RAISE EXCEPTION 'seats go from a disabled member to an active one, at most 10000 at a time'
            USING ERRCODE = '22023';
    END IF;
    asked := ARRAY(
        SELECT DISTINCT s.request_id FROM approval_seats s
        WHERE s.tenant_id = current_tenant_id() AND s.holder_user_id = from_user AND s.status = 'open'
        ORDER BY s.request_id LIMIT at_most);
    PERFORM FROM approval_requests q
    WHERE q.tenant_id = current_tenant_id() AND q.id = ANY (asked)
    ORDER BY q.id FOR NO KEY UPDATE;
    RETURN QUERY
    UPDATE approval_seats s
    SET holder_user_id = to_user, handed_over_from = coalesce(s.handed_over_from, from_user)
    FROM approval_requests q
    WHERE s.tenant_id = current_tenant_id() AND s.request_id = ANY (asked) AND s.holder_user_id = from_user
      AND s.status = 'open'
      AND q.tenant_id = s.tenant_id AND q.id = s.request_id AND q.status = 'open' AND q.stage = s.stage
      AND NOT EXISTS (
          SELECT FROM approval_seats taken
          WHERE taken.tenant_id = s.tenant_id AND taken.request_id = s.request_id AND taken.stage = s.stage
            AND to_user IN (taken.holder_user_id, taken.decided_by, taken.on_behalf_of))
    RETURNING s.request_id, s.stage, s.position;
END
$$;
REVOKE EXECUTE ON FUNCTION hand_over_seats(text, text, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hand_over_seats(text, text, integer) TO signet_api;

CREATE POLICY dispatch ON eligibility_changes FOR SELECT TO signet_dispatch USING (true);
GRANT SELECT (tenant_id, changed_at) ON eligibility_changes TO signet_dispatch;
RESET ROLE;
GRANT CREATE ON SCHEMA public TO signet_dispatch;
SET LOCAL ROLE signet_dispatch;

-- As before, with what eligibility was changed long ago.
CREATE OR REPLACE FUNCTION housekeeping_tenants(about text, kept interval, after uuid, at_most integer)
    RETURNS TABLE (tenant_id uuid, due_count integer)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp
    -- A tenant costs one probe of an index, in spite of any statistics.
    SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off
AS $$
DECLARE
    probe text := CASE about
        WHEN 'done_events' THEN
            'workflow_events_outbox x WHERE x.tenant_id = t.tenant_id AND x.status = ''completed'' '
            'AND x.completed_at < now() - $1'
        WHEN 'done_effects' THEN
            'workflow_side_effects_outbox x WHERE x.tenant_id = t.tenant_id AND x.status = ''completed'' '
            'AND x.completed_at < now() - $1'
        WHEN 'expired_events' THEN
            'workflow_events_outbox x WHERE x.tenant_id = t.tenant_id AND x.status = ''processing'' '
            'AND x.lease_until <= now() - $1'
        WHEN 'expired_effects' THEN
            'workflow_side_effects_outbox x WHERE x.tenant_id = t.tenant_id AND x.status = ''processing'' '
            'AND x.lease_until <= now() - $1'
        -- An instance has one of these from its birth on.
        WHEN 'receipts' THEN 'workflow_outbox_receipts x WHERE x.tenant_id = t.tenant_id'
        WHEN 'idempotency_keys' THEN
            'idempotency_keys x WHERE x.tenant_id = t.tenant_id AND x.created_at < now() - $1'
        WHEN 'inbound_events' THEN
            'workflow_inbound_events x WHERE x.tenant_id = t.tenant_id AND x.expires_at < now() - $1'
        WHEN 'notifications' THEN
            'notifications x WHERE x.tenant_id = t.tenant_id AND x.read_at < now() - $1'
        WHEN 'quota_meters' THEN
            'quota_meters x WHERE x.tenant_id = t.tenant_id AND x.full_at < now() - $1'
        WHEN 'eligibility_changes' THEN
            'eligibility_changes x WHERE x.tenant_id = t.tenant_id AND x.changed_at < now() - $1'
        WHEN 'deleted_documents' THEN
            'documents x WHERE x.tenant_id = t.tenant_id AND x.deleted_at < now() - $1 AND x.purged_at IS NULL'
        WHEN 'unsealed' THEN
            'audit_log x WHERE x.tenant_id = t.tenant_id AND (x.epoch, x.xid) >= ('
            'coalesce((SELECT s.epoch FROM audit_seals s WHERE s.tenant_id = t.tenant_id '
            'ORDER BY s.sequence DESC LIMIT 1), 0), '
            'coalesce((SELECT s.to_xid FROM audit_seals s WHERE s.tenant_id = t.tenant_id '
            'ORDER BY s.sequence DESC LIMIT 1), ''0''))'
        WHEN 'unanchored' THEN
            'audit_seals x WHERE x.tenant_id = t.tenant_id AND x.sequence > '
            'coalesce((SELECT a.sequence FROM audit_anchors a WHERE a.tenant_id = t.tenant_id), 0)'
        WHEN 'running' THEN
            'workflow_instances x WHERE x.tenant_id = t.tenant_id AND x.status = ''running'''
        WHEN 'overdue' THEN
            'workflow_instances x WHERE x.tenant_id = t.tenant_id AND x.status = ''running'' '
            'AND x.timeout_at < now() - $1'
    END;
BEGIN
    IF probe IS NULL OR kept IS NULL OR at_most IS NULL OR at_most NOT BETWEEN 1 AND 1000 THEN
        RAISE EXCEPTION 'nothing of that name, or not between 1 and 1000 tenants: %, %', about, at_most
            USING ERRCODE = '22023';
    END IF;
    RETURN QUERY EXECUTE format($due$
        SELECT t.tenant_id, found.due_count
        FROM tenants t
        CROSS JOIN LATERAL (
            SELECT count(*)::integer AS due_count FROM (SELECT FROM %s LIMIT 1000) AS counted
        ) AS found
        WHERE t.tenant_id > $2 AND found.due_count > 0
        ORDER BY t.tenant_id
        LIMIT $3
    $due$, probe) USING kept, coalesce(after, '00000000-0000-0000-0000-000000000000'::uuid), at_most;
END
$$;

RESET ROLE;
REVOKE CREATE ON SCHEMA public FROM signet_dispatch;

-- down
GRANT CREATE ON SCHEMA public TO signet_dispatch;
SET LOCAL ROLE signet_dispatch;
CREATE OR REPLACE FUNCTION housekeeping_tenants(about text, kept interval, after uuid, at_most integer)
    RETURNS TABLE (tenant_id uuid, due_count integer)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp
    -- A tenant costs one probe of an index, in spite of any statistics.
    SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off
AS $$
DECLARE
    probe text := CASE about
        WHEN 'done_events' THEN
            'workflow_events_outbox x WHERE x.tenant_id = t.tenant_id AND x.status = ''completed'' '
            'AND x.completed_at < now() - $1'
        WHEN 'done_effects' THEN
            'workflow_side_effects_outbox x WHERE x.tenant_id = t.tenant_id AND x.status = ''completed'' '
            'AND x.completed_at < now() - $1'
        WHEN 'expired_events' THEN
            'workflow_events_outbox x WHERE x.tenant_id = t.tenant_id AND x.status = ''processing'' '
            'AND x.lease_until <= now() - $1'
        WHEN 'expired_effects' THEN
            'workflow_side_effects_outbox x WHERE x.tenant_id = t.tenant_id AND x.status = ''processing'' '
            'AND x.lease_until <= now() - $1'
        -- An instance has one of these from its birth on.
        WHEN 'receipts' THEN 'workflow_outbox_receipts x WHERE x.tenant_id = t.tenant_id'
        WHEN 'idempotency_keys' THEN
            'idempotency_keys x WHERE x.tenant_id = t.tenant_id AND x.created_at < now() - $1'
        WHEN 'inbound_events' THEN
            'workflow_inbound_events x WHERE x.tenant_id = t.tenant_id AND x.expires_at < now() - $1'
        WHEN 'notifications' THEN
            'notifications x WHERE x.tenant_id = t.tenant_id AND x.read_at < now() - $1'
        WHEN 'quota_meters' THEN
            'quota_meters x WHERE x.tenant_id = t.tenant_id AND x.full_at < now() - $1'
        WHEN 'deleted_documents' THEN
            'documents x WHERE x.tenant_id = t.tenant_id AND x.deleted_at < now() - $1 AND x.purged_at IS NULL'
        WHEN 'unsealed' THEN
            'audit_log x WHERE x.tenant_id = t.tenant_id AND (x.epoch, x.xid) >= ('
            'coalesce((SELECT s.epoch FROM audit_seals s WHERE s.tenant_id = t.tenant_id '
            'ORDER BY s.sequence DESC LIMIT 1), 0), '
            'coalesce((SELECT s.to_xid FROM audit_seals s WHERE s.tenant_id = t.tenant_id '
            'ORDER BY s.sequence DESC LIMIT 1), ''0''))'
        WHEN 'unanchored' THEN
            'audit_seals x WHERE x.tenant_id = t.tenant_id AND x.sequence > '
            'coalesce((SELECT a.sequence FROM audit_anchors a WHERE a.tenant_id = t.tenant_id), 0)'
        WHEN 'running' THEN
            'workflow_instances x WHERE x.tenant_id = t.tenant_id AND x.status = ''running'''
        WHEN 'overdue' THEN
            'workflow_instances x WHERE x.tenant_id = t.tenant_id AND x.status = ''running'' '
            'AND x.timeout_at < now() - $1'
    END;
BEGIN
    IF probe IS NULL OR kept IS NULL OR at_most IS NULL OR at_most NOT BETWEEN 1 AND 1000 THEN
        RAISE EXCEPTION 'nothing of that name, or not between 1 and 1000 tenants: %, %', about, at_most
            USING ERRCODE = '22023';
    END IF;
    RETURN QUERY EXECUTE format($due$
        SELECT t.tenant_id, found.due_count
        FROM tenants t
        CROSS JOIN LATERAL (
            SELECT count(*)::integer AS due_count FROM (SELECT FROM %s LIMIT 1000) AS counted
        ) AS found
        WHERE t.tenant_id > $2 AND found.due_count > 0
        ORDER BY t.tenant_id
        LIMIT $3
    $due$, probe) USING kept, coalesce(after, '00000000-0000-0000-0000-000000000000'::uuid), at_most;
END
$$;

RESET ROLE;
REVOKE CREATE ON SCHEMA public FROM signet_dispatch;
SET LOCAL ROLE signet_owner;
REVOKE SELECT (tenant_id, changed_at) ON eligibility_changes FROM signet_dispatch;
DROP POLICY dispatch ON eligibility_changes;
DROP FUNCTION hand_over_seats(text, text, integer);
ALTER TABLE approval_seats DROP COLUMN handed_over_from;
DROP FUNCTION prune_eligibility_changes(interval, integer);
DROP FUNCTION eligibility_changes_since(timestamptz, text[], text[], text[]);
DROP TABLE eligibility_changes;
DROP FUNCTION reject_eligibility_rewriting();
RESET ROLE;
