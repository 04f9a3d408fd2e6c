-- name: read_admission
-- Read whether the tenant is there and active, and whether a member of that name is disabled.
SELECT t.status AS tenant_status, m.status AS member_status
FROM tenants t
LEFT JOIN members m ON m.tenant_id = t.tenant_id AND m.user_id = %(user_id)s
WHERE t.tenant_id = %(tenant_id)s
