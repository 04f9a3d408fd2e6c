-- name: keep_guard_alive
-- Switch off the idle timeout, so that a long migration does not lose its lock.
SET LOCAL idle_in_transaction_session_timeout = 0

-- name: try_to_lock_migrations
-- Take the lock under which only one process migrates, if nobody has it.
SELECT pg_try_advisory_xact_lock(7368031121)

-- name: keep_made_roles
-- Let an admin act as the roles that it makes. On 16 and newer an admin who is no superuser, as on every managed
-- server, may not do so otherwise. Older servers have no such setting and no such rule.
SELECT set_config(name, 'set, inherit', false) FROM pg_settings WHERE name = 'createrole_self_grant'

-- name: find_migration_table
-- Find out whether anything was ever migrated here.
SELECT 1 WHERE to_regclass('signet_migrations') IS NOT NULL

-- name: create_migration_table
-- Make the table that records the migrations.
CREATE TABLE IF NOT EXISTS signet_migrations (
    number     integer PRIMARY KEY,
    name       text NOT NULL,
    checksum   text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
)

-- name: list_applied_migrations
-- List what was applied, in its order.
SELECT number, name, checksum, applied_at FROM signet_migrations ORDER BY number

-- name: record_migration
-- Record an applied migration with its checksum, by which an edited file is found.
INSERT INTO signet_migrations (number, name, checksum) VALUES (%(number)s, %(name)s, %(checksum)s)

-- name: forget_migration
-- Forget a migration that was undone, but only if it is the same one.
DELETE FROM signet_migrations WHERE number = %(number)s AND name = %(name)s AND checksum = %(checksum)s

-- name: list_partitions
-- List the partitions of tables, those of a table together.
SELECT c.relname
FROM pg_inherits i
JOIN pg_class c ON c.oid = i.inhrelid
WHERE i.inhparent = ANY (%(tables)s::regclass[])
ORDER BY i.inhparent::regclass::text, c.relname

-- name: act_as_owner
-- Act as the owner until the end of the transaction: tables belong to it and not to the admin.
SET LOCAL ROLE signet_owner

-- name: limit_lock_wait
-- Wait for a lock only so long, because everybody who comes later waits behind it. Told in milliseconds.
SELECT set_config('lock_timeout', %(milliseconds)s::text, true)

-- name: let_others_pass
-- Hold no lock for this long.
SELECT pg_sleep(%(seconds)s)

-- name: act_as_owner_until_told
-- Act as the owner until RESET ROLE, for migrations that run outside of a transaction.
SET ROLE signet_owner

-- name: act_as_admin
-- Act as the admin again.
RESET ROLE
