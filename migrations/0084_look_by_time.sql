-- phase: expand
-- transaction: on
-- role: admin
--
-- The look for tenants with work reads what is due by now, in the order of time, and walks the tenants only where one of them
-- hides the others. And a claim of triggers says whether more is due, so that its worker does not look in vain
-- (decision 0075).

-- up
SET LOCAL ROLE signet_owner;
-- The partitions have theirs from the migration before: here they are joined. A partition made since then is small.
DO $$
DECLARE
    queue_table text;
BEGIN
    FOREACH queue_table IN ARRAY ARRAY['workflow_events_outbox', 'workflow_side_effects_outbox'] LOOP
        EXECUTE format('CREATE INDEX %1$I ON %2$I ((CASE WHEN status IN (''pending'', ''failed'') THEN due_at ELSE lease_until END), '
                       'tenant_id) WHERE CASE WHEN status IN (''pending'', ''failed'') THEN due_at ELSE lease_until END IS NOT NULL',
                       queue_table || '_by_time', queue_table);
    END LOOP;
END
$$;

-- Claim as claim_events() does. Beside each row stand whether more is due, and whether a lease of the tenant has run out.
-- Where nothing was due and a lease has run out, there is one row without a trigger. Leases are asked for only
-- where nothing else follows.
CREATE FUNCTION claim_events_and_look(own_claim uuid, since timestamptz, at_most integer, alone_from integer,
                                      lease_seconds double precision, looks_at_leases boolean)
    RETURNS TABLE (claimed workflow_events_outbox, has_more boolean, has_expired boolean)
    LANGUAGE plpgsql
    SET search_path = pg_catalog, public, pg_temp
    SET plan_cache_mode = 'force_generic_plan'
    SET enable_seqscan = 'off'
    SET enable_bitmapscan = 'off'
    SET enable_hashjoin = 'off'
    SET enable_mergejoin = 'off'
AS $$
DECLARE
    taken workflow_events_outbox[] := ARRAY(
        SELECT q FROM claim_events(own_claim, since, at_most, alone_from, lease_seconds) AS q);
BEGIN
    -- The order names the index, also for a plan that was made while there was nothing. EXISTS would leave it out.
    has_more := false;
    has_expired := false;
    -- A claim that is neither full nor of a trigger that goes alone has taken all that nobody else holds.
    IF cardinality(taken) = at_most OR taken[1].attempts > alone_from OR taken[1].given_back >= 10 THEN
        has_more := (
            SELECT true FROM workflow_events_outbox q
            WHERE q.tenant_id = current_tenant_id() AND q.status IN ('pending', 'failed')
              AND q.due_at BETWEEN since AND now()
            ORDER BY q.due_at LIMIT 1) IS NOT NULL;
    END IF;
    IF looks_at_leases AND NOT has_more THEN
        has_expired := (
            SELECT true FROM workflow_events_outbox q
            WHERE q.tenant_id = current_tenant_id() AND q.status = 'processing' AND q.lease_until BETWEEN since AND now()
            ORDER BY q.lease_until LIMIT 1) IS NOT NULL;
    END IF;
    IF cardinality(taken) = 0 AND has_expired THEN
        RETURN NEXT;
    END IF;
    FOREACH claimed IN ARRAY taken LOOP
        RETURN NEXT;
    END LOOP;
END
$$;
GRANT EXECUTE ON FUNCTION
    claim_events_and_look(uuid, timestamptz, integer, integer, double precision, boolean) TO signet_worker;

-- The first rows of a queue that are due, or whose lease has run out, since a time: their tenants, the longest waiting
-- first. It says whether those are all tenants, or as many as were asked for.
CREATE FUNCTION find_due_early(queue_table text, since timestamptz, known uuid[], at_most integer,
                               OUT tenants uuid[], OUT oldest timestamptz[], OUT is_whole boolean)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, public, pg_temp
    SET enable_seqscan = 'off'
    SET enable_bitmapscan = 'off'
    SET enable_sort = 'off'
    SET jit = 'off'
AS $$
DECLARE
    -- The first row tells of the first tenant.
    read_at_most integer := CASE at_most WHEN 1 THEN 1 ELSE 2000 END;
