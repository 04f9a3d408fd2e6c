-- name: read_transaction
-- Read the epoch and the id of this transaction. The epoch is read from its table and not through a function: so a
-- new epoch waits for this transaction.
SELECT (SELECT max(epoch) FROM audit_epochs) AS epoch, pg_current_xact_id()::text AS xid

-- name: read_heads
-- Read the newest row of each chain. Run it under the subjects' locks, and later than the statement that took them.
SELECT s.subject_type, s.subject_id, head.seq, head.hash
FROM unnest(%(subject_types)s::text[], %(subject_ids)s::text[]) AS s (subject_type, subject_id)
CROSS JOIN LATERAL (
    SELECT a.seq, a.hash FROM audit_log a
    WHERE a.tenant_id = %(tenant_id)s AND a.subject_type = s.subject_type AND a.subject_id = s.subject_id
      AND a.seq IS NOT NULL
    ORDER BY a.seq DESC LIMIT 1
) AS head

-- name: lock_administration
-- Lock the tenant's row: administrative changes of one tenant go one after another.
SELECT FROM tenants WHERE tenant_id = %(tenant_id)s FOR NO KEY UPDATE

-- name: append_rows
-- Append audit rows in one statement. Their chains are computed before.
INSERT INTO audit_log (tenant_id, id, subject_type, subject_id, seq, previous_hash, hash, content, action, actor_id,
                       created_at, epoch, xid)
SELECT tenant_id, id, subject_type, subject_id, seq, previous_hash, hash, content, action, actor_id, created_at,
       epoch, xid
FROM unnest(
    %(tenant_ids)s::uuid[], %(ids)s::uuid[], %(subject_types)s::text[], %(subject_ids)s::text[],
    %(seqs)s::bigint[], %(previous_hashes)s::text[], %(hashes)s::text[], %(contents)s::text[], %(actions)s::text[],
    %(actor_ids)s::text[], %(times)s::timestamptz[], %(epochs)s::integer[], %(xids)s::xid8[]
) AS row (tenant_id, id, subject_type, subject_id, seq, previous_hash, hash, content, action, actor_id, created_at,
          epoch, xid)

-- name: read_horizon
-- Read below which transaction all have ended: a later statement sees all that those wrote.
SELECT (SELECT max(epoch) FROM audit_epochs) AS epoch, pg_snapshot_xmin(pg_current_snapshot())::text AS xmin,
       now() AS now

-- name: find_first_position
-- Find the first row from a position on. Order by the column, because the selected xid is a text, of which 10 comes
-- before 9.
SELECT epoch, xid::text FROM audit_log
WHERE tenant_id = %(tenant_id)s AND (epoch, xid) >= (%(epoch)s, %(xid)s::xid8)
ORDER BY epoch, audit_log.xid LIMIT 1

-- name: list_hashes
-- List what a seal covers, in the order of its Merkle tree.
SELECT id::text, xid::text, hash FROM audit_log
WHERE tenant_id = %(tenant_id)s AND epoch = %(epoch)s AND xid >= %(from_xid)s::xid8 AND xid < %(to_xid)s::xid8
ORDER BY audit_log.xid, audit_log.id
LIMIT %(limit)s

-- name: find_last_seal
-- Find the newest seal of a tenant.
SELECT tenant_id::text, sequence, epoch, from_xid::text, to_xid::text, row_count, merkle_root, previous_seal,
       concat(to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
              CASE WHEN created_at < '0001-01-01 00:00:00Z' THEN ' BC' END) AS created_at, seal
FROM audit_seals
WHERE tenant_id = %(tenant_id)s
ORDER BY sequence DESC LIMIT 1

-- name: insert_seal
-- Write a seal. Another sealer may have been first; then its seal stands.
INSERT INTO audit_seals (tenant_id, sequence, epoch, from_xid, to_xid, row_count, merkle_root, previous_seal, seal,
                         created_at)
VALUES (%(tenant_id)s, %(sequence)s, %(epoch)s, %(from_xid)s::xid8, %(to_xid)s::xid8, %(row_count)s,
        %(merkle_root)s, %(previous_seal)s, %(seal)s, %(created_at)s::timestamptz)
ON CONFLICT (tenant_id, sequence) DO NOTHING

-- name: act_as_owner
-- Act as the owner until the end of the transaction: only the owner may lock the epochs.
SET LOCAL ROLE signet_owner

-- name: lock_epochs
-- Wait for every transaction that read the old epoch, and make the next ones read the new.
LOCK TABLE audit_epochs IN ACCESS EXCLUSIVE MODE

-- name: begin_epoch
-- Begin the next epoch.
INSERT INTO audit_epochs (epoch, reason)
SELECT max(epoch) + 1, %(reason)s FROM audit_epochs
RETURNING epoch
