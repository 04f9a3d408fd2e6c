-- name: list_dead_letters
-- List the dead letters of both queues, the newest first, each by its partial index.
SELECT queue, id, instance_id, kind, endpoint, attempts, created_at, error, trace_id
FROM ((SELECT 'events' AS queue, id, instance_id, event_type AS kind, NULL AS endpoint, attempts, created_at, error,
              trace_id
       FROM workflow_events_outbox
       WHERE tenant_id = %(tenant_id)s AND status = 'dead_letter' AND id < %(before)s AND %(queue)s <> 'effects'
       ORDER BY id DESC
       LIMIT %(limit)s)
      UNION ALL
      (SELECT 'effects', id, instance_id, effect_type, endpoint, attempts, created_at, error, trace_id
       FROM workflow_side_effects_outbox
       WHERE tenant_id = %(tenant_id)s AND status = 'dead_letter' AND id < %(before)s AND %(queue)s <> 'events'
       ORDER BY id DESC
       LIMIT %(limit)s)) AS dead
ORDER BY id DESC
LIMIT %(limit)s

-- name: find_dead_effects
-- Find dead effects with the instance of each, where there still is one.
SELECT q.id, q.instance_id, i.id IS NOT NULL AS has_instance, i.entity_id
FROM unnest(%(created_ats)s::timestamptz[], %(ids)s::uuid[]) AS wanted (created_at, id)
JOIN workflow_side_effects_outbox q
  ON q.tenant_id = %(tenant_id)s AND q.created_at = wanted.created_at AND q.id = wanted.id
LEFT JOIN workflow_instances i ON i.tenant_id = q.tenant_id AND i.id = q.instance_id
WHERE q.status = 'dead_letter'
ORDER BY q.id

-- name: read_usage
-- Count what a tenant has running, each to a limit.
SELECT (SELECT count(*) FROM (SELECT FROM workflow_instances
                              WHERE tenant_id = %(tenant_id)s AND status = 'running' LIMIT %(limit)s) AS counted)
           AS running_instances,
       (SELECT count(*) FROM (SELECT FROM workflow_instances
                              WHERE tenant_id = %(tenant_id)s AND status = 'paused' LIMIT %(limit)s) AS counted)
           AS paused_instances,
       (SELECT count(*) FROM (SELECT FROM workflow_step_executions
                              WHERE tenant_id = %(tenant_id)s
                                AND created_at >= now() - make_interval(secs => %(since_seconds)s)
                              LIMIT %(limit)s) AS counted) AS steps

-- name: list_partitioned
-- List partitioned tables from the catalogue alone. Months are those from this one on; rows beside them are an
-- estimate.
SELECT parent.relname AS name,
       coalesce(array_agg(replace(right(child.relname, 7), '_', '-') ORDER BY child.relname)
                FILTER (WHERE child.oid <> p.partdefid
                          AND right(child.relname, 7) >= to_char(now() AT TIME ZONE 'UTC', 'YYYY_MM')), '{}') AS months,
       coalesce(pg_stat_get_live_tuples(p.partdefid), 0) AS default_rows
FROM pg_partitioned_table p
JOIN pg_class parent ON parent.oid = p.partrelid
JOIN pg_inherits i ON i.inhparent = p.partrelid
JOIN pg_class child ON child.oid = i.inhrelid
WHERE parent.relnamespace = 'public'::regnamespace AND p.partdefid <> 0
GROUP BY parent.relname, p.partdefid
ORDER BY parent.relname

-- name: list_python_actions
-- List the Python actions that published contracts declare.
SELECT DISTINCT c.entity_type, declared.key AS name
FROM contracts c
CROSS JOIN LATERAL jsonb_each(c.body::jsonb -> 'actions') AS declared
WHERE c.tenant_id = %(tenant_id)s AND c.status = 'published' AND declared.value ->> 'kind' = 'python'
ORDER BY c.entity_type, name
LIMIT %(limit)s
