-- {table} is filled from the closed set of queues in queue.py.

-- part: effects
-- Read effects with their documents, and what keeps them from being sent.
SELECT q.id, q.instance_id, i.entity_id AS document_id, q.step_execution_id AS step_id, q.effect_type, q.endpoint,
       q.status, q.attempts, q.max_attempts, q.due_at, q.held_at, q.withdrawn_at, q.withdraw_reason, q.discard_reason,
       q.error, i.id IS NOT NULL AS has_instance,
       CASE WHEN e.status = 'disabled' THEN 'ENDPOINT_DISABLED'
            WHEN q.endpoint IS NOT NULL AND e.name IS NULL THEN 'ENDPOINT_UNKNOWN' END AS held_by,
       coalesce(i.status = 'paused' AND is_paused_by_person(i.id), false) AS is_paused_by_person,
       q.left_at IS NOT NULL AS may_have_left
FROM workflow_side_effects_outbox q
LEFT JOIN workflow_instances i ON i.tenant_id = q.tenant_id AND i.id = q.instance_id
LEFT JOIN endpoints e ON e.tenant_id = q.tenant_id AND e.name = q.endpoint

-- name: list_effects
-- List the effects of an instance, the newest first, each with whether its endpoint is switched off.
{effects}
WHERE q.tenant_id = %(tenant_id)s AND q.instance_id = %(instance_id)s AND q.id < %(before)s
ORDER BY q.id DESC
LIMIT %(limit)s

-- name: find_effect
-- Find an effect by its id, which names its partition.
{effects}
WHERE q.tenant_id = %(tenant_id)s AND q.created_at = %(created_at)s AND q.id = %(id)s

-- name: lock_effect
-- Lock an effect, so that no worker claims it before the act on it has ended.
SELECT FROM workflow_side_effects_outbox
WHERE tenant_id = %(tenant_id)s AND created_at = %(created_at)s AND id = %(id)s
FOR UPDATE

-- name: try_effect_now
-- Let an effect that waits be due now, for one attempt that its plan does not count.
UPDATE workflow_side_effects_outbox
SET due_at = now(), planned_at = coalesce(planned_at, due_at), max_attempts = max_attempts + (planned_at IS NULL)::integer
WHERE tenant_id = %(tenant_id)s AND created_at = %(created_at)s AND id = %(id)s

-- name: end_tries
-- End tries by hand that have failed: the plan goes on as if they had not been.
UPDATE workflow_side_effects_outbox q
SET status = 'failed', error = row.error, due_at = q.planned_at, planned_at = NULL, attempts = q.attempts - 1,
    max_attempts = q.max_attempts - 1, claim_id = NULL, lease_until = NULL
FROM unnest(%(created_ats)s::timestamptz[], %(ids)s::uuid[], %(errors)s::text[]) AS row (created_at, id, error)
WHERE q.tenant_id = %(tenant_id)s AND q.created_at = row.created_at AND q.id = row.id AND q.claim_id = %(claim_id)s
  AND q.planned_at IS NOT NULL
RETURNING q.id

-- name: end_rest
-- End the rest of an endpoint: the next call tries whether it answers.
UPDATE endpoints SET rests_until = NULL
WHERE tenant_id = %(tenant_id)s AND name = %(name)s AND rests_until IS NOT NULL

-- name: withdraw_effect
-- Withdraw an effect by hand. What is on its way keeps its status until it ends.
UPDATE workflow_side_effects_outbox
SET status = CASE status WHEN 'processing' THEN status ELSE 'withdrawn' END, withdrawn_at = now(),
    withdraw_reason = %(reason)s
WHERE tenant_id = %(tenant_id)s AND created_at = %(created_at)s AND id = %(id)s

-- name: discard_dead
-- Discard dead letters of a queue.
UPDATE {table} q
SET status = 'discarded', discard_reason = %(reason)s
FROM unnest(%(created_ats)s::timestamptz[], %(ids)s::uuid[]) AS row (created_at, id)
WHERE q.tenant_id = %(tenant_id)s AND q.created_at = row.created_at AND q.id = row.id AND q.status = 'dead_letter'
RETURNING q.id

-- name: hold_effects
-- Hold effects of this claim, as if they had not been tried. They are looked at again later.
UPDATE workflow_side_effects_outbox q
SET status = 'pending', attempts = q.attempts - 1, due_at = now() + make_interval(secs => %(delay_seconds)s),
    error = row.error, held_at = coalesce(q.held_at, now()), claim_id = NULL, lease_until = NULL
FROM unnest(%(created_ats)s::timestamptz[], %(ids)s::uuid[], %(errors)s::text[]) AS row (created_at, id, error)
WHERE q.tenant_id = %(tenant_id)s AND q.created_at = row.created_at AND q.id = row.id AND q.claim_id = %(claim_id)s
RETURNING q.id, q.instance_id, q.trace_id, q.held_at = now() AS is_new

