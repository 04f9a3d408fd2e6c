-- name: lock_keys
-- Lock the keys of waits that begin, and of those that end: an event that comes meanwhile waits for the commit.
SELECT lock_event_keys(%(keys)s::text[] || ARRAY(
    SELECT w.event_key FROM workflow_event_waits w
    WHERE w.tenant_id = %(tenant_id)s AND w.step_id = ANY (%(ended)s::uuid[])))

-- name: insert_waits
-- Write the waits, and offer each the events that were kept for the first that fits. Answer whose there are any.
WITH wait AS MATERIALIZED (
    SELECT * FROM json_to_recordset(%(rows)s::json) AS row (
        event_key text, step_id uuid, instance_id uuid, payload_schema jsonb)
), held AS (
    INSERT INTO workflow_event_waits (tenant_id, event_key, step_id, instance_id, waiting_since, payload_schema)
    SELECT %(tenant_id)s, event_key, step_id, instance_id, now(), payload_schema FROM wait
)
INSERT INTO workflow_event_offers (tenant_id, event_id, step_id, instance_id, waiting_since, is_alone)
SELECT %(tenant_id)s, kept.id, wait.step_id, wait.instance_id, now(), true
FROM wait
CROSS JOIN LATERAL (
    SELECT e.id FROM workflow_inbound_events e
    WHERE e.tenant_id = %(tenant_id)s AND e.event_key = wait.event_key AND e.taken_at IS NULL AND e.expires_at > now()
    ORDER BY e.received_at, e.id
    LIMIT %(at_most)s
) AS kept
RETURNING instance_id

-- name: lock_offers
-- Lock the events that a wait is offered, the oldest first: who decides about one at the same time comes after.
SELECT e.id, e.event_key AS key, e.payload, e.source, e.received_at, e.taken_at, o.is_alone, o.waiting_since,
       ARRAY(SELECT unnest(s.persons) FROM responsible_sets s
             WHERE s.tenant_id = e.tenant_id AND s.hash IN (e.responsible, e.replayed_by)) AS persons
FROM workflow_event_offers o
JOIN workflow_inbound_events e ON e.tenant_id = o.tenant_id AND e.id = o.event_id
WHERE o.tenant_id = %(tenant_id)s AND o.step_id = %(step_id)s AND o.status = 'open'
  AND (%(until)s::timestamptz IS NULL OR e.received_at < %(until)s)
ORDER BY e.received_at, e.id
LIMIT %(at_most)s
FOR NO KEY UPDATE OF e

-- name: find_older_offer
-- Find an older wait that may still take an event which one wait takes alone.
SELECT FROM workflow_event_offers o
WHERE o.tenant_id = %(tenant_id)s AND o.event_id = %(event_id)s AND o.status = 'open'
  AND (o.waiting_since, o.step_id) < (%(waiting_since)s, %(step_id)s)
LIMIT 1

-- name: decide_offer
-- Write what a wait has decided about an event.
UPDATE workflow_event_offers SET status = %(status)s, reason = %(reason)s, decided_at = now()
WHERE tenant_id = %(tenant_id)s AND event_id = %(event_id)s AND step_id = %(step_id)s AND status = 'open'

-- name: take_event
-- Write that a wait has taken an event.
UPDATE workflow_inbound_events SET taken_at = coalesce(taken_at, now())
WHERE tenant_id = %(tenant_id)s AND id = %(event_id)s

-- name: find_next_offer
-- Find the instance of the next wait that an event is offered to, where that lets older ones look first.
SELECT next.instance_id FROM (
    SELECT o.instance_id, o.is_alone FROM workflow_event_offers o
    WHERE o.tenant_id = %(tenant_id)s AND o.event_id = %(event_id)s AND o.status = 'open'
    ORDER BY o.waiting_since, o.step_id
    LIMIT 1
) AS next WHERE next.is_alone
