-- phase: expand
-- transaction: on
--
-- The unit of isolation and who is who inside it. Every key leads with tenant_id, so that the same
-- schema can be distributed and no query crosses tenants by accident.

-- up
-- The one tenant of this transaction; unset or empty is no tenant, and no tenant sees no rows.
-- Inlined by the planner: no SET clause, no SECURITY DEFINER here.
CREATE FUNCTION current_tenant_id() RETURNS uuid
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN nullif(current_setting('signet.tenant_id', true), '')::uuid;
GRANT EXECUTE ON FUNCTION current_tenant_id() TO signet_api, signet_worker, signet_janitor, signet_dispatch;

-- What makes a table a tenant table. FORCE, so that not even its owner reads past the wall.
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

-- Citus distributes by tenant and keeps a tenant's rows together; elsewhere this only says so.
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
-- "who holds this role": approvers by role
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
-- "who reports to": used when a member leaves, and by the foreign key
CREATE INDEX org_chart_by_manager ON org_chart (tenant_id, manager_id);

CALL isolate_tenant_table('tenants');
CALL isolate_tenant_table('members');
CALL isolate_tenant_table('roles');
CALL isolate_tenant_table('member_roles');
CALL isolate_tenant_table('org_chart');

GRANT SELECT, INSERT, UPDATE ON tenants, members, roles TO signet_api;
GRANT SELECT, INSERT, DELETE ON member_roles TO signet_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON org_chart TO signet_api;
GRANT SELECT ON tenants, members, roles, member_roles, org_chart TO signet_worker, signet_janitor;

CALL distribute_tenant_tables('tenants', 'members', 'roles', 'member_roles', 'org_chart');

-- down
DROP TABLE org_chart, member_roles, roles, members, tenants;
DROP PROCEDURE distribute_tenant_tables(text[]);
DROP PROCEDURE isolate_tenant_table(regclass);
DROP FUNCTION current_tenant_id();
