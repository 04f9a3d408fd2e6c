-- `{table}` is the table of either queue. Rows that are due, or whose lease ends, before `since` are not looked at.

-- name: find_oldest
-- Find since when the oldest row of a tenant waits, or has lost its worker. This looks at everything.
SELECT least((SELECT due_at FROM {table}
              WHERE tenant_id = %(tenant_id)s AND status IN ('pending', 'failed') AND due_at <= now()
              ORDER BY due_at LIMIT 1),
             (SELECT lease_until FROM {table}
              WHERE tenant_id = %(tenant_id)s AND status = 'processing' AND lease_until <= now()
              ORDER BY lease_until LIMIT 1),
             now()) AS oldest

-- name: find_oldest_of_all
-- Find the same over all tenants.
SELECT find_oldest_due(%(queue)s) AS oldest

-- name: depth_of
-- Measure the queue of a tenant. Each status is counted by its partial index and to a limit; completed rows are
-- many, and wait for nobody.
SELECT waiting.pending, waiting.failed, working.processing, dead.dead_letter,
       (SELECT extract(epoch FROM now() - due_at)::float8 FROM {table}
        WHERE tenant_id = %(tenant_id)s AND status IN ('pending', 'failed')
          AND due_at BETWEEN %(since)s AND now()
        ORDER BY due_at LIMIT 1) AS oldest_due_seconds
FROM (SELECT count(*) FILTER (WHERE status = 'pending') AS pending,
             count(*) FILTER (WHERE status = 'failed') AS failed
      FROM (SELECT status FROM {table} WHERE tenant_id = %(tenant_id)s AND status IN ('pending', 'failed')
              AND due_at >= %(since)s
            LIMIT %(limit)s) AS counted) AS waiting,
     (SELECT count(*) AS processing
      FROM (SELECT FROM {table} WHERE tenant_id = %(tenant_id)s AND status = 'processing' AND lease_until >= %(since)s
            LIMIT %(limit)s) AS counted) AS working,
     (SELECT count(*) AS dead_letter
      FROM (SELECT FROM {table} WHERE tenant_id = %(tenant_id)s AND status = 'dead_letter'
            LIMIT %(limit)s) AS counted) AS dead

-- name: read_pace
-- Measure what was done lately, how long it had been due, and what no worker came back for. Each part reads the
-- newest rows to a limit.
SELECT done.done, done.retried, done.waits[1] AS p50_seconds, done.waits[2] AS p95_seconds, done.waits[3] AS p99_seconds,
       (SELECT count(*) FROM (
            SELECT FROM {table}
            WHERE tenant_id = %(tenant_id)s AND status = 'processing' AND lease_until BETWEEN %(since)s AND now()
            LIMIT %(limit)s) AS counted) AS expired
FROM (SELECT count(*) AS done, count(*) FILTER (WHERE attempts > 1) AS retried,
             percentile_cont(ARRAY[0.5, 0.95, 0.99]) WITHIN GROUP (ORDER BY seconds) AS waits
      FROM (SELECT attempts, extract(epoch FROM completed_at - due_at)::double precision AS seconds FROM {table}
            WHERE tenant_id = %(tenant_id)s AND status = 'completed'
              AND completed_at >= now() - make_interval(secs => %(since_seconds)s)
            ORDER BY completed_at DESC
            LIMIT %(limit)s) AS newest) AS done

-- name: measure_queue
-- Measure a queue over all tenants.
SELECT pending, failed, processing, expired, dead_letter,
       extract(epoch FROM now() - oldest_due_at)::double precision AS oldest_due_seconds
FROM measure_queue(%(queue)s, %(since)s)
