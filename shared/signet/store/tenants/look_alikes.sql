-- name: list_without_skeleton
-- List members whose skeleton is not written, or written before it was read as it looks. Those who look like another
-- member stay among them.
SELECT user_id FROM members
WHERE tenant_id = %(tenant_id)s AND (skeleton IS NULL OR skeleton ~ '[a-z][01]|[01][a-z]|[. ]$|rn|vv')
ORDER BY created_at, user_id
LIMIT %(limit)s

-- name: write_skeletons
-- Write skeletons that nobody has yet.
UPDATE members m SET skeleton = row.skeleton
FROM unnest(%(user_ids)s::text[], %(skeletons)s::text[]) AS row (user_id, skeleton)
WHERE m.tenant_id = %(tenant_id)s AND m.user_id = row.user_id
  AND NOT EXISTS (SELECT FROM members x WHERE x.tenant_id = %(tenant_id)s AND x.skeleton = row.skeleton)

-- name: find_look_alike
-- Find an id of nobody that looks like the id of a member.
SELECT row.user_id, m.user_id
FROM unnest(%(user_ids)s::text[], %(skeletons)s::text[]) AS row (user_id, skeleton)
JOIN members m ON m.tenant_id = %(tenant_id)s AND m.skeleton = row.skeleton
WHERE NOT EXISTS (SELECT FROM members own WHERE own.tenant_id = %(tenant_id)s AND own.user_id = row.user_id)
ORDER BY row.user_id
LIMIT 1

-- name: list_new
-- List the ids that no member has.
SELECT row.user_id
FROM unnest(%(user_ids)s::text[]) AS row (user_id)
WHERE NOT EXISTS (SELECT FROM members own WHERE own.tenant_id = %(tenant_id)s AND own.user_id = row.user_id)
ORDER BY row.user_id

-- name: list_user_ids
-- List the ids of members in their order.
SELECT user_id FROM members
WHERE tenant_id = %(tenant_id)s AND user_id > %(after)s
ORDER BY user_id
LIMIT %(limit)s
