-- phase: expand
-- transaction: on
--
-- What is open on behalf of one person: the source's inbox, of the steps that wait.

-- up
CREATE INDEX workflow_step_executions_by_actor ON workflow_step_executions (tenant_id, actor_user_id, id)
    WHERE status = 'running';

-- down
DROP INDEX workflow_step_executions_by_actor;
