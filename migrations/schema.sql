CREATE FUNCTION public.current_tenant_id() RETURNS uuid
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN (NULLIF(current_setting('signet.tenant_id'::text, true), ''::text))::uuid;

ALTER FUNCTION public.current_tenant_id() OWNER TO signet_owner;

CREATE PROCEDURE public.distribute_tenant_tables(VARIADIC tenant_tables text[])
    LANGUAGE plpgsql
    AS $_$
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
$_$;

ALTER PROCEDURE public.distribute_tenant_tables(VARIADIC tenant_tables text[]) OWNER TO signet_owner;

CREATE PROCEDURE public.isolate_tenant_table(IN tenant_table regclass)
    LANGUAGE plpgsql
    AS $$
BEGIN
    EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', tenant_table);
    EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', tenant_table);
    EXECUTE format('CREATE POLICY tenant_isolation ON %s USING (tenant_id = current_tenant_id()) '
                   'WITH CHECK (tenant_id = current_tenant_id())', tenant_table);
END
$$;

ALTER PROCEDURE public.isolate_tenant_table(IN tenant_table regclass) OWNER TO signet_owner;

CREATE TABLE public.member_roles (
    tenant_id uuid NOT NULL,
    user_id text NOT NULL,
    role text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE ONLY public.member_roles FORCE ROW LEVEL SECURITY;

ALTER TABLE public.member_roles OWNER TO signet_owner;

CREATE TABLE public.members (
    tenant_id uuid NOT NULL,
    user_id text NOT NULL,
    display_name text NOT NULL,
    email text,
    status text DEFAULT 'active'::text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT members_display_name_check CHECK ((char_length(display_name) <= 200)),
    CONSTRAINT members_email_check CHECK ((char_length(email) <= 320)),
    CONSTRAINT members_status_check CHECK ((status = ANY (ARRAY['active'::text, 'disabled'::text]))),
    CONSTRAINT members_user_id_check CHECK (((user_id <> ''::text) AND (char_length(user_id) <= 200)))
);

ALTER TABLE ONLY public.members FORCE ROW LEVEL SECURITY;

ALTER TABLE public.members OWNER TO signet_owner;

CREATE TABLE public.org_chart (
    tenant_id uuid NOT NULL,
    user_id text NOT NULL,
    manager_id text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT org_chart_check CHECK ((manager_id <> user_id))
);

ALTER TABLE ONLY public.org_chart FORCE ROW LEVEL SECURITY;

ALTER TABLE public.org_chart OWNER TO signet_owner;

CREATE TABLE public.roles (
    tenant_id uuid NOT NULL,
    role text NOT NULL,
    permissions text[] DEFAULT '{}'::text[] NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT roles_permissions_check CHECK ((cardinality(permissions) <= 500)),
    CONSTRAINT roles_role_check CHECK ((role ~ '^[a-z][a-z0-9_]{0,62}$'::text))
);

ALTER TABLE ONLY public.roles FORCE ROW LEVEL SECURITY;

ALTER TABLE public.roles OWNER TO signet_owner;

CREATE TABLE public.signet_migrations (
    number integer NOT NULL,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE public.signet_migrations OWNER TO signet_owner;

CREATE TABLE public.tenants (
    tenant_id uuid NOT NULL,
    name text NOT NULL,
    status text DEFAULT 'active'::text NOT NULL,
    settings jsonb NOT NULL,
    version bigint DEFAULT 1 NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT tenants_name_check CHECK (((name <> ''::text) AND (char_length(name) <= 200))),
    CONSTRAINT tenants_settings_check CHECK ((jsonb_typeof(settings) = 'object'::text)),
    CONSTRAINT tenants_status_check CHECK ((status = ANY (ARRAY['active'::text, 'suspended'::text])))
);

ALTER TABLE ONLY public.tenants FORCE ROW LEVEL SECURITY;

ALTER TABLE public.tenants OWNER TO signet_owner;

ALTER TABLE ONLY public.member_roles
    ADD CONSTRAINT member_roles_pkey PRIMARY KEY (tenant_id, user_id, role);

ALTER TABLE ONLY public.members
    ADD CONSTRAINT members_pkey PRIMARY KEY (tenant_id, user_id);

ALTER TABLE ONLY public.org_chart
    ADD CONSTRAINT org_chart_pkey PRIMARY KEY (tenant_id, user_id);

ALTER TABLE ONLY public.roles
    ADD CONSTRAINT roles_pkey PRIMARY KEY (tenant_id, role);

ALTER TABLE ONLY public.signet_migrations
    ADD CONSTRAINT signet_migrations_pkey PRIMARY KEY (number);

ALTER TABLE ONLY public.tenants
    ADD CONSTRAINT tenants_pkey PRIMARY KEY (tenant_id);

CREATE INDEX member_roles_by_role ON public.member_roles USING btree (tenant_id, role, user_id);

CREATE INDEX org_chart_by_manager ON public.org_chart USING btree (tenant_id, manager_id);

ALTER TABLE ONLY public.member_roles
    ADD CONSTRAINT member_roles_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id);

ALTER TABLE ONLY public.member_roles
    ADD CONSTRAINT member_roles_tenant_id_role_fkey FOREIGN KEY (tenant_id, role) REFERENCES public.roles(tenant_id, role);

ALTER TABLE ONLY public.member_roles
    ADD CONSTRAINT member_roles_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES public.members(tenant_id, user_id);

ALTER TABLE ONLY public.members
    ADD CONSTRAINT members_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id);

