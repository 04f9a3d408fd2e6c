-- phase: expand
-- transaction: on
-- role: admin
--
-- How the queues are doing: of a tenant, what was done lately and how long it had waited; of all tenants, counts and
-- nothing else. An admin's, because what looks across tenants belongs to a role of its own.

-- up
SET LOCAL ROLE signet_owner;
-- "what was done in the last hour", the newest first
CREATE INDEX workflow_events_outbox_done ON workflow_events_outbox (tenant_id, completed_at)
    WHERE status = 'completed';
CREATE INDEX workflow_side_effects_outbox_done ON workflow_side_effects_outbox (tenant_id, completed_at)
    WHERE status = 'completed';

RESET ROLE;
GRANT CREATE ON SCHEMA public TO signet_dispatch;
SET LOCAL ROLE signet_dispatch;

-- For who operates the service, not for a tenant: sums over all of them, each counted to a limit, and since when the
-- one that has waited longest is due. It names no tenant; due_tenants() does, and is not for the API.
CREATE FUNCTION measure_queue(queue text)
    RETURNS TABLE (pending bigint, failed bigint, processing bigint, expired bigint, dead_letter bigint,
                   oldest_due_at timestamptz)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp
    -- Each count is of a partial index; a table whose statistics are old must not be read through.
    SET enable_seqscan = off
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
               (SELECT d.oldest_due_at FROM due_tenants($1, 1) AS d)
        FROM (SELECT count(*) FILTER (WHERE status = 'pending') AS pending,
                     count(*) FILTER (WHERE status = 'failed') AS failed
              FROM (SELECT status FROM %1$I WHERE status IN ('pending', 'failed') LIMIT $2) AS counted) AS waiting,
             (SELECT count(*) AS processing, count(*) FILTER (WHERE lease_until <= now()) AS expired
              FROM (SELECT lease_until FROM %1$I WHERE status = 'processing' LIMIT $2) AS counted) AS working,
             (SELECT count(*) AS dead_letter
              FROM (SELECT FROM %1$I WHERE status = 'dead_letter' LIMIT $2) AS counted) AS dead
    $measured$, queue_table) USING queue, 100000;
END
$$;
REVOKE EXECUTE ON FUNCTION measure_queue(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION measure_queue(text) TO signet_api, signet_worker, signet_janitor;

RESET ROLE;
REVOKE CREATE ON SCHEMA public FROM signet_dispatch;

-- down
DROP FUNCTION measure_queue(text);
SET LOCAL ROLE signet_owner;
DROP INDEX workflow_events_outbox_done, workflow_side_effects_outbox_done;
RESET ROLE;
