-- phase: expand
-- transaction: on
--
-- Tenants, the unit of isolation, with their members, roles, API keys and quotas. Every key leads with tenant_id: the
-- same schema can be distributed, and no query crosses tenants by accident.

-- up
-- The one tenant of this transaction. Unset or empty is no tenant, and a transaction without a tenant sees no rows.
-- The planner inlines this function, so it has no SET clause and no SECURITY DEFINER.
CREATE FUNCTION current_tenant_id() RETURNS uuid
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN nullif(current_setting('signet.tenant_id', true), '')::uuid;
GRANT EXECUTE ON FUNCTION current_tenant_id() TO signet_api, signet_worker, signet_janitor, signet_dispatch;

-- Makes a table a tenant table. FORCE binds its owner too, so that not even the owner reads past the wall.
CREATE PROCEDURE isolate_tenant_table(tenant_table regclass)
    LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', tenant_table);
    EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', tenant_table);
    EXECUTE format('CREATE POLICY tenant_isolation ON %s USING (tenant_id = current_tenant_id()) '
                   'WITH CHECK (tenant_id = current_tenant_id())', tenant_table);
END
$$;
REVOKE EXECUTE ON PROCEDURE isolate_tenant_table(regclass) FROM PUBLIC;

-- Citus distributes by tenant and keeps the rows of a tenant together. On other servers this only says so.
CREATE PROCEDURE distribute_tenant_tables(VARIADIC tenant_tables text[])
    LANGUAGE plpgsql AS $$
DECLARE
    tenant_table text;
BEGIN
    IF NOT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus') THEN
        RAISE NOTICE 'skipped: distribution by tenant (no Citus here) of %', array_to_string(tenant_tables, ', ');
        RETURN;
    END IF;
    FOREACH tenant_table IN ARRAY tenant_tables LOOP
        IF tenant_table = 'tenants' THEN
            EXECUTE 'SELECT create_distributed_table($1::regclass, ''tenant_id'')' USING tenant_table;
        ELSE
            EXECUTE 'SELECT create_distributed_table($1::regclass, ''tenant_id'', colocate_with => ''tenants'')'
                USING tenant_table;
        END IF;
    END LOOP;
END
$$;
REVOKE EXECUTE ON PROCEDURE distribute_tenant_tables(text[]) FROM PUBLIC;

CREATE TABLE tenants (
    tenant_id   uuid PRIMARY KEY,
    name        text NOT NULL CHECK (name <> '' AND char_length(name) <= 200),
    status      text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'suspended')),
    settings    jsonb NOT NULL CHECK (jsonb_typeof(settings) = 'object'),
    version     bigint NOT NULL DEFAULT 1,
    created_at  timestamptz NOT NULL DEFAULT now(),
    updated_at  timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE members (
    tenant_id    uuid NOT NULL REFERENCES tenants,
    user_id      text NOT NULL CHECK (user_id <> '' AND char_length(user_id) <= 200),
    display_name text NOT NULL CHECK (char_length(display_name) <= 200),
    email        text CHECK (char_length(email) <= 320),
    status       text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'disabled')),
    created_at   timestamptz NOT NULL DEFAULT now(),
    updated_at   timestamptz NOT NULL DEFAULT now(),
    -- The number that text messages go to.
    phone        text CHECK (phone ~ '^\+[1-9][0-9]{6,14}$'),
    PRIMARY KEY (tenant_id, user_id)
);

CREATE TABLE roles (
    tenant_id   uuid NOT NULL REFERENCES tenants,
    role        text NOT NULL CHECK (role ~ '^[a-z][a-z0-9_]{0,62}$'),
    permissions text[] NOT NULL DEFAULT '{}' CHECK (cardinality(permissions) <= 500),
    created_at  timestamptz NOT NULL DEFAULT now(),
    updated_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, role)
);

CREATE TABLE member_roles (
    tenant_id  uuid NOT NULL REFERENCES tenants,
    user_id    text NOT NULL,
    role       text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, user_id, role),
    FOREIGN KEY (tenant_id, user_id) REFERENCES members,
    FOREIGN KEY (tenant_id, role) REFERENCES roles
);
-- Answers "who holds this role", for approvers by role.
CREATE INDEX member_roles_by_role ON member_roles (tenant_id, role, user_id);

CREATE TABLE org_chart (
    tenant_id  uuid NOT NULL REFERENCES tenants,
    user_id    text NOT NULL,
    manager_id text NOT NULL CHECK (manager_id <> user_id),
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, user_id),
    FOREIGN KEY (tenant_id, user_id) REFERENCES members,
    FOREIGN KEY (tenant_id, manager_id) REFERENCES members
);
-- Answers "who reports to", for a member who leaves and for the foreign key.
CREATE INDEX org_chart_by_manager ON org_chart (tenant_id, manager_id);

