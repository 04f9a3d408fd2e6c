-- phase: expand
-- transaction: on
--
-- A claim is planned once a session and not each time: its plan reads the checks and indexes of every partition, and
-- took half of what a wave of one document asks of the server (decision 0037).

-- up
CREATE FUNCTION claim_events(own_claim uuid, since timestamptz, at_most integer, alone_from integer, lease_seconds double precision)
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
    -- The first due row and those after it. A row that failed too often goes alone, so that no other fails with it.
    FOR chosen IN
        WITH first AS (
            SELECT q.created_at, q.id, q.attempts FROM workflow_events_outbox q
            WHERE q.tenant_id = current_tenant_id() AND q.status IN ('pending', 'failed') AND q.due_at BETWEEN since AND now()
            ORDER BY q.due_at, q.id
            LIMIT 1
            FOR UPDATE SKIP LOCKED
        ), together AS (
            SELECT q.created_at, q.id FROM workflow_events_outbox q
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
        UPDATE workflow_events_outbox q
        SET status = 'processing', attempts = q.attempts + 1, claim_id = own_claim,
            lease_until = now() + make_interval(secs => lease_seconds)
        WHERE q.tenant_id = current_tenant_id() AND q.created_at = chosen.created_at AND q.id = chosen.id
        RETURNING q.*;
    END LOOP;
END
$$;

CREATE FUNCTION claim_effects(own_claim uuid, since timestamptz, at_most integer, alone_from integer, lease_seconds double precision)
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

GRANT EXECUTE ON FUNCTION claim_events(uuid, timestamptz, integer, integer, double precision),
    claim_effects(uuid, timestamptz, integer, integer, double precision) TO signet_worker;

-- down
DROP FUNCTION claim_effects(uuid, timestamptz, integer, integer, double precision);
DROP FUNCTION claim_events(uuid, timestamptz, integer, integer, double precision);
