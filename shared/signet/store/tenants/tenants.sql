-- part: note_changes
-- Begin the records of who may vote; each statement that changes it writes them with the change.
INSERT INTO eligibility_changes (tenant_id, id, changed_at, persons, actor_id, kind, user_id, role, other_user_id,
                                 permissions)
SELECT %(tenant_id)s, (left(%(change_id)s::text, 19) || substr(gen_random_uuid()::text, 20))::uuid, clock_timestamp(),
       %(persons)s::text[], %(actor_id)s::text

-- name: upsert_tenant
-- Write a tenant, or change it where it differs: its version grows only by a change. A file that is silent about
-- four_eyes leaves that as it is, so that no installation switches it off unnoticed.
WITH wanted AS (
    SELECT %(settings)s::jsonb || CASE WHEN %(says_four_eyes)s THEN '{}' ELSE coalesce(
        (SELECT jsonb_build_object('four_eyes', t.settings -> 'four_eyes') FROM tenants t
         WHERE t.tenant_id = %(tenant_id)s AND t.settings ? 'four_eyes'), '{}') END AS settings
)
INSERT INTO tenants (tenant_id, name, settings) SELECT %(tenant_id)s, %(name)s, wanted.settings FROM wanted
ON CONFLICT (tenant_id) DO UPDATE
SET name = excluded.name, settings = excluded.settings, version = tenants.version + 1, updated_at = now()
WHERE (tenants.name, tenants.settings) IS DISTINCT FROM (excluded.name, excluded.settings)

-- name: find_tenant
-- Find a tenant with its settings.
SELECT tenant_id, name, status, settings, version FROM tenants WHERE tenant_id = %(tenant_id)s

-- name: act_as_dispatch
-- Act as the role that sees the ids of all tenants, until the transaction ends.
SET LOCAL ROLE signet_dispatch

-- name: list_tenant_ids
-- List the ids of tenants, page by page.
SELECT tenant_id FROM tenants WHERE tenant_id > %(after)s ORDER BY tenant_id LIMIT %(limit)s

-- name: find_tenant_record
-- Find a tenant with the moments of its record.
SELECT tenant_id, name, status, settings, version, created_at, updated_at FROM tenants WHERE tenant_id = %(tenant_id)s

-- name: change_tenant
-- Change the name and the settings of a tenant.
UPDATE tenants SET name = %(name)s, settings = %(settings)s, version = version + 1, updated_at = %(now)s
WHERE tenant_id = %(tenant_id)s

-- name: set_tenant_status
-- Suspend or activate a tenant. Without a row nothing changes.
UPDATE tenants SET status = %(status)s, version = version + 1, updated_at = %(now)s
WHERE tenant_id = %(tenant_id)s AND status <> %(status)s

-- name: upsert_roles
-- Write roles, or change those that differ, and answer of each how. It is noted apart where a role has lost nothing: a
-- new one has not.
WITH before AS (
    SELECT role, permissions FROM roles
    WHERE tenant_id = %(tenant_id)s
      AND role IN (SELECT item ->> 'role' FROM jsonb_array_elements(%(roles)s::jsonb) AS item)
), written AS (
    INSERT INTO roles (tenant_id, role, permissions)
    SELECT %(tenant_id)s, item ->> 'role', ARRAY(SELECT jsonb_array_elements_text(item -> 'permissions'))
    FROM jsonb_array_elements(%(roles)s::jsonb) AS item
    ON CONFLICT (tenant_id, role) DO UPDATE SET permissions = excluded.permissions, updated_at = now()
    WHERE roles.permissions IS DISTINCT FROM excluded.permissions
    RETURNING role, permissions
)
{note_changes}, CASE WHEN before.role IS NULL OR before.permissions <@ written.permissions THEN 'role_widened'
                     ELSE 'role_permissions_changed' END, NULL, role, NULL,
  coalesce(before.permissions, '{}')
FROM written LEFT JOIN before USING (role)
RETURNING kind, role

-- name: upsert_members
-- Write members, or change those that differ. A new one is active. The skeleton of an id is written once, with the
-- member.
WITH known AS (
    SELECT user_id FROM members WHERE tenant_id = %(tenant_id)s AND user_id = ANY (%(user_ids)s)
), written AS (
    INSERT INTO members (tenant_id, user_id, display_name, email, phone, skeleton)
    SELECT %(tenant_id)s, user_id, display_name, email, phone, skeleton
    FROM jsonb_to_recordset(%(members)s::jsonb)
             AS item (user_id text, display_name text, email text, phone text, skeleton text)
    ON CONFLICT (tenant_id, user_id) DO UPDATE
    SET display_name = excluded.display_name, email = excluded.email, phone = excluded.phone, updated_at = now()
    WHERE (members.display_name, members.email, members.phone)
          IS DISTINCT FROM (excluded.display_name, excluded.email, excluded.phone)
    RETURNING user_id
)
{note_changes}, 'member_enabled', user_id, NULL, NULL, NULL FROM written WHERE user_id NOT IN (SELECT user_id FROM known)

