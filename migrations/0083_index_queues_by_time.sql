-- phase: expand
-- transaction: off
-- partitions: workflow_events_outbox workflow_side_effects_outbox
--
-- Rows of a queue by the time at which somebody must look at them: when they are due, or when their lease ends. Who looks for
-- tenants with work reads what is due by now, and nothing of what waits. Each partition gets its index by itself, so
-- that nobody is kept from writing. The next migration joins them. The index says nothing of a status, so that no question
-- about one status is answered by it, over the rows of all tenants. Only rows that are at work have a lease.

-- up
CREATE INDEX CONCURRENTLY IF NOT EXISTS {partition}_by_time ON {partition}
    ((CASE WHEN status IN ('pending', 'failed') THEN due_at ELSE lease_until END), tenant_id)
    WHERE CASE WHEN status IN ('pending', 'failed') THEN due_at ELSE lease_until END IS NOT NULL;

-- down
DROP INDEX CONCURRENTLY IF EXISTS {partition}_by_time;
