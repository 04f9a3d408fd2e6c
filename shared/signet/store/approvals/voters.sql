-- name: read_documents
-- Read the documents of requests as a vote would find them, without a lock and without their content.
SELECT d.id, d.entity_type, d.contract_version, d.status, d.version, d.creator_id, d.created_at, d.updated_at,
       (SELECT i.id FROM workflow_instances i
        WHERE i.tenant_id = d.tenant_id AND i.entity_type = d.entity_type AND i.entity_id = d.id
          AND i.kind = 'envelope' AND i.status IN ('running', 'paused')
        LIMIT 1) AS instance_id,
       (SELECT v.hash FROM document_versions v
        WHERE v.tenant_id = d.tenant_id AND v.document_id = d.id AND v.version = d.version
        LIMIT 1) AS snapshot_hash,
       coalesce((SELECT s.persons FROM responsible_sets s
                 WHERE s.tenant_id = d.tenant_id AND s.hash = d.creator_responsible),
                ARRAY[d.creator_id]) AS creator_responsible,
       coalesce((SELECT s.persons FROM responsible_sets s
                 WHERE s.tenant_id = d.tenant_id AND s.hash = d.editor_responsible),
                d.editor_ids) AS editor_responsible,
       coalesce((SELECT coalesce((SELECT s.persons FROM responsible_sets s
                                  WHERE s.tenant_id = q.tenant_id AND s.hash = q.responsible), ARRAY[q.actor_id])
                 FROM transition_requests q
                 WHERE q.tenant_id = d.tenant_id AND q.document_id = d.id AND q.status = 'open'
                 LIMIT 1), '{}') AS requester_responsible
FROM documents d
WHERE d.tenant_id = %(tenant_id)s AND d.id = ANY (%(ids)s)

-- name: read_contents
-- Read the content of documents, with the personal values that it refers to. Only conditions on voters want it.
SELECT d.id, d.data, coalesce((SELECT jsonb_object_agg(p.id, p.value) FROM personal_values p
                               WHERE p.tenant_id = d.tenant_id AND p.document_id = d.id AND p.erased_at IS NULL), '{}')
FROM documents d
WHERE d.tenant_id = %(tenant_id)s AND d.id = ANY (%(ids)s)

-- name: list_seats
-- List the seats of these requests.
SELECT request_id, stage, position, holder_user_id, holder_role, needed_role, origin, status, decided_by, on_behalf_of,
       handed_over_from, asked_at, lines
FROM approval_seats
WHERE tenant_id = %(tenant_id)s AND request_id = ANY (%(ids)s)
ORDER BY request_id, stage, position

-- name: list_delegations
-- List what these people may rely on now as delegates.
SELECT id, user_id, delegate_id, entity_type, from_time, to_time, created_by, coalesce(given_by, ARRAY[created_by]) AS given_by,
       coalesce(given_at, created_at) AS given_at
FROM approval_delegations
WHERE tenant_id = %(tenant_id)s AND delegate_id = ANY (%(people)s) AND revoked_at IS NULL
  AND from_time <= %(now)s AND to_time > %(now)s
ORDER BY id
LIMIT %(limit)s

-- name: read_people
-- Read these people as far as they are active members, with what they may by their roles.
SELECT m.user_id,
       ARRAY(SELECT r.role FROM member_roles r
             WHERE r.tenant_id = m.tenant_id AND r.user_id = m.user_id ORDER BY r.role) AS roles,
       ARRAY(SELECT DISTINCT unnest(p.permissions) FROM member_roles r
             JOIN roles p ON p.tenant_id = r.tenant_id AND p.role = r.role
             WHERE r.tenant_id = m.tenant_id AND r.user_id = m.user_id) AS permissions
FROM members m
WHERE m.tenant_id = %(tenant_id)s AND m.user_id = ANY (%(people)s) AND m.status = 'active'

-- name: list_active_members
-- List active members by id.
SELECT m.user_id
FROM members m
WHERE m.tenant_id = %(tenant_id)s AND m.status = 'active'
ORDER BY m.user_id
LIMIT %(limit)s

