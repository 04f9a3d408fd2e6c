-- name: read_machine_labels
-- Read what people call keys and service accounts, and who owns them.
SELECT 'key:' || k.id AS subject, 'key' AS kind, k.name, k.owner_id
FROM api_keys k
WHERE k.tenant_id = %(tenant_id)s AND k.id = ANY (%(keys)s::uuid[])
UNION ALL
SELECT 'service:' || a.id, 'service_account', a.label, a.owner_id
FROM service_accounts a
WHERE a.tenant_id = %(tenant_id)s AND a.id = ANY (%(accounts)s::text[])
