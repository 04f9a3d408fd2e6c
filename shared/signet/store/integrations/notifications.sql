-- name: list_notifications
-- List the notifications of a person and of the roles that they hold now, the newest first. Each of these is a
-- lookup that ends with the page.
SELECT found.id, found.role, found.kind, found.request_id, found.data, found.created_at, found.read_at
FROM (
    (SELECT n.id, n.role, n.kind, n.request_id, n.data, n.created_at, n.read_at
     FROM notifications n
     WHERE n.tenant_id = %(tenant_id)s AND n.user_id = %(user_id)s AND n.id < %(before)s
       AND (NOT %(is_unread)s::boolean OR n.read_at IS NULL)
     ORDER BY n.id DESC LIMIT %(limit)s)
    UNION ALL
    SELECT theirs.*
    FROM member_roles r
    CROSS JOIN LATERAL (
        SELECT n.id, n.role, n.kind, n.request_id, n.data, n.created_at, n.read_at
        FROM notifications n
        WHERE n.tenant_id = %(tenant_id)s AND n.role = r.role AND n.id < %(before)s
          AND (NOT %(is_unread)s::boolean OR n.read_at IS NULL)
        ORDER BY n.id DESC LIMIT %(limit)s
    ) AS theirs
    WHERE r.tenant_id = %(tenant_id)s AND r.user_id = %(user_id)s
) AS found
ORDER BY found.id DESC
LIMIT %(limit)s

-- name: mark_read
-- Mark notifications as read that the person may see.
UPDATE notifications n SET read_at = now()
WHERE n.tenant_id = %(tenant_id)s AND n.id = ANY (%(ids)s) AND n.read_at IS NULL
  AND (n.user_id = %(user_id)s
       OR n.role IN (SELECT r.role FROM member_roles r
                     WHERE r.tenant_id = %(tenant_id)s AND r.user_id = %(user_id)s))

-- name: tell_requesters
-- Tell the ones that instances act for of what was done, where they are active members. For a key its owners are told,
-- and nobody is told of what they did themselves.
INSERT INTO notifications (tenant_id, id, user_id, kind, data, created_at)
SELECT m.tenant_id, (left(told.id::text, 19) || substr(gen_random_uuid()::text, 20))::uuid, m.user_id, told.kind,
       told.data, %(now)s
FROM json_to_recordset(%(rows)s::json) AS told (
    id uuid, actor_id text, owners text[], done_by text[], kind text, data jsonb)
CROSS JOIN LATERAL unnest(
    CASE WHEN told.actor_id LIKE 'key:%%' THEN told.owners ELSE ARRAY[told.actor_id] END) AS person (user_id)
JOIN members m ON m.tenant_id = %(tenant_id)s AND m.user_id = person.user_id AND m.status = 'active'
WHERE told.actor_id <> ALL (told.done_by) AND m.user_id <> ALL (told.done_by)

-- name: insert_notification
-- Notify people of one thing, each by a row of their own.
INSERT INTO notifications (tenant_id, id, user_id, kind, request_id, data, created_at)
SELECT %(tenant_id)s, (left(%(id)s::text, 19) || substr(gen_random_uuid()::text, 20))::uuid, user_id, %(kind)s,
       %(request_id)s, %(data)s, %(now)s
FROM unnest(%(user_ids)s::text[]) AS person (user_id)
