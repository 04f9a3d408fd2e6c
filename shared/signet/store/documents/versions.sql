-- name: list_versions
-- List the versions of a document, the newest first, without their content.
SELECT v.version, v.id AS snapshot_id, v.hash, v.actor_id, v.created_at, v.snapshot::jsonb ->> 'status' AS status
FROM document_versions v
WHERE v.tenant_id = %(tenant_id)s AND v.document_id = %(document_id)s AND v.version < %(before)s
ORDER BY v.version DESC
LIMIT %(limit)s

-- name: read_version
-- Read one version of a document with its content.
SELECT version, id AS snapshot_id, hash, actor_id, created_at, snapshot::jsonb ->> 'status' AS status,
       snapshot::jsonb -> 'data' AS data, snapshot
FROM document_versions
WHERE tenant_id = %(tenant_id)s AND document_id = %(document_id)s AND version = %(version)s

-- name: list_requests
-- List the transition requests of a document, the newest first.
SELECT id, document_version, transition, actor_id, reason, status, outcome, created_at, ended_at
FROM transition_requests
WHERE tenant_id = %(tenant_id)s AND document_id = %(document_id)s
  AND (created_at, id) < (%(before_at)s::timestamptz, %(before_id)s::uuid)
ORDER BY created_at DESC, id DESC
LIMIT %(limit)s
