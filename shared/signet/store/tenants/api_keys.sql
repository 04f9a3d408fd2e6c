-- name: insert_key
-- Write a key with the hash of its secret; the secret is kept nowhere.
INSERT INTO api_keys (tenant_id, id, name, secret_hash, roles, created_by, created_at, expires_at)
VALUES (%(tenant_id)s, %(id)s, %(name)s, %(secret_hash)s, %(roles)s, %(created_by)s, %(now)s, %(expires_at)s)

-- name: count_live
-- Count the keys of a tenant that still open something, for the limit.
SELECT count(*) FROM api_keys
WHERE tenant_id = %(tenant_id)s AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())

-- name: find_secret
-- Find what a key is verified by, and whether its last use is worth noting again.
SELECT name, created_by, secret_hash, roles, expires_at, expires_at <= now() AS is_expired,
       revoked_at IS NOT NULL AS is_revoked,
       last_used_at IS NULL OR last_used_at < now() - make_interval(secs => %(coarse_seconds)s::double precision) AS is_due
FROM api_keys
WHERE tenant_id = %(tenant_id)s AND id = %(id)s

-- name: note_use
-- Note when a key was used. The row is skipped where another transaction notes it: to the hour is exact enough.
UPDATE api_keys SET last_used_at = now()
WHERE (tenant_id, id) IN (SELECT tenant_id, id FROM api_keys
                          WHERE tenant_id = %(tenant_id)s AND id = %(id)s FOR UPDATE SKIP LOCKED)

-- name: list_keys
-- List the keys of a tenant in the order of their ids.
SELECT id, name, roles, created_by, created_at, expires_at, revoked_at, revoked_by, last_used_at
FROM api_keys
WHERE tenant_id = %(tenant_id)s AND (%(after)s::uuid IS NULL OR id > %(after)s::uuid)
ORDER BY id
LIMIT %(limit)s

-- name: find_key
-- Find a key, revoked or not.
SELECT id, name, roles, created_by, created_at, expires_at, revoked_at, revoked_by, last_used_at
FROM api_keys
WHERE tenant_id = %(tenant_id)s AND id = %(id)s

-- name: revoke_key
-- Revoke a key. Without a row it was revoked before.
UPDATE api_keys SET revoked_at = %(now)s, revoked_by = %(revoked_by)s
WHERE tenant_id = %(tenant_id)s AND id = %(id)s AND revoked_at IS NULL
