-- name: find_endpoints
SELECT name, url, secret_refs, status, disabled_reason, version, failures, rests_until, created_by, created_at, updated_at
FROM endpoints
WHERE tenant_id = %(tenant_id)s AND name = ANY (%(names)s)

-- name: read_webhook_hosts
SELECT settings -> 'webhook_hosts' FROM tenants WHERE tenant_id = %(tenant_id)s

-- name: list_endpoints
SELECT name, url, secret_refs, status, disabled_reason, version, failures, rests_until, created_by, created_at, updated_at
FROM endpoints
WHERE tenant_id = %(tenant_id)s AND name > %(after)s
ORDER BY name
LIMIT %(limit)s

-- name: insert_endpoint
INSERT INTO endpoints (tenant_id, name, url, secret_refs, status, created_by, created_at, updated_at)
VALUES (%(tenant_id)s, %(name)s, %(url)s, %(secret_refs)s, %(status)s, %(created_by)s, %(now)s, %(now)s)
ON CONFLICT (tenant_id, name) DO NOTHING

-- name: change_endpoint
-- Whoever changes it has looked at it: it is tried again at once.
UPDATE endpoints
SET url = %(url)s, secret_refs = %(secret_refs)s, status = %(status)s, disabled_reason = %(disabled_reason)s,
    version = version + 1, failures = 0, rests_until = NULL, updated_at = %(now)s
WHERE tenant_id = %(tenant_id)s AND name = %(name)s AND version = %(version)s

-- name: delete_endpoint
DELETE FROM endpoints WHERE tenant_id = %(tenant_id)s AND name = %(name)s AND version = %(version)s

-- name: note_successes
UPDATE endpoints SET failures = 0, rests_until = NULL
WHERE tenant_id = %(tenant_id)s AND name = ANY (%(names)s) AND (failures > 0 OR rests_until IS NOT NULL)

-- name: note_failures
-- In the order of their names: two workers that note the same endpoints do not wait for each other in a circle.
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
UPDATE endpoints SET status = 'disabled', disabled_reason = %(reason)s, updated_at = now()
WHERE tenant_id = %(tenant_id)s AND name = %(name)s AND status = 'active'

-- name: read_recipients
-- Who a role or a reporting line means is found when something is sent, and not when it was decided.
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
-- The same effect tells each person once, however often it is tried.
INSERT INTO notifications (tenant_id, id, user_id, kind, data, created_at)
SELECT %(tenant_id)s, row.id, row.user_id, 'message', %(data)s, now()
FROM unnest(%(ids)s::uuid[], %(user_ids)s::text[]) AS row (id, user_id)
ON CONFLICT (tenant_id, id) DO NOTHING
