-- name: list_calendars
-- List the calendars of a tenant in the version in force, by name.
SELECT v.name, v.version, v.hash, v.created_by, v.created_at
FROM calendars c
JOIN calendar_versions v ON v.tenant_id = c.tenant_id AND v.name = c.name AND v.version = c.version
WHERE c.tenant_id = %(tenant_id)s AND c.name > %(after)s
ORDER BY c.name
LIMIT %(limit)s

-- name: list_versions
-- List the versions of one calendar, the newest first.
SELECT name, version, hash, created_by, created_at
FROM calendar_versions
WHERE tenant_id = %(tenant_id)s AND name = %(name)s AND version < %(before)s
ORDER BY version DESC
LIMIT %(limit)s

-- name: find_calendar
-- Find a calendar in the version in force, or in one that is named.
SELECT v.name, v.version, v.hash, v.body, v.created_by, v.created_at
FROM calendars c
JOIN calendar_versions v ON v.tenant_id = c.tenant_id AND v.name = c.name
 AND v.version = coalesce(%(version)s::bigint, c.version)
WHERE c.tenant_id = %(tenant_id)s AND c.name = %(name)s

-- name: find_in_force
-- Find the calendar of a name, or that of the tenant's settings. Where nothing is found, the name says what is missing.
SELECT wanted.name, v.version, v.body
FROM (SELECT coalesce(%(name)s::text, t.settings ->> 'calendar') AS name FROM tenants t
      WHERE t.tenant_id = %(tenant_id)s) AS wanted
LEFT JOIN calendars c ON c.tenant_id = %(tenant_id)s AND c.name = wanted.name
LEFT JOIN calendar_versions v ON v.tenant_id = c.tenant_id AND v.name = c.name AND v.version = c.version

-- name: count_calendars
-- Count the calendars of a tenant, for the limit.
SELECT count(*) FROM calendars WHERE tenant_id = %(tenant_id)s

-- name: insert_version
-- Write a version, which never changes.
INSERT INTO calendar_versions (tenant_id, name, version, body, hash, created_by, responsible, created_at)
VALUES (%(tenant_id)s, %(name)s, %(version)s, %(body)s, %(hash)s, %(created_by)s, %(responsible)s, %(now)s)

-- name: put_in_force
-- Put a version in force.
INSERT INTO calendars (tenant_id, name, version, created_at, updated_at)
VALUES (%(tenant_id)s, %(name)s, %(version)s, %(now)s, %(now)s)
ON CONFLICT (tenant_id, name) DO UPDATE SET version = excluded.version, updated_at = excluded.updated_at
