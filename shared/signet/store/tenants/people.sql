-- part: note_changes
-- Begin the records of who may vote; each statement that changes it writes them with the change.
INSERT INTO eligibility_changes (tenant_id, id, changed_at, persons, actor_id, kind, user_id, role, other_user_id,
                                 permissions)
SELECT %(tenant_id)s, (left(%(change_id)s::text, 19) || substr(gen_random_uuid()::text, 20))::uuid, clock_timestamp(),
       %(persons)s::text[], %(actor_id)s::text

-- name: list_members
-- List members with their roles and their manager, by id.
SELECT m.user_id, m.display_name, m.email, m.phone, m.status,
       ARRAY(SELECT r.role FROM member_roles r
             WHERE r.tenant_id = m.tenant_id AND r.user_id = m.user_id ORDER BY r.role) AS roles,
       (SELECT c.manager_id FROM org_chart c WHERE c.tenant_id = m.tenant_id AND c.user_id = m.user_id) AS manager_id,
       m.created_at, m.updated_at, m.version
FROM members m
WHERE m.tenant_id = %(tenant_id)s AND m.user_id > %(after)s
ORDER BY m.user_id
LIMIT %(limit)s

-- name: find_member
-- Find a member with their roles and their manager.
SELECT m.user_id, m.display_name, m.email, m.phone, m.status,
       ARRAY(SELECT r.role FROM member_roles r
             WHERE r.tenant_id = m.tenant_id AND r.user_id = m.user_id ORDER BY r.role) AS roles,
       (SELECT c.manager_id FROM org_chart c WHERE c.tenant_id = m.tenant_id AND c.user_id = m.user_id) AS manager_id,
       m.created_at, m.updated_at, m.version
FROM members m
WHERE m.tenant_id = %(tenant_id)s AND m.user_id = %(user_id)s

-- name: read_display_names
-- Read the names that people are shown by, also of disabled members.
SELECT user_id, display_name FROM members WHERE tenant_id = %(tenant_id)s AND user_id = ANY (%(people)s)

-- name: list_absent
-- List those of these actors who are no active members any more. A key is as active as its owner. Nobody is listed whom
-- the tenant never had as a member.
SELECT asked.actor_id
FROM unnest(%(actor_ids)s::text[]) AS asked (actor_id)
LEFT JOIN members m ON m.tenant_id = %(tenant_id)s AND m.user_id = asked.actor_id
LEFT JOIN api_keys k
  ON k.tenant_id = %(tenant_id)s
 AND k.id = CASE WHEN asked.actor_id ~ '^key:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
                 THEN substr(asked.actor_id, 5)::uuid END
LEFT JOIN members o ON o.tenant_id = k.tenant_id AND o.user_id = k.owner_id
WHERE m.status <> 'active' OR k.id IS NOT NULL AND o.status IS DISTINCT FROM 'active'

-- name: set_member_status
-- Change the status of a member, and answer the roles that this touches. Without a row nothing changes. It is noted
-- for the member and for each of their roles, so that it is found by the roles that seats ask.
WITH changed AS (
    UPDATE members m SET status = %(status)s, updated_at = %(now)s
    WHERE m.tenant_id = %(tenant_id)s AND m.user_id = %(user_id)s AND m.status <> %(status)s
    RETURNING m.user_id, ARRAY(SELECT r.role FROM member_roles r
                               WHERE r.tenant_id = m.tenant_id AND r.user_id = m.user_id ORDER BY r.role) AS roles
), noted AS (
    {note_changes}, CASE %(status)s WHEN 'active' THEN 'member_enabled' ELSE 'member_disabled' END, user_id, touched, NULL, NULL
    FROM changed CROSS JOIN LATERAL unnest(roles || NULL::text) AS touched
)
SELECT roles FROM changed

-- name: has_administrator
-- Find out whether an active member holds one of these permissions, beside these: a tenant must keep one who does.
SELECT EXISTS (
    SELECT FROM roles o
    JOIN member_roles r ON r.tenant_id = o.tenant_id AND r.role = o.role
    JOIN members m ON m.tenant_id = r.tenant_id AND m.user_id = r.user_id AND m.status = 'active'
    WHERE o.tenant_id = %(tenant_id)s AND o.permissions && %(permissions)s::text[]
      AND m.user_id <> ALL (%(besides)s::text[]))

-- name: holds_role
-- Find out whether one of these people is a member with the role.
SELECT EXISTS (SELECT FROM member_roles
               WHERE tenant_id = %(tenant_id)s AND role = %(role)s AND user_id = ANY (%(user_ids)s::text[]))

