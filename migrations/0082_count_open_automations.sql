-- phase: expand
-- transaction: off
--
-- Answers how many instances of an automation are open, all of them or those of one document.

-- up
CREATE INDEX CONCURRENTLY workflow_instances_open_automations
    ON workflow_instances (tenant_id, overlap_key COLLATE "C") WHERE kind = 'automation' AND status IN ('running', 'paused');

-- down
DROP INDEX CONCURRENTLY workflow_instances_open_automations;
