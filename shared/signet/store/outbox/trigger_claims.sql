-- {columns}, {claimed} and {table} are filled as those of queue.sql.

-- name: claim_and_look
-- Claim triggers, and look whether more is due. A row without a trigger says that a lease has run out.
SELECT {claimed}, c.has_more, c.has_expired
FROM claim_events_and_look(%(claim_id)s, %(since)s, %(at_most)s, %(alone_from)s, %(lease_seconds)s, %(looks_at_leases)s) AS c
ORDER BY (c.claimed).due_at, (c.claimed).id

-- name: list_claimed
-- List what a claim holds, whose answer may have been lost.
SELECT {columns} FROM {table}
WHERE tenant_id = %(tenant_id)s AND status = 'processing' AND lease_until > now() AND claim_id = %(claim_id)s
ORDER BY due_at, id
LIMIT %(limit)s
