-- name: lock_waits
-- Lock the counting of waits, so that two never take the last place.
SELECT pg_advisory_xact_lock(hashtextextended('request waits', 0))

-- name: begin_wait
-- Take a place for a wait where the person, the tenant and all together have one left. What has expired is deleted.
WITH expired AS (
    DELETE FROM request_waits WHERE tenant_id = %(tenant_id)s AND expires_at <= now()
), waiting AS (
    SELECT count(*) AS of_tenant, count(*) FILTER (WHERE waiter = %(waiter)s) AS of_person
    FROM request_waits WHERE tenant_id = %(tenant_id)s AND expires_at > now()
)
INSERT INTO request_waits (tenant_id, id, waiter, expires_at)
SELECT %(tenant_id)s, %(id)s, %(waiter)s, now() + make_interval(secs => %(seconds)s::double precision)
FROM waiting
WHERE of_person < %(person)s::integer AND of_tenant < %(tenant)s::integer
  AND count_waits(%(in_all)s::integer) < %(in_all)s::integer
RETURNING expires_at

-- name: end_wait
-- Give the place of a wait back.
DELETE FROM request_waits WHERE tenant_id = %(tenant_id)s AND expires_at = %(expires_at)s AND id = %(id)s
