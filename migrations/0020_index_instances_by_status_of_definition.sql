-- phase: expand
-- transaction: on
--
-- Lists of instances of one workflow in one status, the newest first: also of a status that few of very many have.
-- The status changes a few times in an instance's life, so that the index costs a wave nothing.

-- up
DROP INDEX workflow_instances_by_definition;
CREATE INDEX workflow_instances_by_definition ON workflow_instances (tenant_id, definition_id, status, id)
    WHERE definition_id IS NOT NULL;

-- down
DROP INDEX workflow_instances_by_definition;
CREATE INDEX workflow_instances_by_definition ON workflow_instances (tenant_id, definition_id, id)
    WHERE definition_id IS NOT NULL;
