-- name: read_admission
-- Read whether the tenant is there and active, and whether a member of that name is disabled. Where no member has the
-- name, read who has one that looks like it.
SELECT t.status AS tenant_status, m.status AS member_status,
       (SELECT a.user_id FROM members a
        WHERE a.tenant_id = t.tenant_id AND a.skeleton = ANY (%(skeletons)s) AND m.user_id IS NULL
        ORDER BY a.user_id LIMIT 1) AS look_alike
FROM tenants t
LEFT JOIN members m ON m.tenant_id = t.tenant_id AND m.user_id = %(user_id)s
WHERE t.tenant_id = %(tenant_id)s