BEGIN
    EXECUTE format($early$
        WITH early AS MATERIALIZED (
            SELECT q.tenant_id, CASE WHEN q.status IN ('pending', 'failed') THEN q.due_at ELSE q.lease_until END AS since
            FROM %1$I q
            WHERE CASE WHEN q.status IN ('pending', 'failed') THEN q.due_at ELSE q.lease_until END BETWEEN $1 AND now()
            ORDER BY CASE WHEN q.status IN ('pending', 'failed') THEN q.due_at ELSE q.lease_until END, q.tenant_id
            LIMIT $4
        )
        SELECT coalesce(array_agg(found.tenant_id ORDER BY found.since, found.tenant_id), '{}'),
               coalesce(array_agg(found.since ORDER BY found.since, found.tenant_id), '{}'),
               (SELECT count(*) FROM early) < $4 OR count(*) = $3
        FROM (SELECT early.tenant_id, min(early.since) AS since FROM early
              WHERE NOT early.tenant_id = ANY ($2)
              GROUP BY early.tenant_id ORDER BY min(early.since), early.tenant_id LIMIT $3) AS found
    $early$, queue_table) INTO tenants, oldest, is_whole USING since, known, at_most, read_at_most;
END
$$;

-- The tenants of an answer, each with the count of its rows that are due since then, to a thousand.
CREATE FUNCTION count_due(queue_table text, tenants uuid[], counted_since timestamptz[], oldest timestamptz[])
    RETURNS TABLE (tenant_id uuid, due_count integer, oldest_due_at timestamptz)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, public, pg_temp
    SET enable_seqscan = 'off'
    SET enable_bitmapscan = 'off'
    SET jit = 'off'
AS $$
BEGIN
    IF tenants = '{}' THEN
        RETURN;
    END IF;
    RETURN QUERY EXECUTE format($counted$
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
        FROM unnest($1, $2, $3) AS due (tenant_id, since, oldest)
        ORDER BY due.oldest, due.tenant_id
    $counted$, queue_table) USING tenants, counted_since, oldest;
END
$$;
GRANT EXECUTE ON FUNCTION find_due_early(text, timestamptz, uuid[], integer),
    count_due(text, uuid[], timestamptz[], timestamptz[]) TO signet_dispatch;
RESET ROLE;

GRANT CREATE ON SCHEMA public TO signet_dispatch;
SET LOCAL ROLE signet_dispatch;

CREATE OR REPLACE FUNCTION due_tenants(queue text, at_most integer)
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
    found       record;
BEGIN
    IF queue_table IS NULL OR at_most IS NULL OR at_most NOT BETWEEN 1 AND 1000 THEN
        RAISE EXCEPTION 'no such queue, or not between 1 and 1000 tenants: %, %', queue, at_most
            USING ERRCODE = '22023';
    END IF;
    found := find_due_early(queue_table, '-infinity', '{}', at_most);
    IF NOT found.is_whole THEN
        -- The many rows of some tenants hide the others: from each tenant that has anything to the next one.
        EXECUTE format($due$
            WITH RECURSIVE waiting AS (
                (SELECT q.tenant_id FROM %1$I q WHERE q.status IN ('pending', 'failed') ORDER BY q.tenant_id LIMIT 1)
                UNION ALL
                SELECT (SELECT q.tenant_id FROM %1$I q
                        WHERE q.status IN ('pending', 'failed') AND q.tenant_id > w.tenant_id
                        ORDER BY q.tenant_id LIMIT 1)
                FROM waiting w WHERE w.tenant_id IS NOT NULL
            ), working AS (
                (SELECT q.tenant_id FROM %1$I q WHERE q.status = 'processing' ORDER BY q.tenant_id LIMIT 1)
                UNION ALL
                SELECT (SELECT q.tenant_id FROM %1$I q
                        WHERE q.status = 'processing' AND q.tenant_id > w.tenant_id
                        ORDER BY q.tenant_id LIMIT 1)
                FROM working w WHERE w.tenant_id IS NOT NULL
            ), due AS (
                SELECT each.tenant_id, min(each.since) AS since FROM (
                    SELECT w.tenant_id, (SELECT q.due_at FROM %1$I q
                                         WHERE q.tenant_id = w.tenant_id AND q.status IN ('pending', 'failed')
                                           AND q.due_at <= now()
                                         ORDER BY q.due_at LIMIT 1) AS since
                    FROM waiting w
                    UNION ALL
                    SELECT w.tenant_id, (SELECT q.lease_until FROM %1$I q
                                         WHERE q.tenant_id = w.tenant_id AND q.status = 'processing'
                                           AND q.lease_until <= now()
                                         ORDER BY q.lease_until LIMIT 1)
                    FROM working w
                ) AS each
                WHERE each.since IS NOT NULL
                GROUP BY each.tenant_id
                ORDER BY min(each.since), each.tenant_id
                LIMIT $1
            )
            SELECT array_agg(due.tenant_id) AS tenants, array_agg(due.since) AS oldest FROM due
        $due$, queue_table) INTO found USING at_most;
    END IF;
    RETURN QUERY SELECT * FROM count_due(
        queue_table, found.tenants, array_fill('-infinity'::timestamptz, ARRAY[cardinality(found.tenants)]), found.oldest);
