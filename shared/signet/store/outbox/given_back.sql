-- name: give_back
-- Give triggers of this claim back as if they had not been tried, and count it. The count begins again where nobody
-- tried for long what was due: then the outages were two.
UPDATE workflow_events_outbox q
SET status = 'pending', attempts = q.attempts - 1, due_at = now() + make_interval(secs => row.delay_seconds),
    claim_id = NULL, lease_until = NULL, given_back_code = %(code)s,
    given_back = CASE WHEN again.is_so THEN q.given_back + 1 ELSE 1 END,
    given_back_since = CASE WHEN again.is_so THEN q.given_back_since ELSE now() END
FROM unnest(%(created_ats)s::timestamptz[], %(ids)s::uuid[], %(delays)s::float8[])
     AS row (created_at, id, delay_seconds),
     LATERAL (SELECT o.given_back > 0 AND o.due_at > now() - make_interval(secs => %(gap_seconds)s) AS is_so
              FROM workflow_events_outbox o
              WHERE o.tenant_id = %(tenant_id)s AND o.created_at = row.created_at AND o.id = row.id) AS again
WHERE q.tenant_id = %(tenant_id)s AND q.created_at = row.created_at AND q.id = row.id AND q.claim_id = %(claim_id)s
RETURNING q.id

-- name: take_stranded
-- Take the triggers of this claim that were given back for too long: while others were done lately, or for very long. Their
-- count begins again, because a person acts on them.
UPDATE workflow_events_outbox q
SET given_back = 0, given_back_since = NULL, given_back_code = NULL
FROM (SELECT o.created_at, o.id, o.given_back, o.given_back_since
      FROM unnest(%(created_ats)s::timestamptz[], %(ids)s::uuid[]) AS row (created_at, id)
      JOIN workflow_events_outbox o
        ON o.tenant_id = %(tenant_id)s AND o.created_at = row.created_at AND o.id = row.id
      WHERE o.claim_id = %(claim_id)s AND o.given_back >= %(least)s
        AND o.given_back_since <= now() - make_interval(secs => %(after_seconds)s)
        AND (o.given_back_since <= now() - make_interval(secs => %(at_last_seconds)s)
             OR EXISTS (SELECT FROM workflow_events_outbox done
                        WHERE done.tenant_id = %(tenant_id)s AND done.status = 'completed'
                          AND done.completed_at > now() - make_interval(secs => %(lately_seconds)s)))) AS stranded
WHERE q.tenant_id = %(tenant_id)s AND q.created_at = stranded.created_at AND q.id = stranded.id
  AND q.claim_id = %(claim_id)s
RETURNING q.id, stranded.given_back AS count, stranded.given_back_since AS since