ALTER TABLE ONLY public.org_chart
    ADD CONSTRAINT org_chart_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id);

ALTER TABLE ONLY public.org_chart
    ADD CONSTRAINT org_chart_tenant_id_manager_id_fkey FOREIGN KEY (tenant_id, manager_id) REFERENCES public.members(tenant_id, user_id);

ALTER TABLE ONLY public.org_chart
    ADD CONSTRAINT org_chart_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES public.members(tenant_id, user_id);

ALTER TABLE ONLY public.roles
    ADD CONSTRAINT roles_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id);

ALTER TABLE public.member_roles ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.members ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.org_chart ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.roles ENABLE ROW LEVEL SECURITY;

CREATE POLICY tenant_isolation ON public.member_roles USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

CREATE POLICY tenant_isolation ON public.members USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

CREATE POLICY tenant_isolation ON public.org_chart USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

CREATE POLICY tenant_isolation ON public.roles USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

CREATE POLICY tenant_isolation ON public.tenants USING ((tenant_id = public.current_tenant_id())) WITH CHECK ((tenant_id = public.current_tenant_id()));

ALTER TABLE public.tenants ENABLE ROW LEVEL SECURITY;

REVOKE USAGE ON SCHEMA public FROM PUBLIC;

GRANT ALL ON SCHEMA public TO signet_owner;

GRANT USAGE ON SCHEMA public TO signet_api;

GRANT USAGE ON SCHEMA public TO signet_worker;

GRANT USAGE ON SCHEMA public TO signet_janitor;

GRANT USAGE ON SCHEMA public TO signet_dispatch;

REVOKE ALL ON FUNCTION public.current_tenant_id() FROM PUBLIC;

GRANT ALL ON FUNCTION public.current_tenant_id() TO signet_api;

GRANT ALL ON FUNCTION public.current_tenant_id() TO signet_worker;

GRANT ALL ON FUNCTION public.current_tenant_id() TO signet_janitor;

GRANT ALL ON FUNCTION public.current_tenant_id() TO signet_dispatch;

REVOKE ALL ON PROCEDURE public.distribute_tenant_tables(VARIADIC tenant_tables text[]) FROM PUBLIC;

REVOKE ALL ON PROCEDURE public.isolate_tenant_table(IN tenant_table regclass) FROM PUBLIC;

GRANT SELECT,INSERT,DELETE ON TABLE public.member_roles TO signet_api;

GRANT SELECT ON TABLE public.member_roles TO signet_worker;

GRANT SELECT ON TABLE public.member_roles TO signet_janitor;

GRANT SELECT,INSERT,UPDATE ON TABLE public.members TO signet_api;

GRANT SELECT ON TABLE public.members TO signet_worker;

GRANT SELECT ON TABLE public.members TO signet_janitor;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.org_chart TO signet_api;

GRANT SELECT ON TABLE public.org_chart TO signet_worker;

GRANT SELECT ON TABLE public.org_chart TO signet_janitor;

GRANT SELECT,INSERT,UPDATE ON TABLE public.roles TO signet_api;

GRANT SELECT ON TABLE public.roles TO signet_worker;

GRANT SELECT ON TABLE public.roles TO signet_janitor;

GRANT SELECT ON TABLE public.signet_migrations TO signet_api;

GRANT SELECT ON TABLE public.signet_migrations TO signet_worker;

GRANT SELECT ON TABLE public.signet_migrations TO signet_janitor;

GRANT SELECT,INSERT,UPDATE ON TABLE public.tenants TO signet_api;

GRANT SELECT ON TABLE public.tenants TO signet_worker;

GRANT SELECT ON TABLE public.tenants TO signet_janitor;

ALTER DEFAULT PRIVILEGES FOR ROLE signet_owner REVOKE ALL ON FUNCTIONS FROM PUBLIC;
