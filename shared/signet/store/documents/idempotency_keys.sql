-- name: take_key
-- Waits for whoever is at work under the same key.
INSERT INTO idempotency_keys (tenant_id, key, request_hash)
VALUES (%(tenant_id)s, %(key)s, %(request_hash)s)
ON CONFLICT (tenant_id, key) DO NOTHING

-- name: read_key
SELECT request_hash, outcome FROM idempotency_keys WHERE tenant_id = %(tenant_id)s AND key = %(key)s

-- name: keep_outcome
UPDATE idempotency_keys SET outcome = %(outcome)s WHERE tenant_id = %(tenant_id)s AND key = %(key)s
