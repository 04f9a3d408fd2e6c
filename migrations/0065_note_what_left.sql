-- phase: expand
-- transaction: on
--
-- Whether something has left is a fact of its own. It was read from the attempts, from the answer and from a sentence, and
-- an attempt that had sent nothing counted too. `left_at` is the moment from which it may have left: a claim sets it, and
-- the worker takes it back where nothing went out. `lost_at` says that the end of the last attempt is not known. 0066 fills
-- both for what is there. The release before asks may_have_left() until it is replaced.

-- up
ALTER TABLE workflow_side_effects_outbox ADD COLUMN claimed_at timestamptz;
ALTER TABLE workflow_side_effects_outbox ADD COLUMN left_at timestamptz;
ALTER TABLE workflow_side_effects_outbox ADD COLUMN lost_at timestamptz;
GRANT UPDATE (claimed_at, left_at, lost_at) ON workflow_side_effects_outbox TO signet_worker;
GRANT UPDATE (lost_at) ON workflow_side_effects_outbox TO signet_janitor;

-- What was withdrawn keeps its status; whether it had left may become known later.
CREATE OR REPLACE FUNCTION keep_withdrawn() RETURNS trigger LANGUAGE plpgsql
    SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF OLD.status = 'withdrawn' AND NEW.left_at IS NOT DISTINCT FROM OLD.left_at THEN
        RETURN NULL;
    END IF;
    IF OLD.status = 'processing' AND NEW.status IN ('pending', 'failed') THEN
        NEW.status := 'withdrawn';
    END IF;
    RETURN NEW;
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

-- down
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
            lease_until = now() + make_interval(secs => lease_seconds)
        WHERE q.tenant_id = current_tenant_id() AND q.created_at = chosen.created_at AND q.id = chosen.id
        RETURNING q.*;
    END LOOP;
END
$$;

CREATE OR REPLACE FUNCTION keep_withdrawn() RETURNS trigger LANGUAGE plpgsql
    SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF OLD.status = 'withdrawn' THEN
        RETURN NULL;
    END IF;
    IF OLD.status = 'processing' AND NEW.status IN ('pending', 'failed') THEN
        NEW.status := 'withdrawn';
    END IF;
    RETURN NEW;
END
$$;
ALTER TABLE workflow_side_effects_outbox DROP COLUMN lost_at;
ALTER TABLE workflow_side_effects_outbox DROP COLUMN left_at;
ALTER TABLE workflow_side_effects_outbox DROP COLUMN claimed_at;
