-- phase: expand
-- transaction: on
--
-- Ids of members that look alike are one id; a secret has one use; and what a tenant's file said when it was last
-- installed is kept, so that the next installation changes only what the file changes.

-- up
-- What an id looks like (core/tenants/skeleton.py). NULL: a member from before, or one whose older look-alike has it.
-- The application writes the skeletons of older ids with other than ASCII letters: only it knows their table.
ALTER TABLE members ADD COLUMN skeleton text CHECK (char_length(skeleton) <= 400);
-- The rows of all tenants: the wall is down for its owner until they are written.
ALTER TABLE members NO FORCE ROW LEVEL SECURITY;
UPDATE members m SET skeleton = first.skeleton
FROM (SELECT DISTINCT ON (tenant_id, lower(btrim(user_id) COLLATE "C"))
             tenant_id, user_id, lower(btrim(user_id) COLLATE "C") AS skeleton
      FROM members
      WHERE user_id COLLATE "C" ~ '^[ -~]+$'
      ORDER BY tenant_id, lower(btrim(user_id) COLLATE "C"), created_at, user_id) AS first
WHERE m.tenant_id = first.tenant_id AND m.user_id = first.user_id;
ALTER TABLE members FORCE ROW LEVEL SECURITY;
CREATE UNIQUE INDEX members_by_skeleton ON members (tenant_id, skeleton);

-- What the file of a tenant said when it was last installed.
CREATE TABLE tenant_files (
    tenant_id    uuid NOT NULL REFERENCES tenants,
    content      jsonb NOT NULL CHECK (jsonb_typeof(content) = 'object'),
    installed_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id)
);
CALL isolate_tenant_table('tenant_files');
GRANT SELECT, INSERT, UPDATE (content, installed_at) ON tenant_files TO signet_api;

-- Which endpoint a secret belongs to. A secret that signs what goes out would otherwise sign what comes in. Only the
-- triggers below write here.
CREATE TABLE secret_uses (
    tenant_id uuid NOT NULL REFERENCES tenants,
    secret    text NOT NULL,
    direction text NOT NULL CHECK (direction IN ('out', 'in')),
    endpoint  text NOT NULL,
    PRIMARY KEY (tenant_id, secret)
);
ALTER TABLE endpoints NO FORCE ROW LEVEL SECURITY;
ALTER TABLE inbound_endpoints NO FORCE ROW LEVEL SECURITY;
-- Of endpoints that share a secret the oldest has it. The others go on as they are until they are saved again.
INSERT INTO secret_uses (tenant_id, secret, direction, endpoint)
SELECT DISTINCT ON (tenant_id, secret) tenant_id, secret, direction, name
FROM (SELECT tenant_id, unnest(secret_refs) AS secret, 'out' AS direction, name, created_at FROM endpoints
      UNION ALL
      SELECT tenant_id, unnest(secrets), 'in', name, created_at FROM inbound_endpoints) AS use
ORDER BY tenant_id, secret, created_at, direction, name;
ALTER TABLE endpoints FORCE ROW LEVEL SECURITY;
ALTER TABLE inbound_endpoints FORCE ROW LEVEL SECURITY;
CALL isolate_tenant_table('secret_uses');
GRANT SELECT ON secret_uses TO signet_api;

-- Its arguments are the direction and the column with the names. A secret that the endpoint has newly must be free. One
-- that it had is recorded where it is free, and is otherwise left to the endpoint that has it. It writes for the tenant
-- of the endpoint's row: who wrote that row was allowed to, or is no runtime role.
CREATE FUNCTION record_secret_uses() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp
AS $$
DECLARE
    had  text[] := ARRAY(SELECT jsonb_array_elements_text(to_jsonb(OLD) -> TG_ARGV[1]));
    have text[] := ARRAY(SELECT jsonb_array_elements_text(to_jsonb(NEW) -> TG_ARGV[1]));
    seen text := coalesce(current_setting('signet.tenant_id', true), '');
BEGIN
    PERFORM set_config('signet.tenant_id', coalesce(NEW.tenant_id, OLD.tenant_id)::text, true);
    DELETE FROM secret_uses u
    WHERE u.tenant_id = OLD.tenant_id AND u.direction = TG_ARGV[0] AND u.endpoint = OLD.name
      AND u.secret <> ALL (have);
    INSERT INTO secret_uses SELECT DISTINCT NEW.tenant_id, new_one, TG_ARGV[0], NEW.name
    FROM unnest(have) AS new_one WHERE new_one <> ALL (had);
    INSERT INTO secret_uses SELECT DISTINCT NEW.tenant_id, old_one, TG_ARGV[0], NEW.name
    FROM unnest(have) AS old_one WHERE old_one = ANY (had)
    ON CONFLICT (tenant_id, secret) DO NOTHING;
    PERFORM set_config('signet.tenant_id', seen, true);
    RETURN NULL;
END
$$;
REVOKE EXECUTE ON FUNCTION record_secret_uses() FROM PUBLIC;
CREATE TRIGGER record_secret_uses AFTER INSERT OR DELETE OR UPDATE OF name, secret_refs ON endpoints
    FOR EACH ROW EXECUTE FUNCTION record_secret_uses('out', 'secret_refs');
CREATE TRIGGER record_secret_uses AFTER INSERT OR DELETE OR UPDATE OF name, secrets ON inbound_endpoints
    FOR EACH ROW EXECUTE FUNCTION record_secret_uses('in', 'secrets');

CALL distribute_tenant_tables('tenant_files', 'secret_uses');

-- down
DROP TRIGGER record_secret_uses ON inbound_endpoints;
DROP TRIGGER record_secret_uses ON endpoints;
DROP FUNCTION record_secret_uses();
DROP TABLE secret_uses, tenant_files;
DROP INDEX members_by_skeleton;
ALTER TABLE members DROP COLUMN skeleton;
