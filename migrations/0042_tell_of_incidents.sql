-- phase: expand
-- transaction: on
--
-- What is held is told. Open incidents are counted over all tenants, by codes that the caller names.

-- up
CREATE POLICY dispatch ON incidents FOR SELECT TO signet_dispatch USING (true);
GRANT SELECT (code, opened_at, acknowledged_at, closed_at) ON incidents TO signet_dispatch;
GRANT CREATE ON SCHEMA public TO signet_dispatch;
SET LOCAL ROLE signet_dispatch;

-- Count the open incidents of all tenants by code, to a limit, for the operators of the service. It names no tenant, and
-- no code that the caller does not know. `unattended_count` are those that have been open for long, and that no person
-- has acknowledged.
CREATE FUNCTION measure_incidents(codes text[], long interval)
    RETURNS TABLE (code text, open_count bigint, unattended_count bigint)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp
    -- The partial index holds the open ones alone, in spite of any statistics.
    SET enable_seqscan = off
AS $$
BEGIN
    IF codes IS NULL OR cardinality(codes) > 200 OR long IS NULL THEN
        RAISE EXCEPTION 'incidents are counted by at most 200 codes, and by a time' USING ERRCODE = '22023';
    END IF;
    RETURN QUERY
        SELECT CASE WHEN counted.code = ANY (codes) THEN counted.code ELSE 'OTHER' END, count(*),
               count(*) FILTER (WHERE counted.opened_at < now() - long AND counted.acknowledged_at IS NULL)
        FROM (SELECT i.code, i.opened_at, i.acknowledged_at FROM incidents i
              WHERE i.closed_at IS NULL LIMIT 100000) AS counted
        GROUP BY 1;
END
$$;
REVOKE EXECUTE ON FUNCTION measure_incidents(text[], interval) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION measure_incidents(text[], interval) TO signet_api, signet_worker, signet_janitor;

RESET ROLE;
REVOKE CREATE ON SCHEMA public FROM signet_dispatch;

-- down
DROP FUNCTION measure_incidents(text[], interval);
REVOKE SELECT (code, opened_at, acknowledged_at, closed_at) ON incidents FROM signet_dispatch;
DROP POLICY dispatch ON incidents;