END
$$;

CREATE OR REPLACE FUNCTION due_tenants(queue text, at_most integer, since timestamptz, known uuid[], known_since timestamptz[])
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
    early       record;
    asked       uuid[];
    asked_since timestamptz[];
    found       record;
BEGIN
    IF queue_table IS NULL OR at_most IS NULL OR at_most NOT BETWEEN 1 AND 1000 THEN
        RAISE EXCEPTION 'no such queue, or not between 1 and 1000 tenants: %, %', queue, at_most
            USING ERRCODE = '22023';
    END IF;
    early := find_due_early(queue_table, since, known, at_most);
    -- Of those that are known each is asked by itself; and so is each other one, where many rows hide the others.
    SELECT array_agg(t.tenant_id), array_agg(coalesce(k.since, $3)) INTO asked, asked_since
    FROM tenants t
    LEFT JOIN unnest(known, known_since) AS k (tenant_id, since) ON k.tenant_id = t.tenant_id
    WHERE k.tenant_id IS NOT NULL OR NOT early.is_whole;
    IF asked IS NULL AND early.is_whole THEN
        RETURN QUERY SELECT * FROM count_due(
            queue_table, early.tenants, array_fill(since, ARRAY[cardinality(early.tenants)]), early.oldest);
        RETURN;
    END IF;
    EXECUTE format($due$
        SELECT array_agg(due.tenant_id ORDER BY due.oldest, due.tenant_id) AS tenants,
               array_agg(due.since ORDER BY due.oldest, due.tenant_id) AS since,
               array_agg(due.oldest ORDER BY due.oldest, due.tenant_id) AS oldest
        FROM (
            SELECT t.tenant_id, t.since, least(waiting.due_at, expired.lease_until) AS oldest
            FROM unnest($2, $3) AS t (tenant_id, since)
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
            UNION ALL
            SELECT e.tenant_id, $6, e.oldest FROM unnest($4, $5) AS e (tenant_id, oldest)
            ORDER BY oldest, tenant_id
            LIMIT $1
        ) AS due
    $due$, queue_table) INTO found
    USING at_most, asked, asked_since,
          CASE WHEN early.is_whole THEN early.tenants ELSE '{}' END, CASE WHEN early.is_whole THEN early.oldest ELSE '{}' END,
          since;
    RETURN QUERY SELECT * FROM count_due(
        queue_table, coalesce(found.tenants, '{}'), coalesce(found.since, '{}'), coalesce(found.oldest, '{}'));
END
$$;

-- Tenants of a queue with the moments, to the second, at which something of theirs comes due soon. Wake-ups for
-- these are sent before.
CREATE FUNCTION coming_tenants(queue text, ahead interval, at_most integer)
    RETURNS TABLE (tenant_id uuid, due_at timestamptz)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp
    SET enable_seqscan = 'off'
    SET enable_bitmapscan = 'off'
    SET enable_sort = 'off'
    SET jit = 'off'
AS $$
DECLARE
    queue_table text := CASE queue WHEN 'events' THEN 'workflow_events_outbox'
                                   WHEN 'effects' THEN 'workflow_side_effects_outbox' END;
