-- part: note_changes
-- Begin the records of who may vote; each statement that changes it writes them with the change.
INSERT INTO eligibility_changes (tenant_id, id, changed_at, persons, actor_id, kind, user_id, role, other_user_id)
SELECT %(tenant_id)s, (left(%(change_id)s::text, 19) || substr(gen_random_uuid()::text, 20))::uuid, clock_timestamp(),
       %(persons)s::text[], %(actor_id)s::text

-- part: live_keys
-- Find the keys that a member owns and that have not ended.
SELECT k.id, k.name, k.roles, k.created_at, k.expires_at
FROM api_keys k
WHERE k.tenant_id = %(tenant_id)s AND k.owner_id = %(user_id)s AND k.revoked_at IS NULL
  AND (k.expires_at IS NULL OR k.expires_at > now())

-- part: active_accounts
-- Find the active service accounts that a member owns.
SELECT a.id, a.label, a.roles
FROM service_accounts a
WHERE a.tenant_id = %(tenant_id)s AND a.owner_id = %(user_id)s AND a.status = 'active'

-- part: open_delegations
-- Find the delegations that a member has given or taken and that are not over.
(SELECT g.id, g.user_id, g.delegate_id, g.entity_type, g.from_time, g.to_time FROM approval_delegations g
 WHERE g.tenant_id = %(tenant_id)s AND g.user_id = %(user_id)s AND g.revoked_at IS NULL AND g.to_time > now()
 UNION ALL
 SELECT t.id, t.user_id, t.delegate_id, t.entity_type, t.from_time, t.to_time FROM approval_delegations t
 WHERE t.tenant_id = %(tenant_id)s AND t.delegate_id = %(user_id)s AND t.revoked_at IS NULL AND t.to_time > now())

-- part: open_requests
-- Find what a member, or a key of theirs, has asked for and is not decided: transitions, and approvals that the engine asks
-- for them where the way is automatic.
(WITH own AS MATERIALIZED (
     SELECT %(user_id)s::text AS subject
     UNION ALL
     SELECT 'key:' || k.id FROM api_keys k WHERE k.tenant_id = %(tenant_id)s AND k.owner_id = %(user_id)s
 )
 SELECT asked.document_id, asked.transition, own.subject AS asked_by, asked.created_at AS asked_at
 FROM own
 -- LIMIT keeps each a lookup for its person, whatever a join would seem to cost.
 CROSS JOIN LATERAL (
     SELECT q.document_id, q.transition, q.created_at FROM transition_requests q
     WHERE q.tenant_id = %(tenant_id)s AND q.actor_id = own.subject AND q.status = 'open'
     ORDER BY q.created_at
     LIMIT %(limit)s
 ) AS asked
 UNION ALL
 SELECT DISTINCT i.entity_id, NULL, last.actor_id, last.created_at
 FROM own
 JOIN workflow_step_executions s ON s.tenant_id = %(tenant_id)s AND s.actor_user_id = own.subject
                                AND s.status = 'running'
 JOIN workflow_instances i ON i.tenant_id = s.tenant_id AND i.id = s.instance_id
 CROSS JOIN LATERAL (
     SELECT p.actor_id, p.created_at FROM transition_requests p
     WHERE p.tenant_id = i.tenant_id AND p.document_id = i.entity_id AND p.status = 'performed'
     ORDER BY p.created_at DESC
     LIMIT 1
 ) AS last
 WHERE s.node_type = 'approval' AND i.request_id IS NULL AND last.actor_id = own.subject)

-- name: count_dependents
-- Count what depends on a member, of each kind up to a limit.
SELECT (SELECT count(*) FROM ({live_keys} LIMIT %(limit)s) AS key) AS keys,
       (SELECT count(*) FROM ({active_accounts} LIMIT %(limit)s) AS account) AS service_accounts,
       (SELECT count(*) FROM ({open_delegations} LIMIT %(limit)s) AS delegation) AS delegations,
       (SELECT count(*) FROM (SELECT FROM approval_seats s
                              WHERE s.tenant_id = %(tenant_id)s AND s.holder_user_id = %(user_id)s AND s.status = 'open'
                              LIMIT %(limit)s) AS seat) AS seats,
       (SELECT count(*) FROM (SELECT FROM org_chart c
                              WHERE c.tenant_id = %(tenant_id)s AND c.manager_id = %(user_id)s
                              LIMIT %(limit)s) AS report) AS reports,
       (SELECT count(*) FROM (SELECT FROM {open_requests} AS asked LIMIT %(limit)s) AS request) AS requests

-- name: list_keys
-- List the live keys that a member owns.
{live_keys}
ORDER BY k.id
LIMIT %(limit)s

-- name: list_accounts
-- List the active service accounts that a member owns.
{active_accounts}
ORDER BY a.id
LIMIT %(limit)s

-- name: list_delegations
-- List the open delegations that a member has given or taken.
SELECT * FROM {open_delegations} AS delegation ORDER BY id LIMIT %(limit)s

-- name: list_seats
-- List the open seats that a member holds by name, each with its document.
SELECT s.request_id, s.stage, s.position, q.document_id, q.node_id, q.expire_at
FROM approval_seats s
CROSS JOIN LATERAL (
    SELECT r.document_id, r.node_id, r.expire_at FROM approval_requests r
    WHERE r.tenant_id = s.tenant_id AND r.id = s.request_id
    LIMIT 1
) AS q
WHERE s.tenant_id = %(tenant_id)s AND s.holder_user_id = %(user_id)s AND s.status = 'open'
ORDER BY s.request_id, s.stage, s.position
LIMIT %(limit)s

