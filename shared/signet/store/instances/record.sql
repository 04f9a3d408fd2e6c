-- name: read_instance
-- Read the row of an instance, for its explanation.
SELECT id, definition_id, definition_version, entity_type, entity_id, status, reason, version, actor_id, request_id,
       active_tokens, started_at, updated_at, pins,
       coalesce((SELECT s.persons FROM responsible_sets s
                 WHERE s.tenant_id = workflow_instances.tenant_id AND s.hash = workflow_instances.responsible),
                ARRAY[actor_id]) AS responsible
FROM workflow_instances
WHERE tenant_id = %(tenant_id)s AND id = %(id)s

-- name: read_document
-- Read what an explanation says of the document, also of a deleted one.
SELECT contract_version, status, version, deleted_at IS NOT NULL AS is_deleted,
       coalesce((SELECT s.persons FROM responsible_sets s
                 WHERE s.tenant_id = documents.tenant_id AND s.hash = documents.creator_responsible),
                ARRAY[creator_id]) AS creator_responsible,
       coalesce((SELECT s.persons FROM responsible_sets s
                 WHERE s.tenant_id = documents.tenant_id AND s.hash = documents.editor_responsible),
                editor_ids) AS editor_responsible,
       amended_from_id AS amends, amendment_in_place_of(id) AS amended_by
FROM documents
WHERE tenant_id = %(tenant_id)s AND id = %(document_id)s

-- name: read_open_amendment
-- Read the open amendment of a document, with its live instance.
SELECT a.document_id, d.status, d.version, i.id AS instance_id, i.status IS NOT DISTINCT FROM 'paused' AS is_paused
FROM amendments a
JOIN documents d ON d.tenant_id = a.tenant_id AND d.id = a.document_id
LEFT JOIN workflow_instances i
  ON i.tenant_id = d.tenant_id AND i.entity_type = d.entity_type AND i.entity_id = d.id
 AND i.kind = 'envelope' AND i.status IN ('running', 'paused')
WHERE a.tenant_id = %(tenant_id)s AND a.original_id = %(document_id)s AND a.closing IS NULL

-- name: read_steps
-- Read the last steps, the open ones however old, and those that say under which definition it ran before. Three
-- parts, because each has an index of its own.
SELECT id, seq, end_seq, node_id, node_type, token_id, status, run_as, actor_user_id, input_json, output_json, error,
       started_at, completed_at, resume_at, waiting_for_event_key, entity_version
FROM workflow_step_executions
WHERE tenant_id = %(tenant_id)s AND instance_id = %(id)s AND seq > %(after)s
UNION ALL
SELECT id, seq, end_seq, node_id, node_type, token_id, status, run_as, actor_user_id, input_json, output_json, error,
       started_at, completed_at, resume_at, waiting_for_event_key, entity_version
FROM workflow_step_executions
WHERE tenant_id = %(tenant_id)s AND instance_id = %(id)s AND seq <= %(after)s AND status IN ('pending', 'running')
UNION ALL
SELECT id, seq, end_seq, node_id, node_type, token_id, status, run_as, actor_user_id, input_json, output_json, error,
       started_at, completed_at, resume_at, waiting_for_event_key, entity_version
FROM workflow_step_executions
WHERE tenant_id = %(tenant_id)s AND instance_id = %(id)s AND seq <= %(after)s AND node_id = 'sys:control:moved'
ORDER BY seq, end_seq

-- name: count_ended_steps
-- Count the steps that have ended, but for those that only pass a token on.
SELECT count(*)::int
FROM workflow_step_executions
WHERE tenant_id = %(tenant_id)s AND instance_id = %(id)s AND end_seq IS NOT NULL AND node_type <> ALL (%(passed_by)s)

-- name: read_open_request
-- Read the open transition request of a document.
SELECT id, transition, actor_id, reason, created_at,
       coalesce((SELECT s.persons FROM responsible_sets s
                 WHERE s.tenant_id = transition_requests.tenant_id AND s.hash = transition_requests.responsible),
                ARRAY[actor_id]) AS responsible
FROM transition_requests
WHERE tenant_id = %(tenant_id)s AND document_id = %(document_id)s AND status = 'open'

-- name: list_triggers
-- List the newest triggers that are not done, in the order of time.
SELECT id, event_type, status, attempts, max_attempts, due_at, error, is_scheduled, given_back, given_back_since,
       given_back_code
FROM (
    SELECT id, event_type, status, attempts, max_attempts, due_at, error, given_back, given_back_since, given_back_code,
           due_at > created_at + interval '1 second' AS is_scheduled
    FROM workflow_events_outbox
    WHERE tenant_id = %(tenant_id)s AND instance_id = %(id)s AND status <> 'completed'
    ORDER BY id DESC
    LIMIT %(limit)s
) AS newest
ORDER BY id

-- name: list_effects
-- List the effects of the steps that are open.
SELECT e.step_execution_id, e.effect_type, e.endpoint,
       CASE WHEN e.held_at IS NOT NULL AND e.status IN ('pending', 'processing', 'failed') THEN 'held' ELSE e.status END
           AS status, e.attempts, e.max_attempts, e.due_at, e.error, e.id,
       CASE WHEN p.status = 'disabled' THEN 'ENDPOINT_DISABLED'
            WHEN e.endpoint IS NOT NULL AND p.name IS NULL THEN 'ENDPOINT_UNKNOWN' END AS held_by,
       e.left_at IS NOT NULL AS may_have_left