BEGIN
    IF queue_table IS NULL OR ahead IS NULL OR at_most IS NULL OR at_most NOT BETWEEN 1 AND 10000
       OR ahead NOT BETWEEN interval '0' AND interval '15 minutes' THEN
        RAISE EXCEPTION 'no such queue, not within 15 minutes, or not between 1 and 10000 moments: %, %, %', queue, ahead, at_most
            USING ERRCODE = '22023';
    END IF;
    RETURN QUERY EXECUTE format($coming$
        SELECT soon.tenant_id, max(soon.wakes_at)
        FROM (SELECT q.tenant_id, CASE WHEN q.status IN ('pending', 'failed') THEN q.due_at ELSE q.lease_until END AS wakes_at
              FROM %1$I q
              WHERE CASE WHEN q.status IN ('pending', 'failed') THEN q.due_at ELSE q.lease_until END > now()
                AND CASE WHEN q.status IN ('pending', 'failed') THEN q.due_at ELSE q.lease_until END <= now() + $1
                AND q.status <> 'processing'
              ORDER BY CASE WHEN q.status IN ('pending', 'failed') THEN q.due_at ELSE q.lease_until END, q.tenant_id
              LIMIT $2) AS soon
        GROUP BY soon.tenant_id, date_trunc('second', soon.wakes_at)
        ORDER BY max(soon.wakes_at), soon.tenant_id
    $coming$, queue_table) USING ahead, at_most;
END
$$;
REVOKE EXECUTE ON FUNCTION coming_tenants(text, interval, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION coming_tenants(text, interval, integer) TO signet_worker;

-- The seconds until something of a queue comes due, or a lease ends; null where nothing does within so long. It names no tenant.
CREATE FUNCTION seconds_to_next(queue text, within interval) RETURNS double precision
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp
    SET enable_seqscan = 'off'
    SET enable_bitmapscan = 'off'
    SET enable_sort = 'off'
    SET jit = 'off'
AS $$
DECLARE
    queue_table text := CASE queue WHEN 'events' THEN 'workflow_events_outbox'
                                   WHEN 'effects' THEN 'workflow_side_effects_outbox' END;
    seconds     double precision;
BEGIN
    IF queue_table IS NULL OR within IS NULL OR within NOT BETWEEN interval '0' AND interval '15 minutes' THEN
        RAISE EXCEPTION 'no such queue, or not within 15 minutes: %, %', queue, within USING ERRCODE = '22023';
    END IF;
    EXECUTE format($next$
        SELECT extract(epoch FROM CASE WHEN q.status IN ('pending', 'failed') THEN q.due_at ELSE q.lease_until END - clock_timestamp())
        FROM %1$I q
        WHERE CASE WHEN q.status IN ('pending', 'failed') THEN q.due_at ELSE q.lease_until END > now()
          AND CASE WHEN q.status IN ('pending', 'failed') THEN q.due_at ELSE q.lease_until END <= now() + $1
        ORDER BY CASE WHEN q.status IN ('pending', 'failed') THEN q.due_at ELSE q.lease_until END, q.tenant_id
        LIMIT 1
    $next$, queue_table) INTO seconds USING within;
    RETURN CASE WHEN seconds < 0 THEN 0 ELSE seconds END;
END
$$;
REVOKE EXECUTE ON FUNCTION seconds_to_next(text, interval) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION seconds_to_next(text, interval) TO signet_worker;

-- Counts go tenant by tenant, and say so: the index by time holds the rows of all tenants.
CREATE OR REPLACE FUNCTION measure_queue(queue text, since timestamptz)
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
                                          AND q.due_at >= $3 ORDER BY q.due_at LIMIT $2) AS found
                    LIMIT $2) AS counted) AS waiting,
             (SELECT count(*) AS processing, count(*) FILTER (WHERE counted.lease_until <= now()) AS expired
              FROM (SELECT found.lease_until FROM tenants t
                    CROSS JOIN LATERAL (SELECT q.lease_until FROM %1$I q
                                        WHERE q.tenant_id = t.tenant_id AND q.status = 'processing'
                                          AND q.lease_until >= $3 ORDER BY q.lease_until LIMIT $2) AS found
                    LIMIT $2) AS counted) AS working,
             (SELECT count(*) AS dead_letter
              FROM (SELECT FROM %1$I q WHERE q.status = 'dead_letter' LIMIT $2) AS counted) AS dead
    $measured$, queue_table) USING queue, 100000, since;
END
$$;

RESET ROLE;
REVOKE CREATE ON SCHEMA public FROM signet_dispatch;

