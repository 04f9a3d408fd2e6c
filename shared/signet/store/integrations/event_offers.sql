-- name: lock_key
-- Lock a key, so that a wait which begins at the same time sees the event, or is seen.
SELECT lock_event_keys(ARRAY[%(key)s::text])

-- name: list_schemas
-- List the schemas of the waits that are open for a key, each once and of the oldest wait first. One may have none.
SELECT w.payload_schema FROM workflow_event_waits w
WHERE w.tenant_id = %(tenant_id)s AND w.event_key = %(key)s
GROUP BY w.payload_schema
ORDER BY min(w.waiting_since)
LIMIT %(at_most)s

-- name: offer_event
-- Offer an event to the waits that are open for its key, the oldest first; one too many says that there are more.
WITH wait AS (
    SELECT w.step_id, w.instance_id, w.waiting_since FROM workflow_event_waits w
    WHERE w.tenant_id = %(tenant_id)s AND w.event_key = %(key)s
    ORDER BY w.waiting_since, w.step_id
    LIMIT %(at_most)s + 1
), offered AS (
    INSERT INTO workflow_event_offers (tenant_id, event_id, step_id, instance_id, waiting_since, is_alone)
    SELECT %(tenant_id)s, %(id)s, step_id, instance_id, waiting_since, %(is_alone)s FROM wait
    ON CONFLICT DO NOTHING
)
SELECT wait.instance_id FROM wait ORDER BY wait.waiting_since, wait.step_id

-- name: lock_event
-- Lock an event that is offered again, with the persons who have offered it before.
SELECT e.id, e.event_key AS key, e.taken_at,
       coalesce((SELECT s.persons FROM responsible_sets s
                 WHERE s.tenant_id = e.tenant_id AND s.hash = e.replayed_by), '{}') AS replayed_by
FROM workflow_inbound_events e
WHERE e.tenant_id = %(tenant_id)s AND e.id = %(id)s
FOR NO KEY UPDATE OF e

-- name: keep_longer
-- Keep an event longer for the first that waits for it, and the persons who do so.
UPDATE workflow_inbound_events
SET expires_at = now() + make_interval(days => %(kept_days)s), replayed_by = %(replayed_by)s
WHERE tenant_id = %(tenant_id)s AND id = %(id)s

-- name: offer_again
-- Offer an event to the waits that are open for its key, also to those that it did not fit before. The first has it alone.
WITH wait AS (
    SELECT w.step_id, w.instance_id, w.waiting_since FROM workflow_event_waits w
    WHERE w.tenant_id = %(tenant_id)s AND w.event_key = %(key)s
    ORDER BY w.waiting_since, w.step_id
    LIMIT %(at_most)s
), offered AS (
    INSERT INTO workflow_event_offers AS o (tenant_id, event_id, step_id, instance_id, waiting_since, is_alone)
    SELECT %(tenant_id)s, %(id)s, step_id, instance_id, waiting_since, true FROM wait
    ON CONFLICT (tenant_id, event_id, step_id) DO UPDATE
    SET is_alone = true, status = 'open', reason = NULL, decided_at = NULL
)
SELECT wait.instance_id FROM wait ORDER BY wait.waiting_since, wait.step_id

-- name: list_offers
-- List what waits have decided about an event, the oldest wait first.
SELECT o.instance_id, s.node_id, o.waiting_since, o.status, o.reason, o.decided_at
FROM workflow_event_offers o
LEFT JOIN workflow_step_executions s ON s.tenant_id = o.tenant_id AND s.id = o.step_id
WHERE o.tenant_id = %(tenant_id)s AND o.event_id = %(id)s
ORDER BY o.waiting_since, o.step_id
LIMIT %(at_most)s
