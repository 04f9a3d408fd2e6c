-- name: ensure_tasks
-- Write the tasks that are new. A new task is due at once.
INSERT INTO housekeeping_tasks (task)
SELECT unnest(%(tasks)s::text[])
ON CONFLICT (task) DO NOTHING

-- name: claim_task
-- Claim the task that has been due for longest. No janitor holds it, or its holder did not come back.
WITH due AS (
    SELECT task, next_due_at, last_began_at, last_outcome, run_count FROM housekeeping_tasks
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
    CASE WHEN due.last_outcome = 'done' AND due.run_count %% %(runs_to_look_at_all)s <> 0 THEN due.last_began_at END AS looked_at,
    extract(epoch FROM now() - due.next_due_at)::double precision AS lag_seconds

-- name: hold_task
-- Renew the lease of a task as the first statement of a batch. Until the end of the batch no other janitor can take
-- it, even if the lease runs out.
UPDATE housekeeping_tasks
SET lease_until = now() + make_interval(secs => %(lease_seconds)s)
WHERE task = %(task)s AND claim_id = %(claim_id)s

-- name: keep_cursor
-- Keep how far a task has come.
UPDATE housekeeping_tasks SET cursor = %(cursor)s::jsonb WHERE task = %(task)s AND claim_id = %(claim_id)s

-- name: end_task
-- End a run of a task, and say when the next one is due.
UPDATE housekeeping_tasks
SET claim_id = NULL, lease_until = NULL, last_ended_at = now(), last_outcome = %(outcome)s, last_error = %(error)s,
    last_rows = %(rows)s, total_rows = total_rows + %(rows)s, run_count = run_count + 1,
    failure_count = CASE WHEN %(outcome)s = 'failed' THEN failure_count + 1 ELSE 0 END,
    cursor = CASE WHEN %(outcome)s = 'done' THEN NULL ELSE cursor END,
    next_due_at = now() + make_interval(secs => %(again_seconds)s)
WHERE task = %(task)s AND claim_id = %(claim_id)s

-- name: find_tenants
-- Find the next tenants that have work of this kind, from a cursor on.
SELECT tenant_id, due_count
FROM housekeeping_tenants(%(about)s, make_interval(secs => %(kept_seconds)s), %(after)s, %(at_most)s)

-- name: find_expired_tenants
-- Find the next tenants with a lease that has expired since a time, from a cursor on.
SELECT tenant_id FROM expired_tenants(%(queue)s, %(since)s, %(after)s, %(at_most)s)

-- name: make_months
-- Make the partitions of the coming months.
SELECT create_month_partitions((now() AT TIME ZONE 'UTC')::date, %(months)s)

-- name: drop_empty_months
-- Drop months of the outboxes that are past and hold no row.
SELECT drop_empty_months(make_interval(days => %(kept_days)s), %(at_most)s)

-- name: drop_history_months
-- Drop months of the history that are kept no longer.
SELECT drop_history_months(make_interval(days => %(kept_days)s), %(at_most)s)

-- name: prune_outbox
-- Delete rows of a queue that were done long ago.
SELECT prune_outbox(%(queue)s, make_interval(days => %(kept_days)s), %(at_most)s)

-- name: prune_receipts
-- Delete receipts of instances that ended long ago.
SELECT looked_to, pruned FROM prune_receipts(make_interval(days => %(kept_days)s), %(after)s, %(at_most)s)

-- name: prune_idempotency_keys
-- Delete idempotency keys that are kept no longer.
SELECT prune_idempotency_keys(make_interval(days => %(kept_days)s), %(at_most)s)

-- name: prune_inbound_events
-- Delete events from outside whose time is over.
SELECT prune_inbound_events(%(at_most)s)

-- name: prune_notifications
-- Delete notifications that were read long ago.
SELECT prune_notifications(make_interval(days => %(kept_days)s), %(at_most)s)

-- name: prune_incidents
-- Delete incidents that were closed long ago, of instances that have ended.
SELECT prune_incidents(make_interval(days => %(kept_days)s), %(at_most)s)

-- name: prune_eligibility_changes
-- Delete records of changed eligibility that no open request can need any more.
SELECT prune_eligibility_changes(make_interval(days => %(kept_days)s), %(at_most)s)

-- name: prune_quota_meters
-- Delete meters that have been full for a day: they say nothing more.
SELECT prune_quota_meters(%(at_most)s)

-- name: purge_documents
-- Empty documents that were deleted long ago: the working copy, the keys and all personal values.
SELECT document_id, purged_at, erased FROM purge_documents(make_interval(days => %(kept_days)s), %(at_most)s)

-- name: list_overdue
-- List instances with a deadline that is past. Nothing is on its way to wake them, and nothing has woken them for it
-- lately.
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

-- name: list_unpinned
-- List running instances with an open approval of an older release, which has pinned nothing. Nothing is on its way to
-- wake them, and nothing has woken them for it lately.
SELECT i.id, i.trace_id
FROM workflow_instances i
WHERE i.tenant_id = %(tenant_id)s AND i.status = 'running'
  AND i.id IN (SELECT r.instance_id FROM approval_requests r
               WHERE r.tenant_id = %(tenant_id)s AND r.status = 'open' AND r.pins_hash IS NULL)
  AND NOT EXISTS (
      SELECT FROM workflow_events_outbox q
      WHERE q.tenant_id = %(tenant_id)s AND q.instance_id = i.id
        AND (q.status IN ('failed', 'processing') OR q.status = 'pending' AND q.due_at <= now()
             OR q.event_type = %(event_type)s AND q.created_at > now() - make_interval(secs => %(again_seconds)s)))
ORDER BY i.id
LIMIT %(limit)s

-- name: find_anchored
-- Find up to which seal the anchors of a tenant go.
SELECT sequence FROM audit_anchors WHERE tenant_id = %(tenant_id)s

-- name: keep_anchored
-- Keep up to which seal the anchors go. It never goes back.
INSERT INTO audit_anchors AS a (tenant_id, sequence) VALUES (%(tenant_id)s, %(sequence)s)
ON CONFLICT (tenant_id) DO UPDATE SET sequence = excluded.sequence, anchored_at = now()
WHERE a.sequence < excluded.sequence
