-- phase: expand
-- transaction: on
-- role: admin
--
-- A trigger keeps how often an outage gave it back, since when, and why: what is given back for ever comes to light
-- (decision 0048). And the look for tenants with work may leave out what it has seen: while an old snapshot is open,
-- the index keeps what is done.

-- up
SET LOCAL ROLE signet_owner;
ALTER TABLE workflow_events_outbox
    ADD COLUMN given_back integer NOT NULL DEFAULT 0,
    ADD COLUMN given_back_since timestamptz,
    ADD COLUMN given_back_code text;
GRANT UPDATE (given_back, given_back_since, given_back_code) ON workflow_events_outbox TO signet_worker;

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

RESET ROLE;
GRANT CREATE ON SCHEMA public TO signet_dispatch;
SET LOCAL ROLE signet_dispatch;
-- The tenants with work that came after a look at everything: of a tenant in `known` what is due from its moment in
-- `known_since` on, of each other what is due from `since` on.
CREATE FUNCTION due_tenants(queue text, at_most integer, since timestamptz, known uuid[], known_since timestamptz[])
    RETURNS TABLE (tenant_id uuid, due_count integer, oldest_due_at timestamptz)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp
    SET enable_seqscan = 'off'
    SET enable_bitmapscan = 'off'
    SET jit = 'off'
AS $$
DECLARE
    queue_table text := CASE queue WHEN 'events' THEN 'workflow_events_outbox'
                                   WHEN 'effects' THEN 'workflow_side_effects_outbox' END;
BEGIN
    IF queue_table IS NULL OR at_most IS NULL OR at_most NOT BETWEEN 1 AND 1000 THEN
        RAISE EXCEPTION 'no such queue, or not between 1 and 1000 tenants: %, %', queue, at_most
            USING ERRCODE = '22023';
    END IF;
    RETURN QUERY EXECUTE format($due$
        WITH due AS (
            SELECT t.tenant_id, t.since, least(waiting.due_at, expired.lease_until) AS oldest
            FROM (SELECT t.tenant_id, coalesce(k.since, $2) AS since
                  FROM tenants t
                  LEFT JOIN unnest($3, $4) AS k (tenant_id, since) ON k.tenant_id = t.tenant_id) AS t
            LEFT JOIN LATERAL (
                SELECT q.due_at FROM %1$I q
                WHERE q.tenant_id = t.tenant_id AND q.status IN ('pending', 'failed') AND q.due_at BETWEEN t.since AND now()
                ORDER BY q.due_at LIMIT 1
            ) AS waiting ON true
            LEFT JOIN LATERAL (
                SELECT q.lease_until FROM %1$I q
                WHERE q.tenant_id = t.tenant_id AND q.status = 'processing' AND q.lease_until BETWEEN t.since AND now()
                ORDER BY q.lease_until LIMIT 1
            ) AS expired ON true
            WHERE waiting.due_at IS NOT NULL OR expired.lease_until IS NOT NULL
            ORDER BY oldest, t.tenant_id
            LIMIT $1
        )
        SELECT due.tenant_id,
               (SELECT count(*) FROM (
                    (SELECT FROM %1$I q
                     WHERE q.tenant_id = due.tenant_id AND q.status IN ('pending', 'failed')
                       AND q.due_at BETWEEN due.since AND now()
                     LIMIT 1000)
                    UNION ALL
                    (SELECT FROM %1$I q
                     WHERE q.tenant_id = due.tenant_id AND q.status = 'processing'
                       AND q.lease_until BETWEEN due.since AND now()
                     LIMIT 1000)
                    LIMIT 1000) AS counted)::integer,
               due.oldest
        FROM due
        ORDER BY due.oldest, due.tenant_id
    $due$, queue_table) USING at_most, since, known, known_since;
END
$$;
REVOKE EXECUTE ON FUNCTION due_tenants(text, integer, timestamptz, uuid[], timestamptz[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION due_tenants(text, integer, timestamptz, uuid[], timestamptz[]) TO signet_worker, signet_janitor;
RESET ROLE;
REVOKE CREATE ON SCHEMA public FROM signet_dispatch;

-- down
SET LOCAL ROLE signet_dispatch;
DROP FUNCTION due_tenants(text, integer, timestamptz, uuid[], timestamptz[]);
RESET ROLE;
SET LOCAL ROLE signet_owner;
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
ALTER TABLE workflow_events_outbox
    DROP COLUMN given_back_code,
    DROP COLUMN given_back_since,
    DROP COLUMN given_back;
RESET ROLE;
