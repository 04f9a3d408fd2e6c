-- name: due_tenants
-- List tenants with rows that are due or whose lease ran out, those that wait longest first.
SELECT tenant_id, due_count, oldest_due_at FROM due_tenants(%(queue)s, %(at_most)s)

-- name: due_tenants_since
-- The same without what was seen before.
SELECT tenant_id, due_count, oldest_due_at
FROM due_tenants(%(queue)s, %(at_most)s, %(since)s, %(known)s::uuid[], %(known_since)s::timestamptz[])

-- name: coming_tenants
-- List tenants with the moments at which something of theirs comes due soon, the soonest first.
SELECT tenant_id, due_at FROM coming_tenants(%(queue)s, make_interval(secs => %(ahead_seconds)s), %(at_most)s)

-- name: seconds_to_next
-- Find out how soon something comes due, or a lease ends; null where nothing does within so long.
SELECT seconds_to_next(%(queue)s, make_interval(secs => %(within_seconds)s))
