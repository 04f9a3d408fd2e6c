-- name: due_tenants
-- List tenants with rows that are due or whose lease ran out, those that wait longest first.
SELECT tenant_id, due_count, oldest_due_at FROM due_tenants(%(queue)s, %(at_most)s)

-- name: due_tenants_since
-- The same without what was seen before.
SELECT tenant_id, due_count, oldest_due_at
FROM due_tenants(%(queue)s, %(at_most)s, %(since)s, %(known)s::uuid[], %(known_since)s::timestamptz[])
