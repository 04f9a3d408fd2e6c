-- name: list_rows
-- List audit rows by transaction, which is the order of the seals.
SELECT tenant_id::text, id::text, subject_type, subject_id, seq, previous_hash, hash, content, action, actor_id,
       concat(to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
              CASE WHEN created_at < '0001-01-01 00:00:00Z' THEN ' BC' END) AS created_at,
       epoch, xid::text
FROM audit_log
WHERE tenant_id = %(tenant_id)s AND (epoch, xid, id) > (%(epoch)s, %(xid)s::xid8, %(id)s)
ORDER BY epoch, audit_log.xid, audit_log.id
LIMIT %(limit)s

-- name: list_chained_rows
-- List audit rows by subject, which is the order of the chains.
SELECT tenant_id::text, id::text, subject_type, subject_id, seq, previous_hash, hash, content, action, actor_id,
       concat(to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
              CASE WHEN created_at < '0001-01-01 00:00:00Z' THEN ' BC' END) AS created_at,
       epoch, xid::text
FROM audit_log
WHERE tenant_id = %(tenant_id)s AND seq IS NOT NULL
  AND (subject_type, subject_id, seq) > (%(subject_type)s, %(subject_id)s, %(seq)s)
ORDER BY subject_type, subject_id, seq
LIMIT %(limit)s

-- name: list_subject_rows
-- List the chain of one subject.
SELECT tenant_id::text, id::text, subject_type, subject_id, seq, previous_hash, hash, content, action, actor_id,
       concat(to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
              CASE WHEN created_at < '0001-01-01 00:00:00Z' THEN ' BC' END) AS created_at,
       epoch, xid::text
FROM audit_log
WHERE tenant_id = %(tenant_id)s AND subject_type = %(subject_type)s AND subject_id = %(subject_id)s
  AND seq > %(seq)s
ORDER BY seq
LIMIT %(limit)s

-- name: list_seals
-- List seals in their order.
SELECT tenant_id::text, sequence, epoch, from_xid::text, to_xid::text, row_count, merkle_root, previous_seal,
       concat(to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
              CASE WHEN created_at < '0001-01-01 00:00:00Z' THEN ' BC' END) AS created_at, seal
FROM audit_seals
WHERE tenant_id = %(tenant_id)s AND sequence > %(sequence)s
ORDER BY sequence
LIMIT %(limit)s

-- name: find_seal_over
-- Find the seal that covers a transaction.
SELECT tenant_id::text, sequence, epoch, from_xid::text, to_xid::text, row_count, merkle_root, previous_seal,
       concat(to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
              CASE WHEN created_at < '0001-01-01 00:00:00Z' THEN ' BC' END) AS created_at, seal
FROM audit_seals
WHERE tenant_id = %(tenant_id)s AND epoch = %(epoch)s AND from_xid <= %(xid)s::xid8 AND to_xid > %(xid)s::xid8
ORDER BY sequence LIMIT 1

-- name: list_versions
-- List document versions with their snapshots, of one document or of all.
SELECT document_id::text, version, id::text, snapshot, hash
FROM document_versions
WHERE tenant_id = %(tenant_id)s AND (document_id, version) > (%(document_id)s, %(version)s)
  AND (%(only)s::uuid IS NULL OR document_id = %(only)s::uuid)
ORDER BY document_versions.document_id, version
LIMIT %(limit)s

-- name: list_documents_without_version
-- List documents at a version of which there is no snapshot.
SELECT d.id::text, d.version FROM documents d
WHERE d.tenant_id = %(tenant_id)s AND NOT EXISTS (
    SELECT FROM document_versions v
    WHERE v.tenant_id = d.tenant_id AND v.document_id = d.id AND v.version = d.version)
ORDER BY d.id
LIMIT %(limit)s

-- name: list_definitions
-- List compiled definitions, of the instances of one document or of all.
SELECT id::text, definition_kind, entity_type, name, version, status, compiler_version, compiled_hash, compiled_json
FROM workflow_definitions d
WHERE tenant_id = %(tenant_id)s AND compiled_json IS NOT NULL AND id > %(id)s
  AND (%(entity_id)s::uuid IS NULL OR EXISTS (
      SELECT FROM workflow_instances i
      WHERE i.tenant_id = d.tenant_id AND i.definition_id = d.id AND i.entity_id = %(entity_id)s::uuid))
ORDER BY d.id
LIMIT %(limit)s
