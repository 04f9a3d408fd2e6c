-- {table} and {columns} are filled from the closed set of queues in queue.py.
-- Rows are found by (tenant_id, created_at, id), because that names the partition. `claim_id` alone says which claim
-- holds a row: a CHECK gives a row one exactly while it is processing. The status would only offer the planner a
-- partial index that is right when few rows are at work and wrong when many are.

-- name: claim
-- Claim the first due row and those after it. A row that failed too often goes alone, so that no other fails with it.
SELECT {columns} FROM claim_{queue}(%(claim_id)s, %(since)s, %(at_most)s, %(alone_from)s, %(lease_seconds)s)
ORDER BY due_at, id

-- name: relock
-- Lock rows in key order; what another claim holds by now is not there.
SELECT q.id
FROM (SELECT * FROM unnest(%(created_ats)s::timestamptz[], %(ids)s::uuid[]) AS row (created_at, id) ORDER BY 1, 2) AS row
CROSS JOIN LATERAL (
    SELECT q.id FROM {table} q
    WHERE q.tenant_id = %(tenant_id)s AND q.created_at = row.created_at AND q.id = row.id
      AND q.claim_id = %(claim_id)s
    LIMIT 1
    FOR UPDATE
) AS q

-- name: complete
-- Complete rows of this claim.
UPDATE {table} q
SET status = 'completed', completed_at = now(), claim_id = NULL, lease_until = NULL
FROM unnest(%(created_ats)s::timestamptz[], %(ids)s::uuid[]) AS row (created_at, id)
WHERE q.tenant_id = %(tenant_id)s AND q.created_at = ANY (%(created_ats)s::timestamptz[])
  AND q.created_at = row.created_at AND q.id = row.id AND q.claim_id = %(claim_id)s
RETURNING q.id

-- name: release
-- Give rows of this claim back as if they had not been tried.
UPDATE {table} q
SET status = 'pending', attempts = q.attempts - 1, due_at = now() + make_interval(secs => row.delay_seconds),
    claim_id = NULL, lease_until = NULL
FROM unnest(%(created_ats)s::timestamptz[], %(ids)s::uuid[], %(delays)s::float8[])
     AS row (created_at, id, delay_seconds)
WHERE q.tenant_id = %(tenant_id)s AND q.created_at = ANY (%(created_ats)s::timestamptz[])
  AND q.created_at = row.created_at AND q.id = row.id AND q.claim_id = %(claim_id)s
RETURNING q.id

-- name: fail
-- Record failures of this claim, and answer which rows are exhausted.
UPDATE {table} q
SET status = 'failed', error = row.error, due_at = now() + make_interval(secs => row.delay_seconds),
    claim_id = NULL, lease_until = NULL
FROM unnest(%(created_ats)s::timestamptz[], %(ids)s::uuid[], %(errors)s::text[], %(delays)s::float8[],
            %(finals)s::boolean[])
     AS row (created_at, id, error, delay_seconds, is_final)
WHERE q.tenant_id = %(tenant_id)s AND q.created_at = ANY (%(created_ats)s::timestamptz[])
  AND q.created_at = row.created_at AND q.id = row.id AND q.claim_id = %(claim_id)s
RETURNING q.created_at, q.id, row.is_final OR q.attempts >= q.max_attempts AS is_exhausted

-- name: dead_letter
-- Make dead letters of the rows that the statement before found exhausted and still holds.
WITH buried AS (
    UPDATE {table} q
    SET status = 'dead_letter'
    FROM unnest(%(created_ats)s::timestamptz[], %(ids)s::uuid[]) AS row (created_at, id)
    WHERE q.tenant_id = %(tenant_id)s AND q.created_at = ANY (%(created_ats)s::timestamptz[])
      AND q.created_at = row.created_at AND q.id = row.id
    RETURNING q.*
)
SELECT {columns} FROM buried ORDER BY created_at, id

-- name: release_expired
-- Release rows whose worker did not come back. SKIP LOCKED lets several workers do so at once.
WITH expired AS (
    SELECT created_at, id FROM {table}
    WHERE tenant_id = %(tenant_id)s AND status = 'processing' AND lease_until BETWEEN %(since)s AND now()
    ORDER BY lease_until
    LIMIT %(at_most)s
    FOR UPDATE SKIP LOCKED
)
UPDATE {table} q
SET status = CASE WHEN q.attempts >= q.max_attempts THEN 'failed' ELSE 'pending' END, error = %(error)s,
    due_at = now(), claim_id = NULL, lease_until = NULL
FROM expired
WHERE q.tenant_id = %(tenant_id)s AND q.created_at = expired.created_at AND q.id = expired.id
RETURNING q.created_at, q.id, q.attempts >= q.max_attempts AS is_exhausted

-- name: requeue_dead
-- Queue dead letters again, as if they had not been tried. Whether an effect has left stays noted.
UPDATE {table} q
SET status = 'pending', attempts = 0, due_at = now()
FROM unnest(%(created_ats)s::timestamptz[], %(ids)s::uuid[]) AS row (created_at, id)
WHERE q.tenant_id = %(tenant_id)s AND q.created_at = ANY (%(created_ats)s::timestamptz[])
  AND q.created_at = row.created_at AND q.id = row.id AND q.status = 'dead_letter'
RETURNING q.id

-- name: list_dead
-- List dead letters in the order of their ids.
SELECT {columns} FROM {table}
WHERE tenant_id = %(tenant_id)s AND status = 'dead_letter' AND id > %(after)s
ORDER BY id
LIMIT %(limit)s

-- name: insert_triggers
-- Write triggers with their receipts.
WITH trigger AS MATERIALIZED (
    SELECT * FROM json_to_recordset(%(rows)s::json) AS row (
        id uuid, created_at timestamptz, instance_id uuid, event_type text, payload jsonb, trace_id text,
        idempotency_key bytea)
), receipt AS (
    INSERT INTO workflow_outbox_receipts (tenant_id, instance_id, source_table, event_idempotency_key, created_at)
    SELECT %(tenant_id)s, instance_id, 'events', idempotency_key, now() FROM trigger
)
INSERT INTO workflow_events_outbox (tenant_id, created_at, id, instance_id, entity_version, event_type, payload_json,
                                    trace_id, event_idempotency_key, due_at)
SELECT %(tenant_id)s, created_at, id, instance_id, 0, event_type, payload, trace_id, idempotency_key, now() FROM trigger
