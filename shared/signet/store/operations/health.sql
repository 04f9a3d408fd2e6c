-- name: read_database_state
-- Read the version of the server and which migrations were applied.
SELECT current_setting('server_version')     AS server_version,
       count(*)::integer                     AS migrations,
       max(format('%%s_%%s', lpad(number::text, 4, '0'), name)) AS latest_migration
FROM signet_migrations
