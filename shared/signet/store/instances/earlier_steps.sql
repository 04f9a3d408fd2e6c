-- part: done
-- Whether a step `s` has done something for certain, or may have sent something.
CROSS JOIN LATERAL (
    SELECT count(*) AS effects, coalesce(bool_or(e.status = 'completed'), false) AS is_delivered,
           coalesce(bool_or(e.left_at IS NOT NULL
                            -- What waits to be sent is sent although its step has ended.
                            OR e.status IN ('pending', 'failed') AND s.status <> 'running'), false) AS is_sent
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

-- name: list_earlier
-- List the steps that a node has had in all instances of a document since one of its versions, the newest first. Items of
-- lists have a limit of their own, so that they leave out no other step.
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
       EXISTS (SELECT FROM last WHERE (s.instance_id, s.seq) < (last.instance_id, last.seq)) AS is_before_gate,
       EXISTS (SELECT FROM last_of_slot f WHERE (s.instance_id, s.seq) < (f.instance_id, f.seq)) AS is_finished
FROM (VALUES (false), (true)) AS kind (is_item)
CROSS JOIN LATERAL (
    SELECT s.*
    FROM line l
    JOIN workflow_step_executions s ON s.tenant_id = l.tenant_id AND s.instance_id = l.id
    WHERE s.node_id = %(node)s AND s.entity_version >= %(since)s AND (position('#' IN s.token_id) > 0) = kind.is_item
    ORDER BY s.instance_id DESC, s.seq DESC
    LIMIT %(limit)s
) AS s
ORDER BY s.instance_id DESC, s.seq DESC

-- name: list_acted
-- List by instance the nodes that have acted since people decided last, in any instance of the document; where nobody has
-- decided, since its document has passed a gate. A call counts from its first attempt on, however its step has ended. An
-- action whose step failed has done nothing. What a person answered by hand counts as done.
WITH line AS (
    SELECT i.id AS instance_id, p.id, asked.since, CASE WHEN p.id = gate.id THEN gate.seq ELSE 0 END AS seq
    FROM unnest(%(ids)s::uuid[], %(since)s::bigint[]) AS asked (id, since)
    JOIN workflow_instances i ON i.tenant_id = %(tenant_id)s AND i.id = asked.id
    LEFT JOIN LATERAL (
        SELECT n.id, g.seq
        FROM workflow_instances n
        JOIN workflow_step_executions g ON g.tenant_id = n.tenant_id AND g.instance_id = n.id
        WHERE n.tenant_id = i.tenant_id AND n.entity_type = i.entity_type AND n.entity_id = i.entity_id
          AND n.kind = 'envelope' AND g.node_type = 'lifecycle_gate' AND g.output_json ->> 'outcome' = 'passed'
          AND asked.since IS NULL
        ORDER BY n.id DESC, g.seq DESC
        LIMIT 1
    ) gate ON true
    JOIN workflow_instances p
      ON p.tenant_id = i.tenant_id AND p.entity_type = i.entity_type AND p.entity_id = i.entity_id
     AND p.kind = 'envelope' AND (gate.id IS NULL OR p.id >= gate.id)
)
SELECT l.instance_id, s.node_id, bool_or(sent.is_done) AS is_certain
FROM line l
JOIN workflow_step_executions s
  ON s.tenant_id = %(tenant_id)s AND s.instance_id = l.id AND s.seq > l.seq
 AND (l.since IS NULL OR s.entity_version >= l.since)
{done}
WHERE s.node_type IN ('action', 'webhook_out', 'notification') AND (sent.is_done OR effect.is_sent)
GROUP BY l.instance_id, s.node_id

-- name: list_done_elsewhere
-- List what other nodes have done under other definitions since one of a document's versions, the newest first, with what
-- was said. A step ran under the definition that the next move has left, else under that of its instance.
SELECT s.id, s.node_id, ran.definition_id, ran.definition_version, s.output_json -> 'evidence' AS evidence,
       said.endpoint, said.payload_json
FROM workflow_instances i
JOIN workflow_step_executions s ON s.tenant_id = i.tenant_id AND s.instance_id = i.id
{done}
LEFT JOIN LATERAL (
    SELECT m.output_json -> 'from' AS definition
    FROM workflow_step_executions m
    WHERE m.tenant_id = i.tenant_id AND m.instance_id = i.id AND m.node_id = 'sys:control:moved' AND m.seq > s.seq
    ORDER BY m.seq
    LIMIT 1
) left_by ON true
CROSS JOIN LATERAL (
    SELECT coalesce((left_by.definition ->> 'id')::uuid, i.definition_id) AS definition_id,
           coalesce((left_by.definition ->> 'version')::int, i.definition_version) AS definition_version
) ran
LEFT JOIN LATERAL (
    SELECT e.endpoint, e.payload_json
    FROM workflow_side_effects_outbox e
    WHERE e.tenant_id = s.tenant_id AND e.step_execution_id = s.id
    ORDER BY e.id DESC
    LIMIT 1
) said ON true
WHERE i.tenant_id = %(tenant_id)s AND i.entity_type = %(entity_type)s AND i.entity_id = %(document_id)s AND i.kind = 'envelope'
  AND s.entity_version >= %(since)s AND s.node_type IN ('action', 'webhook_out') AND s.node_id <> %(node)s
  AND (ran.definition_id, ran.definition_version) <> (%(definition_id)s, %(definition_version)s)
  AND (sent.is_done OR effect.is_sent)
ORDER BY s.instance_id DESC, s.seq DESC
LIMIT %(limit)s

-- name: find_first_arrival
-- Find when a token came first to a node, since it has ended there or people have asked for something else. What this wave
-- has cancelled is still running by its row.
SELECT min((s.input_json ->> 'arrived_at')::timestamptz)
FROM workflow_step_executions s
WHERE s.tenant_id = %(tenant_id)s AND s.instance_id = %(instance_id)s AND s.node_id = %(node)s
  AND s.status = ANY (%(statuses)s)
  AND s.seq > coalesce((
      SELECT max(e.seq) FROM workflow_step_executions e
      WHERE e.tenant_id = s.tenant_id AND e.instance_id = %(instance_id)s
        AND (e.node_id = %(node)s AND e.status IN ('completed', 'skipped')
             OR e.node_type = 'state' AND e.output_json ->> 'outcome' = 'requested')), 0)

-- name: read_tries
-- Read how often the effect of a step was tried, what the last try has said, and whether a person has paused it meanwhile.
SELECT e.attempts, e.error,
       EXISTS (SELECT FROM workflow_step_executions s
               JOIN workflow_step_executions p
                 ON p.tenant_id = s.tenant_id AND p.instance_id = s.instance_id AND p.seq > s.seq
               WHERE s.tenant_id = e.tenant_id AND s.instance_id = e.instance_id AND s.id = e.step_execution_id
                 AND p.node_id = 'sys:control:paused' AND p.run_as = 'actor') AS was_paused
FROM workflow_side_effects_outbox e
WHERE e.tenant_id = %(tenant_id)s AND e.step_execution_id = %(step_id)s

-- name: lock_effects_of_steps
-- Lock the effects of steps, so that no worker claims them before the transaction has ended.
SELECT step_execution_id, status, endpoint, payload_json, response_json,
       left_at IS NOT NULL AS may_have_left, id, first_id,
       status NOT IN ('completed', 'processing') AND error IS NOT NULL AND lost_at IS NULL AS has_failed
FROM workflow_side_effects_outbox
WHERE tenant_id = %(tenant_id)s AND step_execution_id = ANY (%(steps)s)
ORDER BY id
FOR UPDATE
