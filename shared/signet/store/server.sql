-- name: find_database
SELECT 1 FROM pg_database WHERE datname = %(name)s