-- name: let_effects_go
-- Note that these effects are held no more.
UPDATE workflow_side_effects_outbox q
SET held_at = NULL
FROM unnest(%(created_ats)s::timestamptz[], %(ids)s::uuid[]) AS row (created_at, id)
WHERE q.tenant_id = %(tenant_id)s AND q.created_at = row.created_at AND q.id = row.id

-- name: free_held
-- Free the oldest effects that an endpoint holds, as if they had not been tried. Whether one has left stays noted.
WITH held AS MATERIALIZED (
    SELECT created_at, id FROM workflow_side_effects_outbox
    WHERE tenant_id = %(tenant_id)s AND endpoint = %(endpoint)s AND held_at IS NOT NULL
      AND status IN ('pending', 'failed')
    ORDER BY id
    LIMIT %(at_most)s
    FOR UPDATE SKIP LOCKED
)
UPDATE workflow_side_effects_outbox q
SET held_at = NULL, attempts = 0, due_at = now()
FROM held
WHERE q.tenant_id = %(tenant_id)s AND q.created_at = held.created_at AND q.id = held.id
RETURNING q.id, q.instance_id, q.trace_id, true AS is_new

-- name: list_withdrawn
-- List those of these effects that an operator withdrew while they were on their way, and that were not delivered.
SELECT q.id, q.instance_id, q.trace_id, true AS is_new
FROM unnest(%(created_ats)s::timestamptz[], %(ids)s::uuid[]) AS row (created_at, id)
JOIN workflow_side_effects_outbox q
  ON q.tenant_id = %(tenant_id)s AND q.created_at = row.created_at AND q.id = row.id
WHERE q.withdraw_reason IS NOT NULL AND q.claim_id IS NULL

-- name: list_left
-- List the nodes whose effect may have left: of these steps, and of those that held their tokens by these numbers.
SELECT DISTINCT s.node_id
FROM workflow_side_effects_outbox e
JOIN workflow_step_executions s
  ON s.tenant_id = e.tenant_id AND s.instance_id = e.instance_id AND s.id = e.step_execution_id
WHERE e.tenant_id = %(tenant_id)s AND e.instance_id = %(instance_id)s
  AND e.left_at IS NOT NULL
  AND (s.id = ANY (%(steps)s)
       OR s.id IN (SELECT i.step_id FROM incidents i
                   WHERE i.tenant_id = e.tenant_id AND i.instance_id = e.instance_id AND i.seq = ANY (%(holds)s)))
ORDER BY s.node_id

-- name: find_paused
-- Find the moment of the transaction, and those of these instances that a person has paused.
SELECT now() AS now, ARRAY(
    SELECT i.id FROM workflow_instances i
    WHERE i.tenant_id = %(tenant_id)s AND i.id = ANY (%(ids)s) AND i.status = 'paused' AND is_paused_by_person(i.id)) AS ids

-- name: free_paused
-- Free what a pause has held: it is due now.
UPDATE workflow_side_effects_outbox SET due_at = now()
WHERE tenant_id = %(tenant_id)s AND instance_id = %(instance_id)s AND status = 'pending' AND due_at > now()

-- name: keep_responses
-- Keep what the outside has answered, while the claim holds: the end of the last attempt that was sent is known.
UPDATE workflow_side_effects_outbox q
SET response_json = row.response, lost_at = CASE WHEN row.is_unsent THEN q.lost_at END
FROM unnest(%(created_ats)s::timestamptz[], %(ids)s::uuid[], %(responses)s::jsonb[], %(unsent)s::boolean[])
     AS row (created_at, id, response, is_unsent)
WHERE q.tenant_id = %(tenant_id)s AND q.created_at = ANY (%(created_ats)s::timestamptz[])
  AND q.created_at = row.created_at AND q.id = row.id AND q.claim_id = %(claim_id)s
RETURNING q.id

-- name: note_unsent
-- Note that these claims of effects sent nothing. Each is known by its moment, also where its lease has run out since.
UPDATE workflow_side_effects_outbox q
SET left_at = nullif(q.left_at, q.claimed_at), lost_at = CASE WHEN q.lost_at < q.claimed_at THEN q.lost_at END
FROM unnest(%(created_ats)s::timestamptz[], %(ids)s::uuid[], %(claimed_ats)s::timestamptz[])
     AS row (created_at, id, claimed_at)
WHERE q.tenant_id = %(tenant_id)s AND q.created_at = row.created_at AND q.id = row.id AND q.claimed_at = row.claimed_at

-- name: note_lost
-- Note that the end of the last attempt of these effects is not known.
UPDATE workflow_side_effects_outbox q
SET lost_at = now()
FROM unnest(%(created_ats)s::timestamptz[], %(ids)s::uuid[]) AS row (created_at, id)
WHERE q.tenant_id = %(tenant_id)s AND q.created_at = row.created_at AND q.id = row.id