-- name: list_roles
-- List the roles of a tenant by name.
SELECT role, permissions, created_at, updated_at, version
FROM roles
WHERE tenant_id = %(tenant_id)s AND role > %(after)s
ORDER BY role
LIMIT %(limit)s

-- name: list_permitted
-- List the roles that have one of these permissions, each with its first active holders and their number.
SELECT o.role, (array_agg(m.user_id ORDER BY m.user_id) FILTER (WHERE m.user_id IS NOT NULL))[1:%(shown)s] AS people,
       count(m.user_id)::int AS count
FROM roles o
LEFT JOIN member_roles r ON r.tenant_id = o.tenant_id AND r.role = o.role
LEFT JOIN members m ON m.tenant_id = r.tenant_id AND m.user_id = r.user_id AND m.status = 'active'
WHERE o.tenant_id = %(tenant_id)s AND o.permissions && %(permissions)s::text[]
GROUP BY o.role
ORDER BY o.role
LIMIT %(limit)s

-- name: find_roles
-- Find roles by their names.
SELECT role, permissions, created_at, updated_at, version
FROM roles
WHERE tenant_id = %(tenant_id)s AND role = ANY (%(roles)s::text[])
ORDER BY role

-- name: count_roles
-- Count the roles of a tenant, for the limit.
SELECT count(*) FROM roles WHERE tenant_id = %(tenant_id)s

-- name: is_role_held
-- Find out whether a role is held: by any member or service account, also a disabled one, or by a key that still opens
-- something.
SELECT EXISTS (SELECT FROM member_roles WHERE tenant_id = %(tenant_id)s AND role = %(role)s)
    OR EXISTS (SELECT FROM api_keys
               WHERE tenant_id = %(tenant_id)s AND %(role)s = ANY (roles) AND revoked_at IS NULL
                 AND (expires_at IS NULL OR expires_at > now()))
    OR EXISTS (SELECT FROM service_accounts WHERE tenant_id = %(tenant_id)s AND %(role)s = ANY (roles))

-- name: delete_role
-- Delete a role that is held no more.
WITH gone AS (
    DELETE FROM roles WHERE tenant_id = %(tenant_id)s AND role = %(role)s RETURNING role, permissions
)
{note_changes}, 'role_deleted', NULL, role, NULL, permissions FROM gone

-- name: list_lines
-- List the org chart by person.
SELECT user_id, manager_id, updated_at, version
FROM org_chart
WHERE tenant_id = %(tenant_id)s AND user_id > %(after)s
ORDER BY user_id
LIMIT %(limit)s

-- name: find_line
-- Find the reporting line of a person.
SELECT user_id, manager_id, updated_at, version
FROM org_chart
WHERE tenant_id = %(tenant_id)s AND user_id = %(user_id)s

-- name: is_above
-- Find out whether one person is reached by going up from the other, themselves included.
WITH RECURSIVE above AS (
    SELECT %(below)s::text AS user_id
    UNION
    SELECT c.manager_id
    FROM above
    JOIN org_chart c ON c.tenant_id = %(tenant_id)s AND c.user_id = above.user_id
)
SELECT EXISTS (SELECT FROM above WHERE user_id = %(user_id)s)

-- name: set_manager
-- Write the manager of a person. Both the old manager and the new one are noted.
WITH before AS (
    SELECT manager_id FROM org_chart WHERE tenant_id = %(tenant_id)s AND user_id = %(user_id)s
), written AS (
    INSERT INTO org_chart (tenant_id, user_id, manager_id) VALUES (%(tenant_id)s, %(user_id)s, %(manager_id)s)
    ON CONFLICT (tenant_id, user_id) DO UPDATE SET manager_id = excluded.manager_id, updated_at = now()
    RETURNING user_id, manager_id, updated_at, version
), noted AS (
    {note_changes}, 'manager_set', line.manager_id, NULL, %(user_id)s, NULL
    FROM (SELECT manager_id FROM before UNION SELECT manager_id FROM written) AS line
    WHERE NOT EXISTS (SELECT FROM before WHERE before.manager_id = %(manager_id)s)
)
SELECT user_id, manager_id, updated_at, version FROM written

-- name: remove_manager
-- Remove the manager of a person. Without a row there was none.
WITH gone AS (
    DELETE FROM org_chart WHERE tenant_id = %(tenant_id)s AND user_id = %(user_id)s RETURNING user_id, manager_id
)
{note_changes}, 'manager_set', manager_id, NULL, user_id, NULL FROM gone
