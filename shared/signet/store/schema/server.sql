-- name: find_database
-- Find out whether a database is there.
SELECT 1 FROM pg_database WHERE datname = %(name)s

-- name: find_iam_role
-- Find the role of Aurora and RDS whose members log in by a signed token, and no other way.
SELECT 1 FROM pg_roles WHERE rolname = 'rds_iam'
