-- name: read_four_eyes
-- Read whether the tenant wants two people for each change of the control.
SELECT coalesce((settings ->> 'four_eyes')::boolean, false) FROM tenants WHERE tenant_id = %(tenant_id)s

-- name: expire_changes
-- End the changes that nobody confirmed in time, so that they do not count as open.
UPDATE control_changes SET status = 'expired', ended_at = expires_at
WHERE tenant_id = %(tenant_id)s AND status = 'proposed' AND expires_at <= now()

-- name: count_open
-- Count the changes that wait for another person: all of them, and the most behind which one of these persons stands.
SELECT count(*),
       coalesce((SELECT max(of_person.changes)
                 FROM (SELECT count(*) AS changes
                       FROM control_changes c CROSS JOIN LATERAL unnest(c.responsible) AS behind
                       WHERE c.tenant_id = %(tenant_id)s AND c.status = 'proposed'
                         AND behind = ANY (%(persons)s::text[])
                       GROUP BY behind) AS of_person), 0)
FROM control_changes WHERE tenant_id = %(tenant_id)s AND status = 'proposed'

-- name: insert_change
-- Write a change that takes effect when another person confirms it.
INSERT INTO control_changes (tenant_id, id, kind, name, act, body, base_version, hash, proposed_by, responsible, reason,
                             created_at, expires_at)
VALUES (%(tenant_id)s, %(id)s, %(kind)s, %(name)s, %(act)s, %(body)s, %(base_version)s, %(hash)s, %(proposed_by)s,
        %(responsible)s, %(reason)s, now(), now() + make_interval(days => %(kept_days)s))

-- part: shown
-- Show a change; its time may be over although nobody has written that yet.
id, kind, name, act, body, base_version, hash, proposed_by, responsible, reason,
CASE WHEN status = 'proposed' AND expires_at <= now() THEN 'expired' ELSE status END AS status,
created_at, expires_at, ended_at, ended_by

-- name: find_change
-- Find a change.
SELECT {shown} FROM control_changes WHERE tenant_id = %(tenant_id)s AND id = %(id)s

-- name: list_changes
-- List changes of some kinds, the newest first. A status that is null leaves nothing out.
SELECT * FROM (
    SELECT {shown} FROM control_changes
    WHERE tenant_id = %(tenant_id)s AND kind = ANY (%(kinds)s) AND id < %(before)s
) AS found
WHERE %(status)s::text IS NULL OR status = %(status)s
ORDER BY id DESC
LIMIT %(limit)s

-- name: end_change
-- End an open change. Without a row it has ended before.
UPDATE control_changes SET status = %(status)s, ended_at = now(), ended_by = %(ended_by)s
WHERE tenant_id = %(tenant_id)s AND id = %(id)s AND status = 'proposed'

-- name: supersede_changes
-- End the open changes of a thing that has just changed: they were made on what it was before.
UPDATE control_changes SET status = 'superseded', ended_at = now()
WHERE tenant_id = %(tenant_id)s AND kind = %(kind)s AND name = %(name)s AND status = 'proposed'

-- name: list_holders
-- List active members with a permission, other than these.
SELECT m.user_id FROM members m
WHERE m.tenant_id = %(tenant_id)s AND m.status = 'active' AND m.user_id <> ALL (%(persons)s)
  AND EXISTS (SELECT FROM member_roles r JOIN roles o ON o.tenant_id = r.tenant_id AND o.role = r.role
              WHERE r.tenant_id = m.tenant_id AND r.user_id = m.user_id AND o.permissions && %(granting)s::text[])
ORDER BY m.user_id
LIMIT %(limit)s

-- name: find_holders_among
-- Find which of these people are active members with a permission now.
SELECT m.user_id FROM members m
WHERE m.tenant_id = %(tenant_id)s AND m.status = 'active' AND m.user_id = ANY (%(persons)s)
  AND EXISTS (SELECT FROM member_roles r JOIN roles o ON o.tenant_id = r.tenant_id AND o.role = r.role
              WHERE r.tenant_id = m.tenant_id AND r.user_id = m.user_id AND o.permissions && %(granting)s::text[])

-- name: tell_holders
-- Write a notification for each person who may confirm a change.
INSERT INTO notifications (tenant_id, id, user_id, kind, data, created_at)
SELECT %(tenant_id)s, row.id, row.user_id, 'control_change_proposed', %(data)s, now()
FROM unnest(%(ids)s::uuid[], %(user_ids)s::text[]) AS row (id, user_id)
