-- name: find_endpoints
-- Find endpoints by their names.
SELECT name, url, secret_refs AS secrets, secret_refs, status, disabled_reason, version, failures, rests_until, created_by,
       created_at, updated_at
FROM endpoints
WHERE tenant_id = %(tenant_id)s AND name = ANY (%(names)s)

-- name: read_webhook_hosts
-- Read the hosts that the tenant lets its webhooks call.
SELECT settings -> 'webhook_hosts' FROM tenants WHERE tenant_id = %(tenant_id)s

-- name: list_endpoints
-- List the endpoints of a tenant by name.
SELECT name, url, secret_refs AS secrets, secret_refs, status, disabled_reason, version, failures, rests_until, created_by,
       created_at, updated_at
FROM endpoints
WHERE tenant_id = %(tenant_id)s AND name > %(after)s
ORDER BY name
LIMIT %(limit)s

-- name: insert_endpoint
-- Write an endpoint. Without a row the name is taken.
INSERT INTO endpoints (tenant_id, name, url, secret_refs, status, created_by, created_at, updated_at)
VALUES (%(tenant_id)s, %(name)s, %(url)s, %(secret_refs)s, %(status)s, %(created_by)s, %(now)s, %(now)s)
ON CONFLICT (tenant_id, name) DO NOTHING

-- name: change_endpoint
-- Change an endpoint. A person has looked at it, so it is tried again at once.
UPDATE endpoints
SET url = %(url)s, secret_refs = %(secret_refs)s, status = %(status)s, disabled_reason = %(disabled_reason)s,
    version = version + 1, failures = 0, rests_until = NULL, updated_at = %(now)s
WHERE tenant_id = %(tenant_id)s AND name = %(name)s AND version = %(version)s

-- name: delete_endpoint
-- Delete an endpoint at the version that the caller saw.
DELETE FROM endpoints WHERE tenant_id = %(tenant_id)s AND name = %(name)s AND version = %(version)s

-- name: note_successes
-- Forget the failures of endpoints that answered.
UPDATE endpoints SET failures = 0, rests_until = NULL
WHERE tenant_id = %(tenant_id)s AND name = ANY (%(names)s) AND (failures > 0 OR rests_until IS NOT NULL)

-- name: note_failures
-- Count failures, and let an endpoint rest after so many. The rows are locked in the order of their names, so that
-- two workers cannot wait in a circle.
WITH failed AS (
    SELECT e.name, row.count
    FROM endpoints e
    JOIN unnest(%(names)s::text[], %(counts)s::integer[]) AS row (name, count) ON row.name = e.name
    WHERE e.tenant_id = %(tenant_id)s
    ORDER BY e.name
    FOR UPDATE OF e
)
UPDATE endpoints e
SET failures = e.failures + f.count,
    rests_until = CASE WHEN e.failures + f.count >= %(limit)s
                       THEN now() + make_interval(secs => least(
                           %(first_seconds)s * 2.0 ^ least((e.failures + f.count) / %(limit)s - 1, 20), %(cap_seconds)s))
                       ELSE e.rests_until END
FROM failed f
WHERE e.tenant_id = %(tenant_id)s AND e.name = ANY (%(names)s) AND e.name = f.name

-- name: disable_endpoint
-- Disable an endpoint that is gone.
UPDATE endpoints SET status = 'disabled', disabled_reason = %(reason)s, updated_at = now()
WHERE tenant_id = %(tenant_id)s AND name = %(name)s AND status = 'active'

-- name: read_recipients
-- Read who a message is for. A role or a reporting line is resolved when the message is sent, not when it was
-- decided.
WITH RECURSIVE named AS (
    SELECT x."user", x.role, x.manager_of, least(coalesce(x.levels, 1), %(max_levels)s::integer) AS levels
    FROM jsonb_to_recordset(%(named)s::jsonb) AS x ("user" text, role text, manager_of text, levels integer)
), climbing AS (
    SELECT manager_of AS user_id, levels FROM named WHERE manager_of IS NOT NULL
    UNION ALL
    SELECT o.manager_id, c.levels - 1
    FROM climbing c
    JOIN org_chart o ON o.tenant_id = %(tenant_id)s AND o.user_id = c.user_id
    WHERE c.levels > 0
), people AS (
    SELECT "user" AS user_id FROM named WHERE "user" IS NOT NULL
    UNION
    SELECT user_id FROM climbing WHERE levels = 0
    UNION
    SELECT r.user_id FROM named n JOIN member_roles r ON r.tenant_id = %(tenant_id)s AND r.role = n.role
)
SELECT m.user_id, m.display_name, m.email, m.phone
FROM members m
WHERE m.tenant_id = %(tenant_id)s AND m.status = 'active' AND m.user_id IN (SELECT user_id FROM people)
ORDER BY m.user_id
LIMIT %(limit)s

-- name: tell_people
-- Write a notification for each person. The same effect writes each of them once, however often it is tried.
INSERT INTO notifications (tenant_id, id, user_id, kind, data, created_at)
SELECT %(tenant_id)s, row.id, row.user_id, 'message', %(data)s, now()
FROM unnest(%(ids)s::uuid[], %(user_ids)s::text[]) AS row (id, user_id)
ON CONFLICT (tenant_id, id) DO NOTHING
