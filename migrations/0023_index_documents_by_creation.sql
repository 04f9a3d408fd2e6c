-- phase: expand
-- transaction: on
--
-- Lists of documents go by when they were made: the newest first, all of a type or those of one status. Nothing
-- listed them by id alone.

-- up
CREATE INDEX documents_by_creation ON documents (tenant_id, entity_type, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX documents_by_status_and_creation ON documents (tenant_id, entity_type, status, created_at, id)
    WHERE deleted_at IS NULL;
DROP INDEX documents_by_type, documents_by_status;

-- down
CREATE INDEX documents_by_type ON documents (tenant_id, entity_type, id) WHERE deleted_at IS NULL;
CREATE INDEX documents_by_status ON documents (tenant_id, entity_type, status, id) WHERE deleted_at IS NULL;
DROP INDEX documents_by_creation, documents_by_status_and_creation;
