-- phase: expand
-- transaction: on
--
-- API keys get owners, and service accounts become rows. An owner answers for a key: its power ends with theirs, and
-- whoever once owned it stays behind it for ever. Service accounts act only through definitions, and hold no secret.

-- up
ALTER TABLE api_keys
    ADD COLUMN owner_id          text,
    -- The person who is asked to take the key over, and who asked them.
    ADD COLUMN proposed_owner_id text,
    ADD COLUMN proposed_by       text,
    ADD CHECK (owner_id !~ '^(key|service|signet):'),
    ADD CHECK (proposed_owner_id !~ '^(key|service|signet):' AND proposed_owner_id <> owner_id),
    ADD CHECK ((proposed_owner_id IS NULL) = (proposed_by IS NULL));

-- Every owner that a key has had. The rows are written by the trigger below, and never changed.
CREATE TABLE api_key_owners (
    tenant_id uuid NOT NULL,
    key_id    uuid NOT NULL,
    owner_id  text NOT NULL,
    -- The first time that they owned it, and the person who made or proposed it.
    since     timestamptz NOT NULL,
    by        text NOT NULL,
    PRIMARY KEY (tenant_id, key_id, owner_id),
    FOREIGN KEY (tenant_id, key_id) REFERENCES api_keys
);
CREATE TRIGGER reject_change BEFORE UPDATE OR DELETE ON api_key_owners
    FOR EACH ROW EXECUTE FUNCTION reject_any_change();
CREATE TRIGGER reject_truncate BEFORE TRUNCATE ON api_key_owners
    FOR EACH STATEMENT EXECUTE FUNCTION reject_any_change();

-- Keys that are there belong to who made them. Row security binds the owner of the table too, so it is lifted for this
-- one statement, under the lock of ALTER TABLE.
ALTER TABLE api_keys NO FORCE ROW LEVEL SECURITY;
UPDATE api_keys SET owner_id = created_by;
INSERT INTO api_key_owners (tenant_id, key_id, owner_id, since, by)
    SELECT tenant_id, id, owner_id, created_at, created_by FROM api_keys;
ALTER TABLE api_keys FORCE ROW LEVEL SECURITY;
ALTER TABLE api_keys ALTER COLUMN owner_id SET NOT NULL;

-- A key belongs to who made it until a person who was asked takes it over.
CREATE FUNCTION check_key_owner() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        -- The release before this one names no owner.
        NEW.owner_id := coalesce(NEW.owner_id, NEW.created_by);
        IF NEW.owner_id <> NEW.created_by THEN
            RAISE EXCEPTION 'a new API key belongs to who made it' USING ERRCODE = 'restrict_violation';
        END IF;
    ELSIF NEW.owner_id IS DISTINCT FROM OLD.owner_id AND NEW.owner_id IS DISTINCT FROM OLD.proposed_owner_id THEN
        RAISE EXCEPTION 'an API key is taken over only by who was asked to' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER check_key_owner BEFORE INSERT OR UPDATE ON api_keys
    FOR EACH ROW EXECUTE FUNCTION check_key_owner();

CREATE FUNCTION keep_key_owner() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    INSERT INTO api_key_owners (tenant_id, key_id, owner_id, since, by)
    VALUES (NEW.tenant_id, NEW.id, NEW.owner_id, now(),
            CASE WHEN TG_OP = 'INSERT' THEN NEW.created_by ELSE OLD.proposed_by END)
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;
CREATE TRIGGER keep_key_owner AFTER INSERT OR UPDATE OF owner_id ON api_keys
    FOR EACH ROW EXECUTE FUNCTION keep_key_owner();

CREATE TABLE service_accounts (
    tenant_id  uuid NOT NULL REFERENCES tenants,
    id         text NOT NULL CHECK (id ~ '^[a-z][a-z0-9_]{0,62}$'),
    label      text NOT NULL CHECK (label <> '' AND char_length(label) <= 200),
    roles      text[] NOT NULL CHECK (cardinality(roles) BETWEEN 1 AND 200),
    owner_id   text NOT NULL,
    status     text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'disabled')),
    version    bigint NOT NULL DEFAULT 1,
    created_by text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, owner_id) REFERENCES members
);

-- A member is a person: no vote, seat or delegation is ever that of a machine. Rows from before are left alone.
ALTER TABLE members ADD CONSTRAINT members_are_people CHECK (user_id !~ '^(key|service|signet):') NOT VALID;

CALL isolate_tenant_table('api_key_owners');
CALL isolate_tenant_table('service_accounts');
GRANT UPDATE (owner_id, proposed_owner_id, proposed_by) ON api_keys TO signet_api;
GRANT SELECT, INSERT ON api_key_owners TO signet_api;
GRANT SELECT, INSERT ON service_accounts TO signet_api;
GRANT UPDATE (label, roles, owner_id, status, version, updated_at) ON service_accounts TO signet_api;
GRANT SELECT ON service_accounts TO signet_worker;
CALL distribute_tenant_tables('api_key_owners', 'service_accounts');

-- down
ALTER TABLE members DROP CONSTRAINT members_are_people;
DROP TABLE service_accounts, api_key_owners;
DROP TRIGGER keep_key_owner ON api_keys;
DROP TRIGGER check_key_owner ON api_keys;
DROP FUNCTION keep_key_owner();
DROP FUNCTION check_key_owner();
ALTER TABLE api_keys DROP COLUMN proposed_by, DROP COLUMN proposed_owner_id, DROP COLUMN owner_id;
