-- phase: expand
-- transaction: on
-- role: admin
--
-- The roles. They belong to the cluster and not to this database. Another database of the same server may have made
-- them already, or may be making them now. Runtime roles own no table and never bypass row security. The people who run
-- the server give the LOGIN roles their passwords, or let them in by IAM.

-- up
DO $$
DECLARE
    wanted record;
BEGIN
    FOR wanted IN
        SELECT * FROM (VALUES
            ('signet_owner',    'NOLOGIN'),
            ('signet_dispatch', 'NOLOGIN'),
            ('signet_api',      'LOGIN'),
            ('signet_worker',   'LOGIN'),
            ('signet_janitor',  'LOGIN')
        ) AS roles (name, login)
    LOOP
        BEGIN
            IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = wanted.name) THEN
                EXECUTE format('CREATE ROLE %I %s NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS NOINHERIT',
                               wanted.name, wanted.login);
            END IF;
        EXCEPTION WHEN duplicate_object OR unique_violation THEN
            NULL;  -- The migration of another database made it in the meantime.
        END;
    END LOOP;
END
$$;

-- The admin of a managed server is no superuser: it must be a member to act as the owner.
DO $$
BEGIN
    IF NOT pg_has_role(current_user, 'signet_owner', 'MEMBER') THEN
        EXECUTE format('GRANT signet_owner TO %I', current_user);
    END IF;
    IF NOT pg_has_role(current_user, 'signet_dispatch', 'MEMBER') THEN
        EXECUTE format('GRANT signet_dispatch TO %I', current_user);
    END IF;
END
$$;

REVOKE ALL ON SCHEMA public FROM PUBLIC;
GRANT USAGE, CREATE ON SCHEMA public TO signet_owner;
GRANT USAGE ON SCHEMA public TO signet_api, signet_worker, signet_janitor, signet_dispatch;
ALTER TABLE signet_migrations OWNER TO signet_owner;
GRANT SELECT ON signet_migrations TO signet_api, signet_worker, signet_janitor;
-- Only the roles that a function is granted to may call it.
ALTER DEFAULT PRIVILEGES FOR ROLE signet_owner REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;

-- down
-- The roles stay, because other databases of this server may use them.
ALTER DEFAULT PRIVILEGES FOR ROLE signet_owner GRANT EXECUTE ON FUNCTIONS TO PUBLIC;
REVOKE SELECT ON signet_migrations FROM signet_api, signet_worker, signet_janitor;
DO $$
BEGIN
    EXECUTE format('ALTER TABLE signet_migrations OWNER TO %I', current_user);
END
$$;
REVOKE ALL ON SCHEMA public FROM signet_owner, signet_api, signet_worker, signet_janitor, signet_dispatch;
GRANT USAGE ON SCHEMA public TO PUBLIC;
