-- name: take_key
-- Take a key. The insert waits for a transaction that works under the same key.
INSERT INTO idempotency_keys (tenant_id, key, request_hash)
VALUES (%(tenant_id)s, %(key)s, %(request_hash)s)
ON CONFLICT (tenant_id, key) DO NOTHING

-- name: read_key
-- Read what was asked under a key, and what was answered.
SELECT request_hash, outcome FROM idempotency_keys WHERE tenant_id = %(tenant_id)s AND key = %(key)s

-- name: keep_outcome
-- Keep the answer under its key, in the transaction that it tells of.
UPDATE idempotency_keys SET outcome = %(outcome)s WHERE tenant_id = %(tenant_id)s AND key = %(key)s
