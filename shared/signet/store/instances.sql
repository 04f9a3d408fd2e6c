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

-- name: pause_instances
-- By their rows alone, whatever their workflows are.
WITH paused AS (
    UPDATE workflow_instances i
    SET status = 'paused', reason = row.reason, version = i.version + 1, last_step_execution_id = row.step_id,
        updated_at = clock_timestamp()
    FROM json_to_recordset(%(rows)s::json) AS row (
        id uuid, reason text, step_id uuid, step_created_at timestamptz, idempotency_key bytea, output json,
        history_id uuid, history_created_at timestamptz, trace_id text)
    WHERE i.tenant_id = %(tenant_id)s AND i.id = row.id AND i.status = 'running'
    RETURNING i.id, i.version, i.entity_version, row.reason, row.step_id, row.step_created_at, row.idempotency_key,
              row.output, row.history_id, row.history_created_at, row.trace_id
), receipt AS (
    INSERT INTO workflow_step_receipts (tenant_id, instance_id, idempotency_key, step_execution_id, created_at)
    SELECT %(tenant_id)s, id, idempotency_key, step_id, clock_timestamp() FROM paused
), history AS (
    INSERT INTO workflow_event (tenant_id, created_at, id, subject_kind, subject_id, entry, actor_id,
                                step_execution_id, data, trace_id)
    SELECT %(tenant_id)s, history_created_at, history_id, 'instance', id, 'paused', %(actor_id)s, step_id,
           jsonb_build_object('reason', reason), trace_id
    FROM paused
)
INSERT INTO workflow_step_executions (
    tenant_id, created_at, id, instance_id, seq, end_seq, node_id, node_type, token_id, entity_version,
    version_after, status, run_as, idempotency_key, started_at, completed_at, duration_ms, output_json,
    actor_user_id, trace_id)
SELECT %(tenant_id)s, step_created_at, step_id, id, version, version, 'sys:control:paused', 'control', '',
       entity_version, entity_version, 'completed', 'system', idempotency_key, clock_timestamp(), clock_timestamp(), 0,
       output::jsonb, %(actor_id)s, trace_id
FROM paused
