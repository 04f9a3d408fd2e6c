-- name: find_instance
-- Find an instance with the name and the hash of its definition.
SELECT i.id, i.kind, i.status, i.reason, i.version, d.name AS workflow, i.definition_id, i.definition_version,
       d.compiled_hash AS definition_hash, i.entity_type, i.entity_id, i.entity_version, i.subject_id,
       i.current_nodes, i.active_tokens, i.edit_window, i.edit_window_node, i.context_json, i.actor_id, i.request_id,
       i.depth, i.trace_id, i.timeout_at, i.started_at, i.completed_at, i.updated_at
FROM workflow_instances i
JOIN workflow_definitions d ON d.tenant_id = i.tenant_id AND d.id = i.definition_id
WHERE i.tenant_id = %(tenant_id)s AND i.id = %(id)s

-- name: list_waits
-- List what the tokens of an instance wait for.
SELECT token_id, node_id, node_type, started_at AS since, resume_at, waiting_for_event_key, approval_request_id
FROM workflow_step_executions
WHERE tenant_id = %(tenant_id)s AND instance_id = %(id)s AND status IN ('pending', 'running')
ORDER BY seq

-- name: list_steps
-- List the steps of an instance in their order.
SELECT id, seq, end_seq, node_id, node_type, token_id, status, run_as, actor_user_id, entity_version, version_after,
       input_json, output_json, error, started_at, completed_at, duration_ms, approval_request_id, applied, resume_at,
       waiting_for_event_key, trace_id
FROM workflow_step_executions
WHERE tenant_id = %(tenant_id)s AND instance_id = %(id)s AND seq > %(after)s
ORDER BY seq
LIMIT %(limit)s

-- name: list_visits
-- List how each node was left the last time, and how often a token came to it.
SELECT DISTINCT ON (node_id) node_id, status, count(*) OVER (PARTITION BY node_id) AS count
FROM workflow_step_executions
WHERE tenant_id = %(tenant_id)s AND instance_id = %(id)s
ORDER BY node_id, greatest(seq, end_seq) DESC

-- name: count_taken_edges
-- Count how often each edge was taken.
SELECT edge.id, count(*) AS count
FROM workflow_step_executions s
CROSS JOIN LATERAL jsonb_array_elements_text(s.output_json -> 'chosen_edge_ids') AS edge (id)
WHERE s.tenant_id = %(tenant_id)s AND s.instance_id = %(id)s
GROUP BY edge.id

-- name: read_compiled_of_instance
-- Read what an instance runs, and where an editor has the nodes of its source. The source is the patch that it was
-- compiled from, or itself.
SELECT d.compiled_json, d.compiled_hash, coalesce(source.canvas_json, d.canvas_json) AS canvas, i.active_tokens,
       i.version
FROM workflow_instances i
JOIN workflow_definitions d ON d.tenant_id = i.tenant_id AND d.id = i.definition_id
LEFT JOIN workflow_definitions source ON source.tenant_id = d.tenant_id AND source.id = d.source_id
WHERE i.tenant_id = %(tenant_id)s AND i.id = %(id)s

-- name: list_history
-- List the history entries of an instance in the order of time.
SELECT id, created_at AS at, entry, actor_id, step_execution_id AS step_id, data, trace_id
FROM workflow_event
WHERE tenant_id = %(tenant_id)s AND subject_id = %(id)s AND (created_at, id) > (%(after_at)s, %(after)s)
ORDER BY created_at, id
LIMIT %(limit)s