FROM workflow_step_executions s
JOIN workflow_side_effects_outbox e ON e.tenant_id = s.tenant_id AND e.step_execution_id = s.id
LEFT JOIN endpoints p ON p.tenant_id = e.tenant_id AND p.name = e.endpoint
WHERE s.tenant_id = %(tenant_id)s AND s.instance_id = %(id)s AND s.status IN ('pending', 'running')
ORDER BY e.id
LIMIT %(limit)s

-- name: list_left
-- List what was withdrawn, and has left or may have left. What was sent again since is left out.
SELECT s.node_id, e.effect_type, e.endpoint, e.status, e.withdrawn_at, e.completed_at
FROM workflow_side_effects_outbox e
JOIN workflow_step_executions s
  ON s.tenant_id = e.tenant_id AND s.instance_id = e.instance_id AND s.id = e.step_execution_id
WHERE e.tenant_id = %(tenant_id)s AND e.instance_id = %(id)s AND e.withdrawn_at IS NOT NULL
  AND s.status NOT IN ('pending', 'running') AND e.left_at IS NOT NULL
  AND NOT EXISTS (SELECT FROM workflow_side_effects_outbox n
                  WHERE n.tenant_id = e.tenant_id AND n.instance_id = e.instance_id AND n.id > e.id
                    AND n.first_id = coalesce(e.first_id, e.id))
ORDER BY e.id
LIMIT %(limit)s

-- name: list_turns
-- List the newest history entries, in the order of time.
SELECT created_at, entry, actor_id, data
FROM (
    SELECT created_at, id, entry, actor_id, data
    FROM workflow_event
    WHERE tenant_id = %(tenant_id)s AND subject_id = %(id)s
    ORDER BY created_at DESC, id DESC
    LIMIT %(limit)s
) AS newest
ORDER BY created_at, id

-- name: list_approvals
-- List the newest approval requests, in the order of time.
SELECT id, step_execution_id, node_id, document_version, snapshot_hash, definition_hash, policy_hash, chain_name,
       chain_version, requester_id,
       coalesce((SELECT s.persons FROM responsible_sets s
                 WHERE s.tenant_id = newest.tenant_id AND s.hash = newest.responsible),
                ARRAY[requester_id]) AS responsible,
       pins, voter_permissions, coalesce(policy::jsonb ->> 'same_person' = 'allowed', false) AS allows_same_person,
       stage, status, outcome, applied, escalate_at, expire_at, remind_at, reminders, created_at, ended_at
FROM (
    SELECT r.*
    FROM approval_requests r
    WHERE r.tenant_id = %(tenant_id)s AND r.instance_id = %(id)s
    ORDER BY r.id DESC
    LIMIT %(limit)s
) AS newest
ORDER BY id

-- name: list_seats
-- List the seats of these requests.
SELECT request_id, stage, position, holder_user_id, holder_role, needed_role, origin, status, decided_by,
       on_behalf_of, handed_over_from, lines
FROM approval_seats
WHERE tenant_id = %(tenant_id)s AND request_id = ANY (%(request_ids)s)
ORDER BY request_id, stage, position

-- name: list_decisions
-- List the votes on these requests, each with its delegation where there is one.
SELECT v.request_id, v.id, v.stage, v.position, v.decision, v.reason, v.decided_by, v.on_behalf_of, v.created_at,
       d.id AS delegation_id, d.user_id, d.delegate_id, d.entity_type, d.from_time, d.to_time,
       d.revoked_at IS NOT NULL AS is_revoked, d.created_by, coalesce(d.given_by, ARRAY[d.created_by]) AS given_by,
       coalesce(d.given_at, d.created_at) AS given_at
FROM approval_decisions v
LEFT JOIN approval_delegations d ON d.tenant_id = v.tenant_id AND d.id = v.delegation_id
WHERE v.tenant_id = %(tenant_id)s AND v.request_id = ANY (%(request_ids)s)
ORDER BY v.request_id, v.stage, v.created_at, v.id

-- name: list_edits
-- List who has edited a document since a version.
SELECT version, actor_id, created_at
FROM document_versions
WHERE tenant_id = %(tenant_id)s AND document_id = %(document_id)s AND version > %(since)s
ORDER BY version
LIMIT %(limit)s

-- name: list_rejections
-- List the newest changes of the document that rules have stopped since the instance began, the newest first.
SELECT e.rule, e.rule_version, coalesce(e.operation, '') AS operation, coalesce(e.actor_id, '') AS actor_id, e.evidence,
       e.created_at
FROM rule_executions e
WHERE e.tenant_id = %(tenant_id)s AND e.document_id = %(document_id)s AND e.is_rejection
  AND e.created_at >= (SELECT i.started_at FROM workflow_instances i
                       WHERE i.tenant_id = e.tenant_id AND i.id = %(id)s)
ORDER BY e.id DESC
LIMIT %(limit)s