-- name: list_rejected_before
-- List the rejections of a document, of those that it amends, and of others with its content, before a request; the newest
-- first. Behind them come others that say the same but for their number. Say of each whether people are asked about the same content again: the same data, and the same values of other
-- documents.
WITH RECURSIVE asked AS (
    SELECT r.id, r.document_id, v.snapshot::jsonb -> 'data' AS data, r.pins, r.content_hash, r.likeness_hash
    FROM approval_requests r
    JOIN document_versions v ON v.tenant_id = r.tenant_id AND v.id = r.snapshot_version_id
    WHERE r.tenant_id = %(tenant_id)s AND r.id = %(id)s
), line AS (
    SELECT asked.document_id AS id, 1 AS distance FROM asked
    UNION ALL
    SELECT d.amended_from_id, line.distance + 1
    FROM line JOIN documents d ON d.tenant_id = %(tenant_id)s AND d.id = line.id
    WHERE d.amended_from_id IS NOT NULL AND line.distance < %(limit)s
), earlier AS (
    SELECT q.id, false AS is_look_alike FROM line
    JOIN approval_requests q ON q.tenant_id = %(tenant_id)s AND q.document_id = line.id AND q.id < %(id)s
    UNION
    SELECT q.id, false FROM asked
    JOIN approval_requests q
      ON q.tenant_id = %(tenant_id)s AND q.content_hash = asked.content_hash AND q.status = 'rejected' AND q.id < %(id)s
    UNION
    SELECT q.id, true FROM asked
    JOIN approval_requests q
      ON q.tenant_id = %(tenant_id)s AND q.likeness_hash = asked.likeness_hash AND q.status = 'rejected' AND q.id < %(id)s
     AND q.content_hash <> asked.content_hash AND q.document_id NOT IN (SELECT line.id FROM line)
), rejected AS (
    SELECT q.id AS request_id, q.document_id, q.document_version, q.snapshot_version_id, q.pins, q.content_hash,
           earlier.is_look_alike,
           v.id AS decision_id, v.stage, v.decided_by, v.on_behalf_of, v.reason, v.created_at
    FROM earlier
    JOIN approval_requests q ON q.tenant_id = %(tenant_id)s AND q.id = earlier.id
    JOIN approval_decisions v ON v.tenant_id = q.tenant_id AND v.request_id = q.id AND v.decision = 'rejected'
    ORDER BY earlier.is_look_alike, v.created_at DESC, v.id DESC
    LIMIT %(limit)s
)
SELECT rejected.request_id, rejected.document_id, rejected.document_version, rejected.stage, rejected.decided_by,
       rejected.on_behalf_of, rejected.reason, rejected.created_at,
       coalesce(
           (asked.data = (SELECT v.snapshot::jsonb -> 'data' FROM document_versions v
                          WHERE v.tenant_id = %(tenant_id)s AND v.id = rejected.snapshot_version_id)
            OR (asked.content_hash = rejected.content_hash AND asked.document_id <> rejected.document_id))
           AND jsonb_path_query_array(coalesce(asked.pins, '{}'), '$.*.values')
               = jsonb_path_query_array(coalesce(rejected.pins, '{}'), '$.*.values'), false) AS is_same_content,
       rejected.is_look_alike
FROM rejected CROSS JOIN asked
ORDER BY rejected.created_at DESC, rejected.decision_id DESC

-- name: list_answers_by_hand
-- List the waits and the held nodes of a request's instance that operators ended before or beside it, with what they
-- entered; the newest first. A step that was skipped begins and ends behind its control.
SELECT control.output_json ->> 'node' AS node_id, control.actor_user_id AS answered_by,
       control.output_json ->> 'claimed' AS claimed, control.output_json ->> 'reason' AS reason,
       coalesce(ended.output_json -> 'variables', '{}') AS variables, control.started_at AS at
FROM approval_requests r
JOIN workflow_step_executions control
  ON control.tenant_id = r.tenant_id AND control.instance_id = r.instance_id
 AND control.node_id IN ('sys:control:advanced', 'sys:control:skipped')
LEFT JOIN workflow_step_executions ended
  ON ended.tenant_id = r.tenant_id AND ended.instance_id = r.instance_id AND ended.end_seq = control.seq + 1
 AND ended.node_id = control.output_json ->> 'node'
WHERE r.tenant_id = %(tenant_id)s AND r.id = %(id)s
ORDER BY control.seq DESC
LIMIT %(limit)s

-- name: list_pinned_variables
-- List the variables that a request pins, each with the newest step that set it so. Where no step tells, the variable
-- counts as older than the document.
SELECT pinned.key AS name, pinned.value, setting.node_id AS set_by, setting.entity_version AS set_at_version,
       coalesce(setting.entity_version < r.document_version, true) AS is_older,
       pinned.value IS DISTINCT FROM i.context_json -> pinned.key AS is_changed
FROM approval_requests r
JOIN workflow_instances i ON i.tenant_id = r.tenant_id AND i.id = r.instance_id
CROSS JOIN LATERAL jsonb_each(r.variables) AS pinned
LEFT JOIN LATERAL (
    SELECT s.node_id, s.entity_version FROM workflow_step_executions s
    WHERE s.tenant_id = r.tenant_id AND s.instance_id = r.instance_id
      AND s.output_json -> 'variables' -> pinned.key = pinned.value
    ORDER BY s.seq DESC
    LIMIT 1
) AS setting ON true
WHERE r.tenant_id = %(tenant_id)s AND r.id = %(id)s
ORDER BY pinned.key
