-- name: list_earlier
-- List the steps that a node has had in all instances of a document since its last passed gate, the newest first.
SELECT s.id, s.instance_id, s.token_id, s.status, s.created_at, s.output_json
FROM workflow_instances i
JOIN workflow_step_executions s ON s.tenant_id = i.tenant_id AND s.instance_id = i.id
WHERE i.tenant_id = %(tenant_id)s AND i.entity_type = %(entity_type)s AND i.entity_id = %(document_id)s
  AND i.kind = 'envelope' AND s.node_id = %(node)s
  AND NOT EXISTS (SELECT FROM workflow_instances n
                  JOIN workflow_step_executions g ON g.tenant_id = n.tenant_id AND g.instance_id = n.id
                  WHERE n.tenant_id = i.tenant_id AND n.entity_type = i.entity_type AND n.entity_id = i.entity_id
                    AND n.kind = 'envelope' AND n.id >= i.id AND (n.id > i.id OR g.seq > s.seq)
                    AND g.node_type = 'lifecycle_gate' AND g.output_json ->> 'outcome' = 'passed')
ORDER BY s.instance_id DESC, s.seq DESC
LIMIT %(limit)s

-- name: lock_effects_of_steps
-- Lock the effects of steps, so that no worker claims them before the transaction has ended.
SELECT step_execution_id, status, endpoint, payload_json, response_json,
       may_have_left(status, attempts, response_json, error) AS may_have_left
FROM workflow_side_effects_outbox
WHERE tenant_id = %(tenant_id)s AND step_execution_id = ANY (%(steps)s)
ORDER BY id
FOR UPDATE
