-- phase: expand
-- transaction: off
--
-- An index with a condition answers only those who ask for its columns. The index of before answered by the tenant alone, so
-- that a session which planned while the table was empty checked foreign keys with it, request by request of the tenant. The
-- next migration drops that one.

-- up
CREATE UNIQUE INDEX CONCURRENTLY approval_requests_of_step ON approval_requests (tenant_id, step_execution_id)
    WHERE step_execution_id IS NOT NULL;

-- down
DROP INDEX CONCURRENTLY approval_requests_of_step;
