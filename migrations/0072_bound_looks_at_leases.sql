-- phase: expand
-- transaction: on
--
-- Entries of rows that are done stay in the indexes of what is due and leased, as long as another transaction has an old
-- snapshot. The janitor's walk over expired leases and the figures of the queues read all of them each time. Now they
-- look from a time on, which their caller has found by a look at everything.

-- up
RESET ROLE;
GRANT CREATE ON SCHEMA public TO signet_dispatch;
SET LOCAL ROLE signet_dispatch;

-- Find the next tenants with a lease that has expired since a time, from a cursor on.
CREATE FUNCTION expired_tenants(queue text, since timestamptz, after uuid, at_most integer)
    RETURNS TABLE (tenant_id uuid)
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
    RETURN QUERY EXECUTE format($expired$
        SELECT t.tenant_id
        FROM tenants t
        CROSS JOIN LATERAL (
            SELECT FROM %1$I q
            WHERE q.tenant_id = t.tenant_id AND q.status = 'processing' AND q.lease_until BETWEEN $1 AND now()
            LIMIT 1
        ) AS expired
        WHERE t.tenant_id > $2
        ORDER BY t.tenant_id
        LIMIT $3
    $expired$, queue_table) USING since, coalesce(after, '00000000-0000-0000-0000-000000000000'::uuid), at_most;
END
$$;
REVOKE EXECUTE ON FUNCTION expired_tenants(text, timestamptz, uuid, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION expired_tenants(text, timestamptz, uuid, integer) TO signet_janitor;

-- Find since when the oldest row of a queue waits, or has lost its worker, over all tenants. It names none.
CREATE FUNCTION find_oldest_due(queue text) RETURNS timestamptz
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp
AS $$
BEGIN
    RETURN coalesce((SELECT d.oldest_due_at FROM due_tenants(queue, 1) AS d), now());
END
$$;
REVOKE EXECUTE ON FUNCTION find_oldest_due(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_oldest_due(text) TO signet_api, signet_worker, signet_janitor;

-- As measure_queue(queue), of the rows that are due, or whose lease ends, from a time on.
CREATE FUNCTION measure_queue(queue text, since timestamptz)
    RETURNS TABLE (pending bigint, failed bigint, processing bigint, expired bigint, dead_letter bigint, oldest_due_at timestamptz)
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
    IF queue_table IS NULL THEN
        RAISE EXCEPTION 'no such queue: %', queue USING ERRCODE = '22023';
    END IF;
    RETURN QUERY EXECUTE format($measured$
        SELECT waiting.pending, waiting.failed, working.processing, working.expired, dead.dead_letter,
               (SELECT d.oldest_due_at FROM due_tenants($1, 1, $3, '{}', '{}') AS d)
        FROM (SELECT count(*) FILTER (WHERE counted.status = 'pending') AS pending,
                     count(*) FILTER (WHERE counted.status = 'failed') AS failed
              FROM (SELECT found.status FROM tenants t
                    CROSS JOIN LATERAL (SELECT q.status FROM %1$I q
                                        WHERE q.tenant_id = t.tenant_id AND q.status IN ('pending', 'failed')
                                          AND q.due_at >= $3 LIMIT $2) AS found
                    LIMIT $2) AS counted) AS waiting,
             (SELECT count(*) AS processing, count(*) FILTER (WHERE counted.lease_until <= now()) AS expired
              FROM (SELECT found.lease_until FROM tenants t
                    CROSS JOIN LATERAL (SELECT q.lease_until FROM %1$I q
                                        WHERE q.tenant_id = t.tenant_id AND q.status = 'processing'
                                          AND q.lease_until >= $3 LIMIT $2) AS found
                    LIMIT $2) AS counted) AS working,
             (SELECT count(*) AS dead_letter
              FROM (SELECT FROM %1$I q WHERE q.status = 'dead_letter' LIMIT $2) AS counted) AS dead
    $measured$, queue_table) USING queue, 100000, since;
END
$$;
REVOKE EXECUTE ON FUNCTION measure_queue(text, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION measure_queue(text, timestamptz) TO signet_api, signet_worker, signet_janitor;

RESET ROLE;
REVOKE CREATE ON SCHEMA public FROM signet_dispatch;

-- down
SET LOCAL ROLE signet_dispatch;
DROP FUNCTION measure_queue(text, timestamptz);
DROP FUNCTION find_oldest_due(text);
DROP FUNCTION expired_tenants(text, timestamptz, uuid, integer);
RESET ROLE;
