-- phase: expand
-- transaction: off
-- partitions: workflow_events_outbox workflow_side_effects_outbox
--
-- Rows of a queue by the time at which somebody must look at them: when they are due, or when their lease ends. Who looks for
-- tenants with work reads what is due by now, and nothing of what waits. Each partition gets its index by itself, so
-- that nobody is kept from writing. The next migration joins them.

-- up
CREATE INDEX CONCURRENTLY IF NOT EXISTS {partition}_by_time ON {partition}
    ((CASE WHEN status = 'processing' THEN lease_until ELSE due_at END), tenant_id)
    WHERE status IN ('pending', 'failed', 'processing');

-- down
DROP INDEX CONCURRENTLY IF EXISTS {partition}_by_time;
