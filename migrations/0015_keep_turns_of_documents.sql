-- phase: expand
-- transaction: on
--
-- The turn of a role that a document has taken: asking again goes to the same person. A new request says what was
-- rejected before it.

-- up
CREATE TABLE document_turns (
    tenant_id   uuid NOT NULL,
    document_id uuid NOT NULL,
    role        text NOT NULL,
    turn        bigint NOT NULL,
    PRIMARY KEY (tenant_id, document_id, role),
    FOREIGN KEY (tenant_id, document_id) REFERENCES documents
);
CREATE TRIGGER reject_change BEFORE UPDATE OR DELETE ON document_turns
    FOR EACH ROW EXECUTE FUNCTION reject_any_change();
CREATE TRIGGER reject_truncate BEFORE TRUNCATE ON document_turns
    FOR EACH STATEMENT EXECUTE FUNCTION reject_any_change();
CALL isolate_tenant_table('document_turns');
GRANT SELECT, INSERT ON document_turns TO signet_worker;
GRANT SELECT ON document_turns TO signet_api, signet_janitor;
CALL distribute_tenant_tables('document_turns');

-- The rejected request that this one repeats, with the same content; those who rejected it are asked again.
ALTER TABLE approval_requests ADD COLUMN repeats_request_id uuid;

-- down
ALTER TABLE approval_requests DROP COLUMN repeats_request_id;
DROP TABLE document_turns;