-- Keys of machines. Of the secret only the hash is kept; 256 random bits need no slow one.
CREATE TABLE api_keys (
    tenant_id    uuid NOT NULL REFERENCES tenants,
    id           uuid NOT NULL,
    name         text NOT NULL CHECK (name ~ '^[a-z][a-z0-9_]{0,62}$'),
    secret_hash  bytea NOT NULL CHECK (octet_length(secret_hash) = 32),
    roles        text[] NOT NULL CHECK (cardinality(roles) BETWEEN 1 AND 200),
    created_by   text NOT NULL,
    created_at   timestamptz NOT NULL,
    -- NULL: the key lives until it is revoked.
    expires_at   timestamptz CHECK (expires_at > created_at),
    revoked_at   timestamptz,
    revoked_by   text,
    -- Accurate to the hour.
    last_used_at timestamptz,
    PRIMARY KEY (tenant_id, id),
    CHECK ((revoked_at IS NULL) = (revoked_by IS NULL))
);
-- A revoked key stays revoked.
CREATE FUNCTION reject_key_revival() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    RAISE EXCEPTION 'an API key that is revoked stays revoked' USING ERRCODE = 'restrict_violation';
END
$$;
CREATE TRIGGER reject_key_revival BEFORE UPDATE ON api_keys
    FOR EACH ROW WHEN (OLD.revoked_at IS NOT NULL AND NEW.revoked_at IS DISTINCT FROM OLD.revoked_at)
    EXECUTE FUNCTION reject_key_revival();

-- How much a tenant may ask for in a time, as an operator has granted it. Without a row, the default of
-- core/tenants/quotas.py holds.
CREATE TABLE tenant_quotas (
    tenant_id      uuid NOT NULL REFERENCES tenants,
    name           text NOT NULL CHECK (name ~ '^[a-z_]+:[a-z_]+$'),
    capacity       integer NOT NULL CHECK (capacity BETWEEN 1 AND 10000000),
    refill_seconds integer NOT NULL CHECK (refill_seconds BETWEEN 1 AND 86400),
    granted_at     timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, name)
);

-- How much of a quota is used up. One moment says it all: when the bucket is full again, if no further request comes.
CREATE TABLE quota_meters (
    tenant_id uuid NOT NULL REFERENCES tenants,
    name      text NOT NULL CHECK (char_length(name) <= 100),
    full_at   timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, name)
) WITH (fillfactor = 50);

CALL isolate_tenant_table('tenants');
CALL isolate_tenant_table('members');
CALL isolate_tenant_table('roles');
CALL isolate_tenant_table('member_roles');
CALL isolate_tenant_table('org_chart');
CALL isolate_tenant_table('api_keys');
CALL isolate_tenant_table('tenant_quotas');
CALL isolate_tenant_table('quota_meters');

GRANT SELECT, INSERT, UPDATE ON tenants, members TO signet_api;
-- The foreign key of member_roles protects a role that a member holds; only a role without members can be deleted.
GRANT SELECT, INSERT, UPDATE, DELETE ON roles TO signet_api;
GRANT SELECT, INSERT, DELETE ON member_roles TO signet_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON org_chart TO signet_api;
GRANT SELECT ON tenants, members, roles, member_roles, org_chart TO signet_worker, signet_janitor;
GRANT SELECT, INSERT, UPDATE (revoked_at, revoked_by, last_used_at) ON api_keys TO signet_api;
-- Only operators grant quotas: a tenant has no route to it.
GRANT SELECT, INSERT, UPDATE (capacity, refill_seconds, granted_at), DELETE ON tenant_quotas TO signet_api;
GRANT SELECT ON tenant_quotas TO signet_worker;
GRANT SELECT, INSERT, UPDATE (full_at) ON quota_meters TO signet_api, signet_worker;

CALL distribute_tenant_tables(
    'tenants', 'members', 'roles', 'member_roles', 'org_chart', 'api_keys', 'tenant_quotas', 'quota_meters');

-- down
DROP TABLE quota_meters, tenant_quotas, api_keys, org_chart, member_roles, roles, members, tenants;
DROP FUNCTION reject_key_revival();
DROP PROCEDURE distribute_tenant_tables(text[]);
DROP PROCEDURE isolate_tenant_table(regclass);
DROP FUNCTION current_tenant_id();
