-- name: insert_key
-- Write a key with the hash of its secret; the secret is kept nowhere. It belongs to its maker.
INSERT INTO api_keys (tenant_id, id, name, secret_hash, roles, created_by, owner_id, created_at, expires_at)
VALUES (%(tenant_id)s, %(id)s, %(name)s, %(secret_hash)s, %(roles)s, %(created_by)s, %(created_by)s, %(now)s,
        %(expires_at)s)

-- name: count_live
-- Count the keys of a tenant that still open something, for the limit.
SELECT count(*) FROM api_keys
WHERE tenant_id = %(tenant_id)s AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())

-- name: find_secret
-- Find what a key is verified by: its owner with the permissions that they have as a member now, everybody who ever
-- owned it, and the permissions of its roles. And whether its last use is worth noting again.
SELECT k.name, k.secret_hash, k.created_by, k.owner_id, k.roles, k.expires_at, k.expires_at <= now() AS is_expired,
       k.revoked_at IS NOT NULL AS is_revoked,
       (SELECT m.status FROM members m
        WHERE m.tenant_id = k.tenant_id AND m.user_id = k.owner_id) AS owner_status,
       ARRAY(SELECT DISTINCT unnest(r.permissions) FROM member_roles h
             JOIN roles r ON r.tenant_id = h.tenant_id AND r.role = h.role
             WHERE h.tenant_id = k.tenant_id AND h.user_id = k.owner_id) AS owner_permissions,
       ARRAY(SELECT o.owner_id FROM api_key_owners o
             WHERE o.tenant_id = k.tenant_id AND o.key_id = k.id ORDER BY o.owner_id) AS owners,
       coalesce((SELECT jsonb_object_agg(r.role, to_jsonb(r.permissions)) FROM roles r
                 WHERE r.tenant_id = k.tenant_id AND r.role = ANY (k.roles)), '{}') AS permissions,
       k.last_used_at IS NULL
           OR k.last_used_at < now() - make_interval(secs => %(coarse_seconds)s::double precision) AS is_due
FROM api_keys k
WHERE k.tenant_id = %(tenant_id)s AND k.id = %(id)s

-- name: read_running_key
-- Read what a key that has asked for something may still do: its roles, and its owner's permissions as a member now.
SELECT k.roles, m.status AS owner_status,
       ARRAY(SELECT DISTINCT unnest(r.permissions) FROM member_roles h
             JOIN roles r ON r.tenant_id = h.tenant_id AND r.role = h.role
             WHERE h.tenant_id = k.tenant_id AND h.user_id = k.owner_id) AS owner_permissions,
       coalesce((SELECT jsonb_object_agg(r.role, to_jsonb(r.permissions)) FROM roles r
                 WHERE r.tenant_id = k.tenant_id AND r.role = ANY (k.roles)), '{}') AS permissions
FROM api_keys k
LEFT JOIN members m ON m.tenant_id = k.tenant_id AND m.user_id = k.owner_id
WHERE k.tenant_id = %(tenant_id)s AND k.id = %(id)s

-- name: note_use
-- Note when a key was used. The row is skipped where another transaction notes it: to the hour is exact enough.
UPDATE api_keys SET last_used_at = now()
WHERE (tenant_id, id) IN (SELECT tenant_id, id FROM api_keys
                          WHERE tenant_id = %(tenant_id)s AND id = %(id)s FOR UPDATE SKIP LOCKED)

-- name: list_keys
-- List the keys of a tenant in the order of their ids: all, or those that a person owns or is asked to take over.
SELECT id, name, roles, created_by, owner_id, proposed_owner_id, proposed_by, created_at, expires_at,
       expires_at <= now() AS is_expired, revoked_at, revoked_by, last_used_at
FROM api_keys
WHERE tenant_id = %(tenant_id)s AND (%(after)s::uuid IS NULL OR id > %(after)s::uuid)
  AND (%(person)s::text IS NULL OR %(person)s::text IN (owner_id, proposed_owner_id))
ORDER BY id
LIMIT %(limit)s

-- name: find_key
-- Find a key, revoked or not.
SELECT id, name, roles, created_by, owner_id, proposed_owner_id, proposed_by, created_at, expires_at,
       expires_at <= now() AS is_expired, revoked_at, revoked_by, last_used_at
FROM api_keys
WHERE tenant_id = %(tenant_id)s AND id = %(id)s

-- name: read_owners
-- Read owners of keys, with the permissions that they have as members now.
SELECT m.user_id, m.status,
       ARRAY(SELECT DISTINCT unnest(r.permissions) FROM member_roles h
             JOIN roles r ON r.tenant_id = h.tenant_id AND r.role = h.role
             WHERE h.tenant_id = m.tenant_id AND h.user_id = m.user_id) AS permissions
FROM members m
WHERE m.tenant_id = %(tenant_id)s AND m.user_id = ANY (%(user_ids)s::text[])

-- name: count_other_owners
-- Count the owners that a key has had, without one person.
SELECT count(*) FROM api_key_owners
WHERE tenant_id = %(tenant_id)s AND key_id = %(id)s AND owner_id <> %(user_id)s

-- name: set_proposed_owner
-- Write who is asked to take a key over, or that nobody is.
UPDATE api_keys SET proposed_owner_id = %(owner_id)s, proposed_by = %(proposed_by)s
WHERE tenant_id = %(tenant_id)s AND id = %(id)s

-- name: accept_key
-- Give a key to the person who was asked. Without a row they are not asked any more. A trigger keeps every owner.
UPDATE api_keys SET owner_id = proposed_owner_id, proposed_owner_id = NULL, proposed_by = NULL
WHERE tenant_id = %(tenant_id)s AND id = %(id)s AND proposed_owner_id = %(owner_id)s AND revoked_at IS NULL

-- name: revoke_key
-- Revoke a key. Without a row it was revoked before.
UPDATE api_keys SET revoked_at = %(now)s, revoked_by = %(revoked_by)s
WHERE tenant_id = %(tenant_id)s AND id = %(id)s AND revoked_at IS NULL
