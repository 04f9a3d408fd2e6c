-- name: count_active_members
SELECT count(*) FROM members
WHERE tenant_id = %(tenant_id)s AND user_id = ANY (%(user_ids)s) AND status = 'active'

-- name: count_open
-- Of the one who gives, and of the one who takes.
SELECT (SELECT count(*) FROM approval_delegations
        WHERE tenant_id = %(tenant_id)s AND user_id = %(user_id)s AND revoked_at IS NULL AND to_time > %(now)s),
       (SELECT count(*) FROM approval_delegations
        WHERE tenant_id = %(tenant_id)s AND delegate_id = %(delegate_id)s AND revoked_at IS NULL
          AND to_time > %(now)s)

-- name: list_linked
-- What leads on from a person while the new one would hold: a circle can only be among these.
WITH RECURSIVE reached AS (
    SELECT %(delegate_id)s::text AS user_id
    UNION
    SELECT d.delegate_id
    FROM reached
    JOIN approval_delegations d ON d.tenant_id = %(tenant_id)s AND d.user_id = reached.user_id
    WHERE d.revoked_at IS NULL AND d.from_time < %(to_time)s AND d.to_time > %(from_time)s
      AND (d.entity_type IS NULL OR %(entity_type)s::text IS NULL OR d.entity_type = %(entity_type)s)
)
SELECT d.id, d.user_id, d.delegate_id, d.entity_type, d.from_time, d.to_time
FROM reached
JOIN approval_delegations d ON d.tenant_id = %(tenant_id)s AND d.user_id = reached.user_id
WHERE d.revoked_at IS NULL AND d.from_time < %(to_time)s AND d.to_time > %(from_time)s
  AND (d.entity_type IS NULL OR %(entity_type)s::text IS NULL OR d.entity_type = %(entity_type)s)
LIMIT %(limit)s

-- name: insert_delegation
INSERT INTO approval_delegations (tenant_id, id, user_id, delegate_id, entity_type, from_time, to_time, reason,
                                  created_by, created_at)
VALUES (%(tenant_id)s, %(id)s, %(user_id)s, %(delegate_id)s, %(entity_type)s, %(from_time)s, %(to_time)s, %(reason)s,
        %(created_by)s, %(now)s)

-- name: find_delegation
SELECT id, user_id, delegate_id, entity_type, from_time, to_time, revoked_at IS NOT NULL AS is_revoked
FROM approval_delegations
WHERE tenant_id = %(tenant_id)s AND id = %(id)s

-- name: revoke_delegation
UPDATE approval_delegations SET revoked_at = %(now)s
WHERE tenant_id = %(tenant_id)s AND id = %(id)s AND revoked_at IS NULL

-- name: list_given
-- Not revoked, whether they hold already, still or no more; the newest first.
SELECT id, user_id, delegate_id, entity_type, from_time, to_time, reason, created_by, created_at
FROM approval_delegations
WHERE tenant_id = %(tenant_id)s AND user_id = %(user_id)s AND revoked_at IS NULL AND id < %(before)s
ORDER BY id DESC
LIMIT %(limit)s

-- name: list_taken
SELECT id, user_id, delegate_id, entity_type, from_time, to_time, reason, created_by, created_at
FROM approval_delegations
WHERE tenant_id = %(tenant_id)s AND delegate_id = %(user_id)s AND revoked_at IS NULL AND id < %(before)s
ORDER BY id DESC
LIMIT %(limit)s
