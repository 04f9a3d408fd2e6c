-- name: find_document_type
-- Find the type of a document, also of one that was deleted.
SELECT entity_type FROM documents WHERE tenant_id = %(tenant_id)s AND id = %(document_id)s

-- name: list_audit
-- List the audit chain of a document.
SELECT seq, id, action, actor_id, created_at, previous_hash, hash, content
FROM audit_log
WHERE tenant_id = %(tenant_id)s AND subject_type = 'document' AND subject_id = %(document_id)s::text
  AND seq > %(after)s
ORDER BY seq
LIMIT %(limit)s

-- name: list_timeline
-- List what happened to a document, the newest first. Of each kind a whole page is read, so that the newest of all
-- are among them.
WITH instances AS MATERIALIZED (
    SELECT id FROM workflow_instances
    WHERE tenant_id = %(tenant_id)s AND entity_type = %(entity_type)s AND entity_id = %(document_id)s
), mutations AS (
    SELECT a.created_at AS at, a.id, 'mutation' AS kind, a.action AS what, a.actor_id, NULL AS on_behalf_of,
           NULL AS reason, NULL::bigint AS version, NULL::uuid AS instance_id, NULL AS node_id, NULL AS outcome,
           a.content
    FROM audit_log a
    WHERE a.tenant_id = %(tenant_id)s AND a.subject_type = 'document' AND a.subject_id = %(document_id)s::text
      AND a.seq IS NOT NULL AND (a.created_at, a.id) < (%(before)s::timestamptz, %(before_id)s::uuid)
    ORDER BY a.created_at DESC, a.id DESC
    LIMIT %(limit)s
), requests AS (
    SELECT r.created_at, r.id, 'request', r.transition, r.actor_id, NULL, r.reason, r.document_version, NULL::uuid,
           NULL, r.status, NULL
    FROM transition_requests r
    WHERE r.tenant_id = %(tenant_id)s AND r.document_id = %(document_id)s
      AND (r.created_at, r.id) < (%(before)s::timestamptz, %(before_id)s::uuid)
    ORDER BY r.created_at DESC, r.id DESC
    LIMIT %(limit)s
), history AS (
    SELECT e.created_at, e.id, 'history', e.entry, e.actor_id, NULL, e.data ->> 'reason', NULL::bigint, e.subject_id,
           NULL, NULL, NULL
    FROM instances i
    JOIN workflow_event e ON e.tenant_id = %(tenant_id)s AND e.subject_id = i.id
    WHERE e.subject_kind = 'instance' AND (e.created_at, e.id) < (%(before)s::timestamptz, %(before_id)s::uuid)
    ORDER BY e.created_at DESC, e.id DESC
    LIMIT %(limit)s
), steps AS (
    SELECT s.completed_at, s.id, 'step', s.node_type, s.actor_user_id, NULL, s.error, s.entity_version, s.instance_id,
           s.node_id, coalesce(s.output_json ->> 'outcome', s.status), NULL
    FROM instances i
    JOIN workflow_step_executions s ON s.tenant_id = %(tenant_id)s AND s.instance_id = i.id
    WHERE s.completed_at IS NOT NULL AND s.node_type NOT IN ('slot_in', 'slot_out')
      AND (s.completed_at, s.id) < (%(before)s::timestamptz, %(before_id)s::uuid)
    ORDER BY s.completed_at DESC, s.id DESC
    LIMIT %(limit)s
), decisions AS (
    SELECT d.created_at, d.id, 'decision', d.decision, d.decided_by, d.on_behalf_of, d.reason, d.document_version,
           r.instance_id, r.node_id, NULL, NULL
    FROM approval_requests r
    JOIN approval_decisions d ON d.tenant_id = r.tenant_id AND d.request_id = r.id
    WHERE r.tenant_id = %(tenant_id)s AND r.document_id = %(document_id)s
      AND (d.created_at, d.id) < (%(before)s::timestamptz, %(before_id)s::uuid)
    ORDER BY d.created_at DESC, d.id DESC
    LIMIT %(limit)s
)
SELECT * FROM mutations
UNION ALL SELECT * FROM requests
UNION ALL SELECT * FROM history
UNION ALL SELECT * FROM steps
UNION ALL SELECT * FROM decisions
ORDER BY at DESC, id DESC
LIMIT %(limit)s

-- name: find_newest_instance
-- Find the newest instance of a document, live or not.
SELECT id FROM workflow_instances
WHERE tenant_id = %(tenant_id)s AND entity_type = %(entity_type)s AND entity_id = %(document_id)s
ORDER BY id DESC
LIMIT 1
