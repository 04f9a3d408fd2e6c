-- part: note_changes
-- Begin the records of who may vote; each statement that changes it writes them with the change.
INSERT INTO eligibility_changes (tenant_id, id, changed_at, persons, actor_id, kind, user_id, role, other_user_id)
SELECT %(tenant_id)s, (left(%(change_id)s::text, 19) || substr(gen_random_uuid()::text, 20))::uuid, clock_timestamp(),
       %(persons)s::text[], %(actor_id)s::text

-- name: count_active_members
-- Count which of these people are active members: both sides of a delegation must be.
SELECT count(*) FROM members
WHERE tenant_id = %(tenant_id)s AND user_id = ANY (%(user_ids)s) AND status = 'active'

-- name: count_open
-- Count the open delegations of the giver and of the taker, each for its own limit.
SELECT (SELECT count(*) FROM approval_delegations
        WHERE tenant_id = %(tenant_id)s AND user_id = %(user_id)s AND revoked_at IS NULL AND to_time > %(now)s),
       (SELECT count(*) FROM approval_delegations
        WHERE tenant_id = %(tenant_id)s AND delegate_id = %(delegate_id)s AND revoked_at IS NULL
          AND to_time > %(now)s)

-- name: find_overlapping
-- Find a delegation from one person to the other that allows the same for a part of the time. One for all types allows
-- each of them. Perhaps only those count that the person has given themselves.
SELECT id, user_id, delegate_id, entity_type, from_time, to_time
FROM approval_delegations
WHERE tenant_id = %(tenant_id)s AND user_id = %(user_id)s AND delegate_id = %(delegate_id)s AND revoked_at IS NULL
  AND from_time < %(to_time)s AND to_time > %(from_time)s
  AND (entity_type IS NULL OR entity_type = %(entity_type)s::text)
  AND (NOT %(only_own)s OR created_by = %(user_id)s)
ORDER BY id
LIMIT 1

-- name: list_linked
-- List the delegations that lead on from a person while the new one would hold. A circle can only be among these.
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
-- Write a delegation with the persons who are responsible for it, by the clock: a transaction may have begun before
-- the approval was asked for. Both sides are noted.
WITH given AS (
    INSERT INTO approval_delegations (tenant_id, id, user_id, delegate_id, entity_type, from_time, to_time, reason,
                                      created_by, created_at, given_by, given_at)
    VALUES (%(tenant_id)s, %(id)s, %(user_id)s, %(delegate_id)s, %(entity_type)s, %(from_time)s, %(to_time)s,
            %(reason)s, %(actor_id)s, %(now)s, %(persons)s::text[], clock_timestamp())
    RETURNING user_id, delegate_id
)
{note_changes}, 'delegation_given', side.user_id, NULL, side.other_user_id
FROM given CROSS JOIN LATERAL (VALUES (given.user_id, given.delegate_id), (given.delegate_id, given.user_id))
    AS side (user_id, other_user_id)

-- name: find_delegation
-- Find a delegation, revoked or not.
SELECT id, user_id, delegate_id, entity_type, from_time, to_time, revoked_at IS NOT NULL AS is_revoked
FROM approval_delegations
WHERE tenant_id = %(tenant_id)s AND id = %(id)s

-- name: revoke_delegation
-- Revoke a delegation. Without a row it was revoked before. Both sides are noted.
WITH gone AS (
    UPDATE approval_delegations SET revoked_at = %(now)s
    WHERE tenant_id = %(tenant_id)s AND id = %(id)s AND revoked_at IS NULL
    RETURNING user_id, delegate_id
), noted AS (
    {note_changes}, 'delegation_revoked', side.user_id, NULL, side.other_user_id
    FROM gone CROSS JOIN LATERAL (VALUES (gone.user_id, gone.delegate_id), (gone.delegate_id, gone.user_id))
        AS side (user_id, other_user_id)
)
SELECT user_id FROM gone

-- name: list_given
-- List what a person has given, the newest first: not revoked, but perhaps not begun yet, or over.
SELECT id, user_id, delegate_id, entity_type, from_time, to_time, reason, created_by, created_at
FROM approval_delegations
WHERE tenant_id = %(tenant_id)s AND user_id = %(user_id)s AND revoked_at IS NULL AND id < %(before)s
ORDER BY id DESC
LIMIT %(limit)s

-- name: list_taken
-- List what a person was given, the newest first: not revoked, but perhaps not begun yet, or over.
SELECT id, user_id, delegate_id, entity_type, from_time, to_time, reason, created_by, created_at
FROM approval_delegations
WHERE tenant_id = %(tenant_id)s AND delegate_id = %(user_id)s AND revoked_at IS NULL AND id < %(before)s
ORDER BY id DESC
LIMIT %(limit)s
