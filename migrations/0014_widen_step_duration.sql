-- phase: expand
-- transaction: on
--
-- A step may wait for longer than an integer counts milliseconds: 24 days.

-- up
ALTER TABLE workflow_step_executions ALTER COLUMN duration_ms TYPE bigint;

-- down
ALTER TABLE workflow_step_executions ALTER COLUMN duration_ms TYPE integer USING least(duration_ms, 2147483647);
