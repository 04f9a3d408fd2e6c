-- phase: expand
-- transaction: on
--
-- What a rule has rejected stays on record. The change that it stopped is rolled back, so that the rejection is written
-- behind it, with who asked for the change, the persons behind them, and from where.

-- up
ALTER TABLE rule_executions
    ADD COLUMN is_rejection boolean NOT NULL DEFAULT false,
    ADD COLUMN operation text,
    ADD COLUMN actor_id text,
    ADD COLUMN responsible bytea,
    ADD COLUMN origin jsonb,
    ADD COLUMN instance_id uuid,
    ADD COLUMN step_id uuid,
    ADD COLUMN trace_id text,
    ADD CONSTRAINT rule_executions_rejected CHECK (NOT is_rejection OR (matched AND actor_id IS NOT NULL));
-- Lists what rules have rejected, also of documents that were never made.
CREATE INDEX rule_executions_rejections ON rule_executions (tenant_id, id) WHERE is_rejection;
CREATE INDEX rule_executions_rejected ON rule_executions (tenant_id, document_id, id) WHERE is_rejection;

-- down
DROP INDEX rule_executions_rejected;
DROP INDEX rule_executions_rejections;
ALTER TABLE rule_executions
    DROP CONSTRAINT rule_executions_rejected,
    DROP COLUMN is_rejection, DROP COLUMN operation, DROP COLUMN actor_id, DROP COLUMN responsible,
    DROP COLUMN origin, DROP COLUMN instance_id, DROP COLUMN step_id, DROP COLUMN trace_id;
