-- phase: expand
-- transaction: on
--
-- Roles, members and reporting lines have versions, so that of two administrators neither overwrites the other. A
-- member's version counts their roles and their manager, too, because the same answer shows them.

-- up
ALTER TABLE roles ADD COLUMN version integer NOT NULL DEFAULT 1 CHECK (version >= 1);
ALTER TABLE members ADD COLUMN version integer NOT NULL DEFAULT 1 CHECK (version >= 1);
ALTER TABLE org_chart ADD COLUMN version integer NOT NULL DEFAULT 1 CHECK (version >= 1);

CREATE FUNCTION count_version() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, public, pg_temp
AS $$
BEGIN
    NEW.version := OLD.version + 1;
    RETURN NEW;
END
$$;

-- Count a change of what belongs to a member as one of the member.
CREATE FUNCTION count_version_of_member() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, public, pg_temp
AS $$
DECLARE
    changed record := CASE WHEN TG_OP = 'DELETE' THEN OLD ELSE NEW END;
BEGIN
    UPDATE public.members SET version = version
    WHERE tenant_id = changed.tenant_id AND user_id = changed.user_id;
    RETURN NULL;
END
$$;

CREATE TRIGGER count_version BEFORE UPDATE ON roles FOR EACH ROW EXECUTE FUNCTION count_version();
CREATE TRIGGER count_version BEFORE UPDATE ON members FOR EACH ROW EXECUTE FUNCTION count_version();
CREATE TRIGGER count_version BEFORE UPDATE ON org_chart FOR EACH ROW EXECUTE FUNCTION count_version();
CREATE TRIGGER count_version_of_member AFTER INSERT OR UPDATE OR DELETE ON org_chart
    FOR EACH ROW EXECUTE FUNCTION count_version_of_member();
CREATE TRIGGER count_version_of_member AFTER INSERT OR UPDATE OR DELETE ON member_roles
    FOR EACH ROW EXECUTE FUNCTION count_version_of_member();

-- down
DROP TRIGGER count_version_of_member ON member_roles;
DROP TRIGGER count_version_of_member ON org_chart;
DROP TRIGGER count_version ON org_chart;
DROP TRIGGER count_version ON members;
DROP TRIGGER count_version ON roles;
DROP FUNCTION count_version_of_member();
DROP FUNCTION count_version();
ALTER TABLE org_chart DROP COLUMN version;
ALTER TABLE members DROP COLUMN version;
ALTER TABLE roles DROP COLUMN version;
