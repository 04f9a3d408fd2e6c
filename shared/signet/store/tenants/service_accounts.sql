-- name: list_accounts
-- List the service accounts of a tenant by id.
SELECT a.id, a.label, a.roles, a.owner_id, m.status = 'active' AS owner_is_active, a.status, a.version, a.created_by,
       a.created_at, a.updated_at
FROM service_accounts a
JOIN members m ON m.tenant_id = a.tenant_id AND m.user_id = a.owner_id
WHERE a.tenant_id = %(tenant_id)s AND a.id > %(after)s
ORDER BY a.id
LIMIT %(limit)s

-- name: find_account
-- Find a service account.
SELECT a.id, a.label, a.roles, a.owner_id, m.status = 'active' AS owner_is_active, a.status, a.version, a.created_by,
       a.created_at, a.updated_at
FROM service_accounts a
JOIN members m ON m.tenant_id = a.tenant_id AND m.user_id = a.owner_id
WHERE a.tenant_id = %(tenant_id)s AND a.id = %(id)s

-- name: count_accounts
-- Count the service accounts of a tenant, for the limit.
SELECT count(*) FROM service_accounts WHERE tenant_id = %(tenant_id)s

-- name: is_role_of_running_account
-- Find out whether an active service account has a role.
SELECT EXISTS (SELECT FROM service_accounts
               WHERE tenant_id = %(tenant_id)s AND status = 'active' AND %(role)s = ANY (roles))

-- name: save_account
-- Write a service account, or its next version.
INSERT INTO service_accounts (tenant_id, id, label, roles, owner_id, status, created_by, created_at, updated_at)
VALUES (%(tenant_id)s, %(id)s, %(label)s, %(roles)s, %(owner_id)s, %(status)s, %(saved_by)s, %(now)s, %(now)s)
ON CONFLICT (tenant_id, id) DO UPDATE
SET label = excluded.label, roles = excluded.roles, owner_id = excluded.owner_id, status = excluded.status,
    version = service_accounts.version + 1, updated_at = excluded.updated_at

-- name: install_accounts
-- Write the service accounts of a tenant's file, or change those that differ. Their status stays.
INSERT INTO service_accounts (tenant_id, id, label, roles, owner_id, created_by)
SELECT %(tenant_id)s, item ->> 'id', item ->> 'label', ARRAY(SELECT jsonb_array_elements_text(item -> 'roles')),
       item ->> 'owner', %(saved_by)s
FROM jsonb_array_elements(%(accounts)s::jsonb) AS item
ON CONFLICT (tenant_id, id) DO UPDATE
SET label = excluded.label, roles = excluded.roles, owner_id = excluded.owner_id,
    version = service_accounts.version + 1, updated_at = now()
WHERE (service_accounts.label, service_accounts.roles, service_accounts.owner_id)
      IS DISTINCT FROM (excluded.label, excluded.roles, excluded.owner_id)

-- name: read_running_accounts
-- Read the service accounts that steps run as, with the permissions that their roles have now.
SELECT a.id, a.label, a.roles, a.owner_id, a.status, m.status AS owner_status,
       coalesce((SELECT jsonb_object_agg(r.role, to_jsonb(r.permissions)) FROM roles r
                 WHERE r.tenant_id = a.tenant_id AND r.role = ANY (a.roles)), '{}') AS permissions
FROM service_accounts a
JOIN members m ON m.tenant_id = a.tenant_id AND m.user_id = a.owner_id
WHERE a.tenant_id = %(tenant_id)s AND a.id = ANY (%(ids)s::text[])
