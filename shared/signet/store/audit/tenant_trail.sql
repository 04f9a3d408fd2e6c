-- name: list_of_tenant
-- List the audit rows about the tenant itself, the newest first. Those of documents are in their own chains.
SELECT id, subject_type, subject_id, seq, action, actor_id, created_at, previous_hash, hash, content
FROM audit_log
WHERE tenant_id = %(tenant_id)s AND subject_type <> 'document' AND id < %(before)s
ORDER BY id DESC
LIMIT %(limit)s
