-- name: find_given
-- Find what the present moment of an open wait was computed from: as it arrived, or as it was moved last.
SELECT coalesce((SELECT c.output_json -> 'given' FROM workflow_step_executions c
                 WHERE c.tenant_id = s.tenant_id AND c.instance_id = s.instance_id AND c.seq > s.seq
                   AND c.node_id = 'sys:control:rescheduled' AND c.output_json ->> 'token' = s.token_id
                 ORDER BY c.seq DESC
                 LIMIT 1), s.input_json) AS given
FROM workflow_step_executions s
WHERE s.tenant_id = %(tenant_id)s AND s.instance_id = %(instance_id)s AND s.id = %(step_id)s

-- name: list_followers
-- List the instances with open waits that follow one of these.
SELECT DISTINCT s.instance_id
FROM workflow_step_executions s
WHERE s.tenant_id = %(tenant_id)s AND s.status = 'running' AND s.waiting_for_event_key = ANY (%(keys)s)
ORDER BY s.instance_id
LIMIT %(limit)s

-- name: list_following
-- List the open waits that follow one of these, with what their moments were computed from.
SELECT s.id, s.instance_id, s.node_id, s.resume_at, s.input_json AS given
FROM workflow_step_executions s
WHERE s.tenant_id = %(tenant_id)s AND s.status = 'running' AND s.waiting_for_event_key = ANY (%(keys)s)
  AND s.resume_at IS NOT NULL
ORDER BY s.id
LIMIT %(limit)s
