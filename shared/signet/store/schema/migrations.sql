-- name: keep_guard_alive
-- A long migration must not lose its lock to an idle timeout.
SET LOCAL idle_in_transaction_session_timeout = 0

-- name: lock_migrations
SELECT pg_advisory_xact_lock(7368031121)

-- name: keep_made_roles
-- On 16 and newer an admin who is no superuser (every managed server's) may not act as the roles that it
-- makes, unless it said so before. Older servers have no such setting and no such rule.
SELECT set_config(name, 'set, inherit', false) FROM pg_settings WHERE name = 'createrole_self_grant'

-- name: find_migration_table
SELECT 1 WHERE to_regclass('signet_migrations') IS NOT NULL

-- name: create_migration_table
CREATE TABLE IF NOT EXISTS signet_migrations (
    number     integer PRIMARY KEY,
    name       text NOT NULL,
    checksum   text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
)

-- name: list_applied_migrations
SELECT number, name, checksum, applied_at FROM signet_migrations ORDER BY number

-- name: record_migration
INSERT INTO signet_migrations (number, name, checksum) VALUES (%(number)s, %(name)s, %(checksum)s)

-- name: forget_migration
DELETE FROM signet_migrations WHERE number = %(number)s AND name = %(name)s AND checksum = %(checksum)s

-- name: act_as_owner
SET LOCAL ROLE signet_owner

-- name: act_as_owner_until_told
SET ROLE signet_owner

-- name: act_as_admin
RESET ROLE
