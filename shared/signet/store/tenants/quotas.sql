-- name: take_quota
-- Take from a quota, or from a share of it. A bucket is one moment (GCRA): when it is full again. No row comes back of
-- a tenant that is not there, or suspended. The clock's time counts and not the transaction's, so that waiting for the
-- row does not count as time before.
WITH size AS (
    SELECT greatest(coalesce(t.capacity, %(capacity)s::integer) * %(percent)s::integer / 100, 1) AS capacity,
           coalesce(t.refill_seconds, %(refill_seconds)s::integer)::double precision AS seconds
    FROM tenants x
    LEFT JOIN tenant_quotas t ON t.tenant_id = x.tenant_id AND t.name = %(name)s
    WHERE x.tenant_id = %(tenant_id)s AND x.status = 'active'
), granted AS MATERIALIZED (
    SELECT capacity, make_interval(secs => seconds) AS refill,
           make_interval(secs => seconds * %(cost)s::integer / capacity) AS cost
    FROM size
), taken AS (
    INSERT INTO quota_meters AS m (tenant_id, name, full_at)
    SELECT %(tenant_id)s, %(meter)s, clock_timestamp() + cost FROM granted WHERE cost <= refill
    ON CONFLICT (tenant_id, name) DO UPDATE
    SET full_at = greatest(m.full_at, clock_timestamp()) + (SELECT cost FROM granted)
    WHERE greatest(m.full_at, clock_timestamp()) + (SELECT cost FROM granted)
          <= clock_timestamp() + (SELECT refill FROM granted)
    RETURNING full_at
)
SELECT granted.capacity,
       extract(epoch FROM granted.refill)::double precision AS refill_seconds,
       (SELECT full_at FROM taken) IS NOT NULL AS is_taken,
       extract(epoch FROM coalesce(
           (SELECT full_at FROM taken),
           (SELECT full_at FROM quota_meters WHERE tenant_id = %(tenant_id)s AND name = %(meter)s),
           clock_timestamp()) - clock_timestamp())::double precision AS full_seconds
FROM granted

-- name: grant_quota
-- Grant a tenant a quota of its own.
INSERT INTO tenant_quotas (tenant_id, name, capacity, refill_seconds)
VALUES (%(tenant_id)s, %(name)s, %(capacity)s, %(refill_seconds)s)
ON CONFLICT (tenant_id, name) DO UPDATE
SET capacity = excluded.capacity, refill_seconds = excluded.refill_seconds, granted_at = now()

-- name: withdraw_quota
-- Withdraw a granted quota: the general one holds again.
DELETE FROM tenant_quotas WHERE tenant_id = %(tenant_id)s AND name = %(name)s

-- name: list_quota_meters
-- List how full each quota is now.
SELECT q.name, coalesce(t.capacity, q.capacity) AS capacity, coalesce(t.refill_seconds, q.refill_seconds) AS refill_seconds,
       t.name IS NOT NULL AS is_granted,
       coalesce(extract(epoch FROM greatest(m.full_at - clock_timestamp(), interval '0')), 0)::double precision
           AS full_seconds
FROM unnest(%(names)s::text[], %(capacities)s::integer[], %(refills)s::integer[]) AS q (name, capacity, refill_seconds)
LEFT JOIN tenant_quotas t ON t.tenant_id = %(tenant_id)s AND t.name = q.name
LEFT JOIN quota_meters m ON m.tenant_id = %(tenant_id)s AND m.name = q.name
ORDER BY q.name
