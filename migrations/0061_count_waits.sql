-- phase: expand
-- transaction: on
--
-- A request that waits for its outcome (`Prefer: wait`) keeps a place of those that serve everybody. All processes count
-- their waits together: a person, a tenant and all of them have so many. A place that is not given back is free again
-- when its time is over.

-- up
CREATE TABLE request_waits (
    tenant_id  uuid NOT NULL REFERENCES tenants,
    id         uuid NOT NULL,
    -- Who waits, without a name.
    waiter     text NOT NULL CHECK (char_length(waiter) <= 100),
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, expires_at, id)
);
-- Answers how many wait now, of all tenants.
CREATE INDEX request_waits_expiry ON request_waits (expires_at);

CALL isolate_tenant_table('request_waits');
GRANT SELECT, INSERT, DELETE ON request_waits TO signet_api;
CALL distribute_tenant_tables('request_waits');

CREATE POLICY dispatch ON request_waits FOR SELECT TO signet_dispatch USING (true);
GRANT SELECT (expires_at) ON request_waits TO signet_dispatch;

RESET ROLE;
GRANT CREATE ON SCHEMA public TO signet_dispatch;
SET LOCAL ROLE signet_dispatch;

-- Count the waits of all tenants, to a limit. It names no tenant.
CREATE FUNCTION count_waits(at_most integer) RETURNS integer
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp
    -- What has expired lies before the range that is counted, in spite of any statistics.
    SET enable_seqscan = off
AS $$
BEGIN
    RETURN (SELECT count(*) FROM (SELECT FROM request_waits w WHERE w.expires_at > now() LIMIT at_most) AS counted);
END
$$;
REVOKE EXECUTE ON FUNCTION count_waits(integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION count_waits(integer) TO signet_api;

RESET ROLE;
REVOKE CREATE ON SCHEMA public FROM signet_dispatch;

-- down
SET LOCAL ROLE signet_dispatch;
DROP FUNCTION count_waits(integer);
RESET ROLE;
SET LOCAL ROLE signet_owner;
DROP TABLE request_waits;
RESET ROLE;
