-- phase: expand
-- transaction: on
--
-- Business calendars are data of a tenant. A version never changes, and the head of a calendar names the one in force: what
-- was computed by a version can be computed again.

-- up
CREATE TABLE calendars (
    tenant_id  uuid NOT NULL REFERENCES tenants,
    name       text NOT NULL CHECK (name ~ '^[a-z][a-z0-9_]{0,62}$'),
    -- The version in force.
    version    bigint NOT NULL CHECK (version >= 1),
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, name)
);

CREATE TABLE calendar_versions (
    tenant_id   uuid NOT NULL,
    name        text NOT NULL,
    version     bigint NOT NULL CHECK (version >= 1),
    -- Canonical JSON. It is text, so that the hash is that of the stored bytes.
    body        text NOT NULL CHECK (octet_length(body) <= 1048576),
    hash        text NOT NULL CHECK (hash ~ '^[0-9a-f]{64}$'),
    created_by  text NOT NULL,
    -- The persons behind this version, as a set of them is kept.
    responsible bytea,
    created_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, name, version),
    FOREIGN KEY (tenant_id, name) REFERENCES calendars
);
CREATE TRIGGER reject_change BEFORE UPDATE OR DELETE ON calendar_versions
    FOR EACH ROW EXECUTE FUNCTION reject_any_change();
CREATE TRIGGER reject_truncate BEFORE TRUNCATE ON calendar_versions
    FOR EACH STATEMENT EXECUTE FUNCTION reject_any_change();

CALL isolate_tenant_table('calendar_versions');
CALL isolate_tenant_table('calendars');
GRANT SELECT, INSERT ON calendar_versions TO signet_api;
GRANT SELECT, INSERT, UPDATE (version, updated_at) ON calendars TO signet_api;
GRANT SELECT ON calendar_versions, calendars TO signet_worker;
CALL distribute_tenant_tables('calendars', 'calendar_versions');

-- down
DROP TABLE calendar_versions, calendars;