-- name: lock_roles
-- Take the lock of a tenant's roles alone. A transaction that takes a role away waits for the waves that have asked
-- who holds it (approvals/requests: lock_roles_shared).
SELECT pg_advisory_xact_lock(hashtextextended('roles of ' || %(tenant_id)s::uuid, 0))

-- name: delete_other_member_roles
-- Take from these members the roles that are not in the list, and answer who lost which.
WITH taken AS (
    DELETE FROM member_roles
    WHERE tenant_id = %(tenant_id)s
      AND user_id = ANY (%(user_ids)s)
      AND (user_id, role) NOT IN (SELECT * FROM unnest(%(pair_user_ids)s::text[], %(pair_roles)s::text[]))
    RETURNING user_id, role
), noted AS (
    {note_changes}, 'role_taken', taken.user_id, taken.role, NULL,
      (SELECT r.permissions FROM roles r WHERE r.tenant_id = %(tenant_id)s AND r.role = taken.role)
    FROM taken
)
SELECT user_id, role FROM taken

-- name: insert_member_roles
-- Give members the roles of the list that they do not have.
WITH given AS (
    INSERT INTO member_roles (tenant_id, user_id, role)
    SELECT %(tenant_id)s, user_id, role
    FROM unnest(%(pair_user_ids)s::text[], %(pair_roles)s::text[]) AS pair (user_id, role)
    ON CONFLICT DO NOTHING
    RETURNING user_id, role
)
{note_changes}, 'role_given', user_id, role, NULL, NULL FROM given

-- name: delete_other_managers
-- Remove the managers of those who have none in the list.
WITH gone AS (
    DELETE FROM org_chart
    WHERE tenant_id = %(tenant_id)s AND user_id = ANY (%(user_ids)s) AND user_id <> ALL (%(managed_user_ids)s)
    RETURNING user_id, manager_id
)
{note_changes}, 'manager_set', manager_id, NULL, user_id, NULL FROM gone

-- name: upsert_managers
-- Write managers, or change those that differ. Both the old manager and the new one are noted.
WITH before AS (
    SELECT user_id, manager_id FROM org_chart
    WHERE tenant_id = %(tenant_id)s AND user_id = ANY (%(managed_user_ids)s)
), written AS (
    INSERT INTO org_chart (tenant_id, user_id, manager_id)
    SELECT %(tenant_id)s, user_id, manager_id
    FROM unnest(%(managed_user_ids)s::text[], %(manager_ids)s::text[]) AS line (user_id, manager_id)
    ON CONFLICT (tenant_id, user_id) DO UPDATE SET manager_id = excluded.manager_id, updated_at = now()
    WHERE org_chart.manager_id <> excluded.manager_id
    RETURNING user_id, manager_id
)
{note_changes}, 'manager_set', line.manager_id, NULL, line.user_id, NULL
FROM (
    SELECT user_id, manager_id FROM written
    UNION ALL
    SELECT before.user_id, before.manager_id FROM before JOIN written USING (user_id)
) AS line

-- name: list_members
-- List members with their roles and their manager, as a tenant file names them.
SELECT m.user_id, m.display_name, m.email, m.status,
       ARRAY(SELECT role FROM member_roles r
             WHERE r.tenant_id = m.tenant_id AND r.user_id = m.user_id ORDER BY role) AS roles,
       (SELECT manager_id FROM org_chart c WHERE c.tenant_id = m.tenant_id AND c.user_id = m.user_id) AS manager_id
FROM members m
WHERE m.tenant_id = %(tenant_id)s
ORDER BY m.user_id
LIMIT %(limit)s

-- name: read_now
-- Read the moment of the transaction: the database's clock is the only one.
SELECT now()

-- name: read_session
-- Read as whom and from where this session was opened, as the server saw it: no address is a socket of this machine.
SELECT session_user::text, coalesce(host(inet_client_addr()), 'local')

-- name: find_member_roles
-- Find the roles of an active member. Without a row there is none of that name.
SELECT ARRAY(SELECT role FROM member_roles r
             WHERE r.tenant_id = m.tenant_id AND r.user_id = m.user_id ORDER BY role) AS roles
FROM members m
WHERE m.tenant_id = %(tenant_id)s AND m.user_id = %(user_id)s AND m.status = 'active'