-- down
RESET ROLE;
GRANT CREATE ON SCHEMA public TO signet_dispatch;
SET LOCAL ROLE signet_dispatch;
CREATE OR REPLACE FUNCTION measure_queue(queue text, since timestamptz)
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
DROP FUNCTION seconds_to_next(text, interval);
DROP FUNCTION coming_tenants(text, interval, integer);
CREATE OR REPLACE FUNCTION due_tenants(queue text, at_most integer, since timestamptz, known uuid[], known_since timestamptz[])
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
CREATE OR REPLACE FUNCTION due_tenants(queue text, at_most integer)
    RETURNS TABLE (tenant_id uuid, due_count integer, oldest_due_at timestamptz)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp
    -- It uses the partial indexes in spite of any statistics; and compiling would cost more than running.
    SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off
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
        -- From each tenant to the next one: PostgreSQL has no loose index scan of its own.
        WITH RECURSIVE waiting AS (
            (SELECT q.tenant_id FROM %1$I q WHERE q.status IN ('pending', 'failed') ORDER BY q.tenant_id LIMIT 1)
            UNION ALL
            SELECT (SELECT q.tenant_id FROM %1$I q
                    WHERE q.status IN ('pending', 'failed') AND q.tenant_id > w.tenant_id
                    ORDER BY q.tenant_id LIMIT 1)
            FROM waiting w WHERE w.tenant_id IS NOT NULL
        ), working AS (
            (SELECT q.tenant_id FROM %1$I q WHERE q.status = 'processing' ORDER BY q.tenant_id LIMIT 1)
            UNION ALL
            SELECT (SELECT q.tenant_id FROM %1$I q
                    WHERE q.status = 'processing' AND q.tenant_id > w.tenant_id
                    ORDER BY q.tenant_id LIMIT 1)
            FROM working w WHERE w.tenant_id IS NOT NULL
        ), due AS (
            SELECT found.tenant_id, min(found.since) AS since FROM (
                SELECT w.tenant_id, (SELECT q.due_at FROM %1$I q
                                     WHERE q.tenant_id = w.tenant_id AND q.status IN ('pending', 'failed')
                                       AND q.due_at <= now()
                                     ORDER BY q.due_at LIMIT 1) AS since
                FROM waiting w
                UNION ALL
                SELECT w.tenant_id, (SELECT q.lease_until FROM %1$I q
                                     WHERE q.tenant_id = w.tenant_id AND q.status = 'processing'
                                       AND q.lease_until <= now()
                                     ORDER BY q.lease_until LIMIT 1)
                FROM working w
            ) AS found
            WHERE found.since IS NOT NULL
            GROUP BY found.tenant_id
            ORDER BY min(found.since), found.tenant_id
            LIMIT $1
        )
        SELECT due.tenant_id,
               (SELECT count(*) FROM (
                    (SELECT FROM %1$I q
                     WHERE q.tenant_id = due.tenant_id AND q.status IN ('pending', 'failed') AND q.due_at <= now()
                     LIMIT 1000)
                    UNION ALL
                    (SELECT FROM %1$I q
                     WHERE q.tenant_id = due.tenant_id AND q.status = 'processing' AND q.lease_until <= now()
                     LIMIT 1000)
                    LIMIT 1000) AS counted)::integer,
               due.since
        FROM due
        ORDER BY due.since, due.tenant_id
    $due$, queue_table) USING at_most;
END
$$;
RESET ROLE;
REVOKE CREATE ON SCHEMA public FROM signet_dispatch;
SET LOCAL ROLE signet_owner;
DROP FUNCTION count_due(text, uuid[], timestamptz[], timestamptz[]);
DROP FUNCTION find_due_early(text, timestamptz, uuid[], integer);
DROP FUNCTION claim_events_and_look(uuid, timestamptz, integer, integer, double precision, boolean);
-- The indexes of the partitions go with the one that joins them, and are those of the migration before.
DO $$
DECLARE
    queue_table text;
    part        regclass;
BEGIN
    FOREACH queue_table IN ARRAY ARRAY['workflow_events_outbox', 'workflow_side_effects_outbox'] LOOP
        EXECUTE format('DROP INDEX %I', queue_table || '_by_time');
        FOR part IN SELECT i.inhrelid FROM pg_inherits i WHERE i.inhparent = queue_table::regclass LOOP
            EXECUTE format('CREATE INDEX %1$I ON %2$s ((CASE WHEN status IN (''pending'', ''failed'') THEN due_at ELSE lease_until END), '
                           'tenant_id) WHERE CASE WHEN status IN (''pending'', ''failed'') THEN due_at ELSE lease_until END IS NOT NULL',
                           (SELECT c.relname FROM pg_class c WHERE c.oid = part) || '_by_time', part);
        END LOOP;
    END LOOP;
END
$$;
RESET ROLE;
