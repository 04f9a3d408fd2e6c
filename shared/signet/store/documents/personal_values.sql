-- name: lock_document
-- Lock a document, so that no value is written while its values are erased.
SELECT FROM documents WHERE tenant_id = %(tenant_id)s AND id = %(document_id)s FOR NO KEY UPDATE

-- name: erase_values
-- Erase the personal values of a document, all or those of some fields. The rows stay, because snapshots refer to
-- them.
UPDATE personal_values
SET salt = NULL, value = NULL, erased_at = clock_timestamp()
WHERE tenant_id = %(tenant_id)s AND document_id = %(document_id)s AND erased_at IS NULL
  AND (%(fields)s::text[] IS NULL OR field = ANY (%(fields)s::text[]))
RETURNING id::text, field, erased_at

-- name: read_values
-- Read personal values by their ids; the value is null once it is erased.
SELECT id::text, salt, value::text FROM personal_values
WHERE tenant_id = %(tenant_id)s AND id = ANY (%(ids)s::uuid[])

-- name: list_erased_since
-- List which of these fields of a document have lost a value since it had a version.
SELECT DISTINCT p.field FROM personal_values p
WHERE p.tenant_id = %(tenant_id)s AND p.document_id = %(document_id)s AND p.field = ANY (%(fields)s)
  AND p.erased_at >= (SELECT v.created_at FROM document_versions v
                      WHERE v.tenant_id = p.tenant_id AND v.document_id = p.document_id AND v.version = %(version)s)

-- name: list_erased_since_asked
-- List which of these fields of a document have lost a value since people were first asked about this version of it or a
-- later one, and no gate has used their approval.
SELECT DISTINCT p.field FROM personal_values p
WHERE p.tenant_id = %(tenant_id)s AND p.document_id = %(document_id)s AND p.field = ANY (%(fields)s)
  AND p.erased_at > (
      SELECT min(q.created_at) FROM approval_requests q
      WHERE q.tenant_id = p.tenant_id AND q.document_id = p.document_id AND q.document_version >= %(version)s
        AND q.created_at > coalesce(
            (SELECT max(u.ended_at) FROM approval_requests u
             WHERE u.tenant_id = p.tenant_id AND u.document_id = p.document_id AND u.applied), '-infinity'))

-- name: list_erased_fields
-- List the fields of a document that have lost a value.
SELECT DISTINCT p.field FROM personal_values p
WHERE p.tenant_id = %(tenant_id)s AND p.document_id = %(document_id)s AND p.erased_at IS NOT NULL
ORDER BY p.field

-- name: find_live_instance
-- Find the live workflow of a document, by its id alone.
SELECT i.id FROM documents d
JOIN workflow_instances i ON i.tenant_id = d.tenant_id AND i.entity_type = d.entity_type AND i.entity_id = d.id
WHERE d.tenant_id = %(tenant_id)s AND d.id = %(document_id)s AND i.kind = 'envelope' AND i.status IN ('running', 'paused')
