-- name: find_database
SELECT 1 FROM pg_database WHERE datname = %(name)s

-- name: find_iam_role
-- Of Aurora and RDS: whoever is a member logs in by a signed token, and no other way.
SELECT 1 FROM pg_roles WHERE rolname = 'rds_iam'
