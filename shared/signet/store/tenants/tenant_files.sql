-- name: find_installed
-- Find what the tenant's file said when it was last installed.
SELECT content FROM tenant_files WHERE tenant_id = %(tenant_id)s

-- name: save_installed
-- Write what the file says now.
INSERT INTO tenant_files AS f (tenant_id, content) VALUES (%(tenant_id)s, %(content)s)
ON CONFLICT (tenant_id) DO UPDATE SET content = excluded.content, installed_at = now()
WHERE f.content <> excluded.content

-- name: find_named_members
-- Find members by their ids, with their roles and their manager.
SELECT m.user_id, m.display_name, m.email, m.phone, m.status,
       ARRAY(SELECT r.role FROM member_roles r
             WHERE r.tenant_id = m.tenant_id AND r.user_id = m.user_id ORDER BY r.role) AS roles,
       (SELECT c.manager_id FROM org_chart c WHERE c.tenant_id = m.tenant_id AND c.user_id = m.user_id) AS manager_id,
       m.created_at, m.updated_at, m.version
FROM members m
WHERE m.tenant_id = %(tenant_id)s AND m.user_id = ANY (%(user_ids)s)
ORDER BY m.user_id
