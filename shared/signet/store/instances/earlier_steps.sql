-- name: list_earlier
-- List the steps that a node has had in all instances of a document since one of its versions, the newest first.
WITH line AS (
    SELECT i.tenant_id, i.id FROM workflow_instances i
    WHERE i.tenant_id = %(tenant_id)s AND i.entity_type = %(entity_type)s AND i.entity_id = %(document_id)s
      AND i.kind = 'envelope'
), passed AS (
    SELECT g.instance_id, g.seq, g.node_id
    FROM line l
    JOIN workflow_step_executions g ON g.tenant_id = l.tenant_id AND g.instance_id = l.id
    WHERE g.node_type = 'lifecycle_gate' AND g.output_json ->> 'outcome' = 'passed'
), last AS (
    SELECT instance_id, seq FROM passed ORDER BY instance_id DESC, seq DESC LIMIT 1
), last_of_slot AS (
    SELECT instance_id, seq FROM passed WHERE node_id = ANY (%(gates)s) ORDER BY instance_id DESC, seq DESC LIMIT 1
)
SELECT s.id, s.instance_id, s.token_id, s.status, s.output_json, s.error,
       EXISTS (SELECT FROM last g WHERE (s.instance_id, s.seq) < (g.instance_id, g.seq)) AS is_before_gate,
       EXISTS (SELECT FROM last_of_slot g WHERE (s.instance_id, s.seq) < (g.instance_id, g.seq)) AS is_finished
FROM line l
JOIN workflow_step_executions s ON s.tenant_id = l.tenant_id AND s.instance_id = l.id
WHERE s.node_id = %(node)s AND s.entity_version >= %(since)s
ORDER BY s.instance_id DESC, s.seq DESC
LIMIT %(limit)s

-- name: lock_effects_of_steps
-- Lock the effects of steps, so that no worker claims them before the transaction has ended.
SELECT step_execution_id, status, endpoint, payload_json, response_json,
       may_have_left(status, attempts, response_json, error) AS may_have_left, id, first_id,
       status NOT IN ('completed', 'processing') AND error IS NOT NULL AND NOT starts_with(error, 'LEASE_EXPIRED')
           AS has_failed
FROM workflow_side_effects_outbox
WHERE tenant_id = %(tenant_id)s AND step_execution_id = ANY (%(steps)s)
ORDER BY id
FOR UPDATE
