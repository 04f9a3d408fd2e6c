-- phase: expand
-- transaction: on
--
-- What a request with an idempotency key came to, so that its repetition gets the same answer. Written in the
-- transaction of what it did: there is no key without its deed, and no deed without its key.

-- up
CREATE TABLE idempotency_keys (
    tenant_id    uuid NOT NULL REFERENCES tenants,
    key          text NOT NULL CHECK (key <> '' AND char_length(key) <= 255),
    request_hash text NOT NULL CHECK (request_hash ~ '^[0-9a-f]{64}$'),
    -- NULL only inside the transaction that took the key
    outcome      jsonb,
    created_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, key)
);
-- "older than": what the janitor prunes
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (tenant_id, created_at);
CREATE TRIGGER reject_change BEFORE UPDATE ON idempotency_keys
    FOR EACH ROW WHEN (OLD.outcome IS NOT NULL) EXECUTE FUNCTION reject_any_change();

CALL isolate_tenant_table('idempotency_keys');
GRANT SELECT, INSERT, UPDATE (outcome) ON idempotency_keys TO signet_api;
CALL distribute_tenant_tables('idempotency_keys');

-- down
DROP TABLE idempotency_keys;
