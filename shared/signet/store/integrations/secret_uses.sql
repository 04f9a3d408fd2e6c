-- name: find_secret_uses
-- Find which endpoints these secrets belong to.
SELECT secret, direction, endpoint
FROM secret_uses
WHERE tenant_id = %(tenant_id)s AND secret = ANY (%(secrets)s)
ORDER BY secret
