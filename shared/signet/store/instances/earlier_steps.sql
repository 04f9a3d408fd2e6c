-- part: since_gate
-- The instances of a document that have gone a step since it last passed a gate, each with the number that they count from.
-- `i` names the document.
LEFT JOIN LATERAL (
    SELECT n.id, g.seq
    FROM workflow_instances n
    JOIN workflow_step_executions g ON g.tenant_id = n.tenant_id AND g.instance_id = n.id
    WHERE n.tenant_id = i.tenant_id AND n.entity_type = i.entity_type AND n.entity_id = i.entity_id
      AND n.kind = 'envelope' AND g.node_type = 'lifecycle_gate' AND g.output_json ->> 'outcome' = 'passed'
    ORDER BY n.id DESC, g.seq DESC
    LIMIT 1
) gate ON true
JOIN workflow_instances p
  ON p.tenant_id = i.tenant_id AND p.entity_type = i.entity_type AND p.entity_id = i.entity_id
 AND p.kind = 'envelope' AND (gate.id IS NULL OR p.id >= gate.id)

-- name: list_earlier
-- List the steps that a node has had in all instances of a document since its last passed gate, the newest first. Items of
-- lists have a limit of their own, so that they leave out no other step.
WITH since AS MATERIALIZED (
    SELECT p.id, CASE WHEN p.id = gate.id THEN gate.seq ELSE 0 END AS seq
    FROM (VALUES (%(tenant_id)s::uuid, %(entity_type)s::text, %(document_id)s::uuid)) AS i (tenant_id, entity_type, entity_id)
    {since_gate}
)
SELECT found.id, found.instance_id, found.token_id, found.status, found.created_at, found.output_json
FROM (VALUES (false), (true)) AS kind (is_item)
CROSS JOIN LATERAL (
    SELECT s.*
    FROM since
    JOIN workflow_step_executions s ON s.tenant_id = %(tenant_id)s AND s.instance_id = since.id AND s.seq > since.seq
    WHERE s.node_id = %(node)s AND (position('#' IN s.token_id) > 0) = kind.is_item
    ORDER BY s.instance_id DESC, s.seq DESC
    LIMIT %(limit)s
) AS found
ORDER BY found.instance_id DESC, found.seq DESC

-- name: list_acted
-- List by instance the nodes that have acted since its document has passed a gate, in any instance of the document.
-- A call counts from its first attempt on, however its step has ended. An action whose step failed has done nothing.
-- What a person answered by hand counts as done.
WITH line AS (
    SELECT i.id AS instance_id, p.id, CASE WHEN p.id = gate.id THEN gate.seq ELSE 0 END AS seq
    FROM workflow_instances i
    {since_gate}
    WHERE i.tenant_id = %(tenant_id)s AND i.id = ANY (%(ids)s)
)
SELECT l.instance_id, s.node_id, bool_or(sent.is_done) AS is_certain
FROM line l
JOIN workflow_step_executions s
  ON s.tenant_id = %(tenant_id)s AND s.instance_id = l.id AND s.seq > l.seq
CROSS JOIN LATERAL (
    SELECT count(*) AS effects, coalesce(bool_or(e.status = 'completed'), false) AS is_delivered,
           coalesce(bool_or(may_have_left(e.status, e.attempts, e.response_json, e.error)
                            -- What waits to be sent is sent although its step has ended.
                            OR e.status = 'pending' AND s.status <> 'running'), false) AS is_sent
    FROM workflow_side_effects_outbox e
    WHERE e.tenant_id = s.tenant_id AND e.step_execution_id = s.id
) effect
CROSS JOIN LATERAL (
    SELECT CASE
        WHEN s.status = 'skipped' OR s.output_json #> '{evidence,advanced_by}' IS NOT NULL THEN position('#' IN s.token_id) = 0
        WHEN s.node_type = 'action' THEN s.status = 'completed'
        ELSE effect.is_delivered OR s.status = 'completed' AND effect.effects = 0
    END AS is_done
) sent
WHERE s.node_type IN ('action', 'webhook_out', 'notification') AND (sent.is_done OR effect.is_sent)
GROUP BY l.instance_id, s.node_id

-- name: lock_effects_of_steps
-- Lock the effects of steps, so that no worker claims them before the transaction has ended.
SELECT step_execution_id, status, endpoint, payload_json, response_json,
       may_have_left(status, attempts, response_json, error) AS may_have_left
FROM workflow_side_effects_outbox
WHERE tenant_id = %(tenant_id)s AND step_execution_id = ANY (%(steps)s)
ORDER BY id
FOR UPDATE
