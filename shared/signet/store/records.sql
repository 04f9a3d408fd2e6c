-- name: read_instance
SELECT id, definition_id, definition_version, entity_type, entity_id, status, reason, version, actor_id, request_id,
       active_tokens, started_at, updated_at
FROM workflow_instances
WHERE tenant_id = %(tenant_id)s AND id = %(id)s

-- name: read_document
SELECT contract_version, status, version, deleted_at IS NOT NULL AS is_deleted
FROM documents
WHERE tenant_id = %(tenant_id)s AND id = %(document_id)s

-- name: read_steps
-- The last ones, and those that are open, however long they have been.
SELECT id, seq, end_seq, node_id, node_type, token_id, status, run_as, actor_user_id, output_json, error, started_at,
       completed_at, resume_at, waiting_for_event_key
FROM workflow_step_executions
WHERE tenant_id = %(tenant_id)s AND instance_id = %(id)s AND seq > %(after)s
UNION ALL
SELECT id, seq, end_seq, node_id, node_type, token_id, status, run_as, actor_user_id, output_json, error, started_at,
       completed_at, resume_at, waiting_for_event_key
FROM workflow_step_executions
WHERE tenant_id = %(tenant_id)s AND instance_id = %(id)s AND seq <= %(after)s AND status IN ('pending', 'running')
ORDER BY seq, end_seq

-- name: read_open_request
SELECT id, transition, actor_id, reason, created_at
FROM transition_requests
WHERE tenant_id = %(tenant_id)s AND document_id = %(document_id)s AND status = 'open'

-- name: list_triggers
-- What is not done, the newest of them, in the order of time.
SELECT id, event_type, status, attempts, max_attempts, due_at, error
FROM (
    SELECT id, event_type, status, attempts, max_attempts, due_at, error
    FROM workflow_events_outbox
    WHERE tenant_id = %(tenant_id)s AND instance_id = %(id)s AND status <> 'completed'
    ORDER BY id DESC
    LIMIT %(limit)s
) AS newest
ORDER BY id

-- name: list_effects
-- Of the steps that are open.
SELECT e.step_execution_id, e.effect_type, e.endpoint, e.status, e.attempts, e.max_attempts, e.due_at, e.error
FROM workflow_step_executions s
JOIN workflow_side_effects_outbox e ON e.tenant_id = s.tenant_id AND e.step_execution_id = s.id
WHERE s.tenant_id = %(tenant_id)s AND s.instance_id = %(id)s AND s.status IN ('pending', 'running')
ORDER BY e.id
LIMIT %(limit)s

-- name: list_turns
-- The newest of them, in the order of time.
SELECT created_at, entry, actor_id, data
FROM (
    SELECT created_at, id, entry, actor_id, data
    FROM workflow_event
    WHERE tenant_id = %(tenant_id)s AND subject_id = %(id)s
    ORDER BY created_at DESC, id DESC
    LIMIT %(limit)s
) AS newest
ORDER BY created_at, id
