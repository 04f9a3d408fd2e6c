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
