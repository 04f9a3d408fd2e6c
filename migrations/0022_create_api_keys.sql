-- phase: expand
-- transaction: on
--
-- Keys of machines, and what an operator may do through the API.

-- up
-- Of the secret only the hash is kept; 256 random bits need no slow one.
CREATE TABLE api_keys (
    tenant_id    uuid NOT NULL REFERENCES tenants,
    id           uuid NOT NULL,
    name         text NOT NULL CHECK (name ~ '^[a-z][a-z0-9_]{0,62}$'),
    secret_hash  bytea NOT NULL CHECK (octet_length(secret_hash) = 32),
    roles        text[] NOT NULL CHECK (cardinality(roles) BETWEEN 1 AND 200),
    created_by   text NOT NULL,
    created_at   timestamptz NOT NULL,
    -- NULL: it lives until it is revoked
    expires_at   timestamptz CHECK (expires_at > created_at),
    revoked_at   timestamptz,
    revoked_by   text,
    -- to the hour
    last_used_at timestamptz,
    PRIMARY KEY (tenant_id, id),
    CHECK ((revoked_at IS NULL) = (revoked_by IS NULL))
);
-- What is revoked stays so.
CREATE FUNCTION reject_key_revival() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    RAISE EXCEPTION 'an API key that is revoked stays revoked' USING ERRCODE = 'restrict_violation';
END
$$;
CREATE TRIGGER reject_key_revival BEFORE UPDATE ON api_keys
    FOR EACH ROW WHEN (OLD.revoked_at IS NOT NULL AND NEW.revoked_at IS DISTINCT FROM OLD.revoked_at)
    EXECUTE FUNCTION reject_key_revival();

CALL isolate_tenant_table('api_keys');
GRANT SELECT, INSERT, UPDATE (revoked_at, revoked_by, last_used_at) ON api_keys TO signet_api;
-- A role that nobody has; the foreign key of member_roles keeps the others.
GRANT DELETE ON roles TO signet_api;
-- An operator's act: a tenant has no route to it.
GRANT INSERT, UPDATE (capacity, refill_seconds, granted_at), DELETE ON tenant_quotas TO signet_api;
CALL distribute_tenant_tables('api_keys');

-- down
REVOKE INSERT, UPDATE (capacity, refill_seconds, granted_at), DELETE ON tenant_quotas FROM signet_api;
REVOKE DELETE ON roles FROM signet_api;
DROP TABLE api_keys;
DROP FUNCTION reject_key_revival();
