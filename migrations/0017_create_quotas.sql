-- phase: expand
-- transaction: on
--
-- How much a tenant may ask for in a time: what an operator has granted, and what is used up.

-- up
-- Where there is no row, the default of core/tenants/quotas.py holds. Written by the owner alone.
CREATE TABLE tenant_quotas (
    tenant_id      uuid NOT NULL REFERENCES tenants,
    name           text NOT NULL CHECK (name ~ '^[a-z_]+:[a-z_]+$'),
    capacity       integer NOT NULL CHECK (capacity BETWEEN 1 AND 10000000),
    refill_seconds integer NOT NULL CHECK (refill_seconds BETWEEN 1 AND 86400),
    granted_at     timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, name)
);

-- One moment says it all: when the bucket is full again if nobody asks for more.
CREATE TABLE quota_meters (
    tenant_id uuid NOT NULL REFERENCES tenants,
    name      text NOT NULL CHECK (char_length(name) <= 100),
    full_at   timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, name)
) WITH (fillfactor = 50);

CALL isolate_tenant_table('tenant_quotas');
CALL isolate_tenant_table('quota_meters');
GRANT SELECT ON tenant_quotas TO signet_api, signet_worker;
GRANT SELECT, INSERT, UPDATE (full_at) ON quota_meters TO signet_api, signet_worker;
CALL distribute_tenant_tables('tenant_quotas', 'quota_meters');

-- down
DROP TABLE quota_meters, tenant_quotas;
