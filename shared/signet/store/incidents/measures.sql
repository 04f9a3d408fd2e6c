-- name: measure_incidents
-- Count open incidents over all tenants, by code.
SELECT code, open_count, unattended_count
FROM measure_incidents(%(codes)s, make_interval(secs => %(long_seconds)s))
ORDER BY code
