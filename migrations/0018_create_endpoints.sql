-- phase: expand
-- transaction: on
--
-- Where a tenant's workflows may call: endpoints that nodes refer to by name, with the whereabouts of their secrets.

-- up
CREATE TABLE endpoints (
    tenant_id       uuid NOT NULL REFERENCES tenants,
    name            text NOT NULL CHECK (name ~ '^[a-z][a-z0-9_]{0,62}$'),
    url             text NOT NULL CHECK (char_length(url) <= 2000),
    -- where the secrets stand, the newest first; never the secrets themselves
    secret_refs     text[] NOT NULL CHECK (cardinality(secret_refs) BETWEEN 1 AND 2),
    status          text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'disabled')),
    disabled_reason text CHECK (char_length(disabled_reason) <= 4000),
    version         integer NOT NULL DEFAULT 1 CHECK (version >= 1),
    -- one after another; and until when it is left alone after too many
    failures        integer NOT NULL DEFAULT 0 CHECK (failures >= 0),
    rests_until     timestamptz,
    created_by      text NOT NULL,
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, name)
);
CALL isolate_tenant_table('endpoints');
GRANT SELECT, INSERT, DELETE ON endpoints TO signet_api;
GRANT UPDATE (url, secret_refs, status, disabled_reason, version, failures, rests_until, updated_at) ON endpoints
    TO signet_api;
GRANT SELECT ON endpoints TO signet_worker;
GRANT UPDATE (failures, rests_until, status, disabled_reason, updated_at) ON endpoints TO signet_worker;
CALL distribute_tenant_tables('endpoints');

-- for text messages
ALTER TABLE members ADD phone text CHECK (phone ~ '^\+[1-9][0-9]{6,14}$');

-- down
ALTER TABLE members DROP phone;
DROP TABLE endpoints;
