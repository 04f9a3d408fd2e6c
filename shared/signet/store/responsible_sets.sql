-- name: insert_sets
-- Write sets of responsible persons that are new. Each is found by its hash.
INSERT INTO responsible_sets (tenant_id, hash, persons)
SELECT tenant_id, hash, persons
FROM json_to_recordset(%(rows)s::json) AS row (tenant_id uuid, hash bytea, persons text[])
ORDER BY tenant_id, hash
ON CONFLICT DO NOTHING
