-- name: ensure_tasks
-- A task that is new begins at once.
INSERT INTO housekeeping_tasks (task)
SELECT unnest(%(tasks)s::text[])
ON CONFLICT (task) DO NOTHING

-- name: claim_task
-- The one that has been due for longest and that nobody holds; or whose holder did not come back.
WITH due AS (
    SELECT task, next_due_at FROM housekeeping_tasks
    WHERE task = ANY (%(tasks)s) AND next_due_at <= now() AND (lease_until IS NULL OR lease_until <= now())
    ORDER BY next_due_at, task
    LIMIT 1
    FOR UPDATE SKIP LOCKED
)
UPDATE housekeeping_tasks t
SET claim_id = %(claim_id)s, lease_until = now() + make_interval(secs => %(lease_seconds)s), last_began_at = now()
FROM due
WHERE t.task = due.task
RETURNING t.task, t.claim_id, t.cursor, coalesce(t.last_outcome = 'failed', false) AS is_after_failure,
    extract(epoch FROM now() - due.next_due_at)::double precision AS lag_seconds

-- name: hold_task
-- First in each batch: until the batch's end nobody else can take the task, even when the lease runs out meanwhile.
UPDATE housekeeping_tasks
SET lease_until = now() + make_interval(secs => %(lease_seconds)s)
WHERE task = %(task)s AND claim_id = %(claim_id)s

-- name: keep_cursor
UPDATE housekeeping_tasks SET cursor = %(cursor)s::jsonb WHERE task = %(task)s AND claim_id = %(claim_id)s

-- name: end_task
UPDATE housekeeping_tasks
SET claim_id = NULL, lease_until = NULL, last_ended_at = now(), last_outcome = %(outcome)s, last_error = %(error)s,
    last_rows = %(rows)s, total_rows = total_rows + %(rows)s, run_count = run_count + 1,
    failure_count = CASE WHEN %(outcome)s = 'failed' THEN failure_count + 1 ELSE 0 END,
    cursor = CASE WHEN %(outcome)s = 'done' THEN NULL ELSE cursor END,
    next_due_at = now() + make_interval(secs => %(again_seconds)s)
WHERE task = %(task)s AND claim_id = %(claim_id)s

-- name: find_tenants
SELECT tenant_id, due_count
FROM housekeeping_tenants(%(about)s, make_interval(secs => %(kept_seconds)s), %(after)s, %(at_most)s)

-- name: make_months
SELECT create_month_partitions((now() AT TIME ZONE 'UTC')::date, %(months)s)

-- name: drop_empty_months
SELECT drop_empty_months(make_interval(days => %(kept_days)s), %(at_most)s)

-- name: drop_history_months
SELECT drop_history_months(make_interval(days => %(kept_days)s), %(at_most)s)

-- name: prune_outbox
SELECT prune_outbox(%(queue)s, make_interval(days => %(kept_days)s), %(at_most)s)

-- name: prune_receipts
SELECT looked_to, pruned FROM prune_receipts(make_interval(days => %(kept_days)s), %(after)s, %(at_most)s)

-- name: prune_idempotency_keys
SELECT prune_idempotency_keys(make_interval(days => %(kept_days)s), %(at_most)s)

-- name: prune_inbound_events
SELECT prune_inbound_events(%(at_most)s)

-- name: prune_notifications
SELECT prune_notifications(make_interval(days => %(kept_days)s), %(at_most)s)

-- name: prune_quota_meters
SELECT prune_quota_meters(%(at_most)s)

-- name: purge_documents
SELECT document_id, purged_at, erased FROM purge_documents(make_interval(days => %(kept_days)s), %(at_most)s)

-- name: list_overdue
-- A deadline that is past, of an instance that nothing is on its way to wake, and that was not woken for it lately.
SELECT i.id, i.trace_id
FROM workflow_instances i
WHERE i.tenant_id = %(tenant_id)s AND i.status = 'running'
  AND i.timeout_at < now() - make_interval(secs => %(late_seconds)s)
  AND NOT EXISTS (
      SELECT FROM workflow_events_outbox q
      WHERE q.tenant_id = %(tenant_id)s AND q.instance_id = i.id
        AND (q.status IN ('failed', 'processing') OR q.status = 'pending' AND q.due_at <= now()
             OR q.event_type = %(event_type)s AND q.created_at > now() - make_interval(secs => %(again_seconds)s)))
ORDER BY i.timeout_at, i.id
LIMIT %(limit)s

-- name: find_anchored
SELECT sequence FROM audit_anchors WHERE tenant_id = %(tenant_id)s

-- name: keep_anchored
-- It never goes back.
INSERT INTO audit_anchors AS a (tenant_id, sequence) VALUES (%(tenant_id)s, %(sequence)s)
ON CONFLICT (tenant_id) DO UPDATE SET sequence = excluded.sequence, anchored_at = now()
WHERE a.sequence < excluded.sequence