-- name: list_requests
-- List what a member has asked for and is not decided, each with the type of its document.
SELECT asked.document_id, d.entity_type, asked.transition, asked.asked_by, asked.asked_at
FROM {open_requests} AS asked
JOIN documents d ON d.tenant_id = %(tenant_id)s AND d.id = asked.document_id
ORDER BY asked.asked_at, asked.document_id
LIMIT %(limit)s

-- name: list_reports
-- List the people who report to a member.
SELECT c.user_id FROM org_chart c
WHERE c.tenant_id = %(tenant_id)s AND c.manager_id = %(user_id)s
ORDER BY c.user_id
LIMIT %(limit)s

-- name: revoke_keys
-- Revoke the live keys that a member owns.
UPDATE api_keys SET revoked_at = %(now)s, revoked_by = %(actor_id)s
WHERE tenant_id = %(tenant_id)s AND id IN (SELECT live.id FROM ({live_keys}) AS live)
RETURNING id

-- name: offer_keys
-- Ask another member to take over the live keys that a member owns.
UPDATE api_keys SET proposed_owner_id = %(to_user_id)s, proposed_by = %(actor_id)s
WHERE tenant_id = %(tenant_id)s AND id IN (SELECT live.id FROM ({live_keys}) AS live)
RETURNING id, name

-- name: disable_accounts
-- Disable the service accounts that a member owns.
UPDATE service_accounts SET status = 'disabled', version = version + 1, updated_at = %(now)s
WHERE tenant_id = %(tenant_id)s AND id IN (SELECT own.id FROM ({active_accounts}) AS own)
RETURNING id

-- name: hand_over_accounts
-- Give the service accounts that a member owns to another.
UPDATE service_accounts SET owner_id = %(to_user_id)s, version = version + 1, updated_at = %(now)s
WHERE tenant_id = %(tenant_id)s AND id IN (SELECT own.id FROM ({active_accounts}) AS own)
RETURNING id

-- name: revoke_delegations
-- Revoke the open delegations that a member has given or taken. Both sides are noted.
WITH gone AS (
    UPDATE approval_delegations SET revoked_at = %(now)s
    WHERE tenant_id = %(tenant_id)s AND revoked_at IS NULL
      AND id IN (SELECT delegation.id FROM {open_delegations} AS delegation)
    RETURNING id, user_id, delegate_id
), noted AS (
    {note_changes}, 'delegation_revoked', side.user_id, NULL, side.other_user_id
    FROM gone CROSS JOIN LATERAL (VALUES (gone.user_id, gone.delegate_id), (gone.delegate_id, gone.user_id))
        AS side (user_id, other_user_id)
)
SELECT id, user_id, delegate_id FROM gone

-- name: end_reports
-- Take the manager from those who report to a member.
WITH gone AS (
    DELETE FROM org_chart WHERE tenant_id = %(tenant_id)s AND manager_id = %(user_id)s RETURNING user_id
)
{note_changes}, 'manager_set', %(user_id)s, NULL, user_id FROM gone
RETURNING other_user_id

-- name: hand_over_reports
-- Give those who report to a member another manager. The new manager, and the people above them, get the member's own
-- manager: otherwise they would report to themselves. Without one they report to nobody.
WITH RECURSIVE above AS (
    SELECT %(to_user_id)s::text AS user_id
    UNION
    SELECT c.manager_id FROM above JOIN org_chart c ON c.tenant_id = %(tenant_id)s AND c.user_id = above.user_id
), own AS (
    SELECT c.manager_id FROM org_chart c WHERE c.tenant_id = %(tenant_id)s AND c.user_id = %(user_id)s
), line AS (
    SELECT c.user_id,
           CASE WHEN c.user_id IN (SELECT user_id FROM above) THEN (SELECT manager_id FROM own)
                ELSE %(to_user_id)s END AS manager_id
    FROM org_chart c WHERE c.tenant_id = %(tenant_id)s AND c.manager_id = %(user_id)s
), moved AS (
    UPDATE org_chart c SET manager_id = line.manager_id, updated_at = now()
    FROM line
    WHERE c.tenant_id = %(tenant_id)s AND c.user_id = line.user_id AND line.manager_id IS NOT NULL
    RETURNING c.user_id
), gone AS (
    DELETE FROM org_chart c USING line
    WHERE c.tenant_id = %(tenant_id)s AND c.user_id = line.user_id AND line.manager_id IS NULL
    RETURNING c.user_id
), noted AS (
    {note_changes}, 'manager_set', side.user_id, NULL, line.user_id
    FROM line CROSS JOIN LATERAL (VALUES (line.manager_id), (%(user_id)s)) AS side (user_id)
    WHERE side.user_id IS NOT NULL
)
SELECT user_id, manager_id FROM line ORDER BY user_id

-- name: hand_over_seats
-- Hand the open seats of a disabled member over to another, and tell them. The function refuses all else.
WITH handed AS MATERIALIZED (
    SELECT request_id, stage, position FROM hand_over_seats(%(user_id)s, %(to_user_id)s, %(limit)s)
), noted AS (
    {note_changes}, 'seat_given', %(to_user_id)s, NULL, %(user_id)s WHERE EXISTS (SELECT FROM handed)
), told AS (
    INSERT INTO notifications (tenant_id, id, user_id, kind, request_id, data, created_at)
    SELECT %(tenant_id)s, (left(%(change_id)s::text, 19) || substr(gen_random_uuid()::text, 20))::uuid, %(to_user_id)s,
           'approval_requested', request_id, jsonb_build_object('handed_over_from', %(user_id)s::text), %(now)s
    FROM handed
)
SELECT request_id, stage, position FROM handed ORDER BY request_id, stage, position
