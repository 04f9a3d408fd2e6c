-- name: find_entity
SELECT entity_id FROM workflow_instances WHERE tenant_id = %(tenant_id)s AND id = %(id)s

-- name: lock_instance
-- After its document: everybody locks them in this order.
SELECT id FROM workflow_instances WHERE tenant_id = %(tenant_id)s AND id = %(id)s FOR NO KEY UPDATE

-- name: read_instance
SELECT id, kind, definition_id, definition_version, entity_type, entity_id, entity_version, status, reason, version,
       birth, actor_id, actor_roles, request_id::text, active_tokens, context_json, depth, trace_id
FROM workflow_instances
WHERE tenant_id = %(tenant_id)s AND id = %(id)s

-- name: read_open_steps
SELECT id, instance_id, seq, node_id, token_id, entity_version, version_after, started_at, resume_at,
       waiting_for_event_key
FROM workflow_step_executions
WHERE tenant_id = %(tenant_id)s AND instance_id = %(id)s AND status IN ('pending', 'running')
ORDER BY seq

-- name: read_beginning
SELECT begin_node, begin_version, begin_actor_id, begin_actor_roles
FROM workflow_instances
WHERE tenant_id = %(tenant_id)s AND id = %(id)s

-- name: read_steps
SELECT id, seq, end_seq, node_id, node_type, token_id, status, run_as, actor_user_id, entity_version, version_after,
       output_json, error, started_at, completed_at, resume_at, waiting_for_event_key, trace_id
FROM workflow_step_executions
WHERE tenant_id = %(tenant_id)s AND instance_id = %(id)s
ORDER BY seq, end_seq
LIMIT %(limit)s

-- name: write_projection
UPDATE workflow_instances i
SET status = row.status, reason = row.reason, version = row.version, entity_version = row.entity_version,
    active_tokens = row.active_tokens, current_nodes = row.current_nodes, edit_window = row.edit_window,
    edit_window_node = row.edit_window_node, context_json = row.context, timeout_at = row.timeout_at,
    last_step_execution_id = row.last_step_id, actor_id = row.actor_id, actor_roles = row.actor_roles,
    request_id = row.request_id, completed_at = row.completed_at, updated_at = clock_timestamp()
FROM json_to_record(%(row)s::json) AS row (
    status text, reason text, version bigint, entity_version bigint, active_tokens jsonb, current_nodes text[],
    edit_window text, edit_window_node text, context jsonb, timeout_at timestamptz, last_step_id uuid, actor_id text,
    actor_roles text[], request_id uuid, completed_at timestamptz)
WHERE i.tenant_id = %(tenant_id)s AND i.id = %(id)s

-- name: list_dead_triggers
SELECT id FROM workflow_events_outbox
WHERE tenant_id = %(tenant_id)s AND instance_id = %(id)s AND status = 'dead_letter'
ORDER BY id
LIMIT %(limit)s

-- name: list_stuck
-- Running, nothing on its way to wake it, no step that waits for anybody, and nothing has happened for a while.
SELECT i.id, i.entity_type, i.entity_id, i.current_nodes, i.version, i.updated_at
FROM workflow_instances i
WHERE i.tenant_id = %(tenant_id)s AND i.status = 'running'
  AND i.updated_at < now() - make_interval(secs => %(idle_seconds)s)
  AND NOT EXISTS (
      SELECT FROM workflow_events_outbox q
      WHERE q.tenant_id = i.tenant_id AND q.instance_id = i.id AND q.status IN ('pending', 'processing', 'failed'))
  AND NOT EXISTS (
      SELECT FROM workflow_step_executions s
      WHERE s.tenant_id = i.tenant_id AND s.instance_id = i.id AND s.status IN ('pending', 'running'))
ORDER BY i.updated_at, i.id
LIMIT %(limit)s
