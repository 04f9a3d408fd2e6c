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

-- name: find_left_behind
-- Find the effects whose document has left the way that they belong to: it is deleted or in another status, has another
-- instance, has passed a gate since, was sent elsewhere or ended by an act, or has gone back to a state, as after a
-- rejection: then the instance has another first token.
SELECT q.id
FROM unnest(%(created_ats)s::timestamptz[], %(ids)s::uuid[]) AS wanted (created_at, id)
JOIN workflow_side_effects_outbox q
  ON q.tenant_id = %(tenant_id)s AND q.created_at = wanted.created_at AND q.id = wanted.id
JOIN workflow_instances i ON i.tenant_id = q.tenant_id AND i.id = q.instance_id
JOIN workflow_step_executions s
  ON s.tenant_id = q.tenant_id AND s.instance_id = q.instance_id AND s.id = q.step_execution_id
JOIN documents d ON d.tenant_id = q.tenant_id AND d.id = i.entity_id
WHERE d.deleted_at IS NOT NULL
   OR d.status IS DISTINCT FROM (SELECT v.snapshot::jsonb ->> 'status' FROM document_versions v
                                 WHERE v.tenant_id = d.tenant_id AND v.document_id = d.id
                                   AND v.version = s.entity_version)
   OR EXISTS (SELECT FROM workflow_instances n
              WHERE n.tenant_id = i.tenant_id AND n.entity_type = i.entity_type AND n.entity_id = i.entity_id
                AND n.kind = 'envelope' AND n.id > i.id)
   OR EXISTS (SELECT FROM workflow_step_executions l
              WHERE l.tenant_id = s.tenant_id AND l.instance_id = s.instance_id AND l.seq > s.seq
                AND (l.node_id = ANY (%(leaving)s::text[])
                     OR (l.token_id <> ''
                         AND substring(l.token_id FROM '^T/b\d+') IS DISTINCT FROM substring(s.token_id FROM '^T/b\d+'))
                     OR (l.node_type = 'lifecycle_gate' AND l.output_json ->> 'outcome' = 'passed')))
ORDER BY q.id

-- name: list_steps_of_effects
-- List the steps of effects, each with whether it has taken an edge for errors. One without its step is not there.
SELECT s.instance_id, s.node_id,
       s.status = 'failed' AND jsonb_array_length(s.output_json -> 'chosen_edge_ids') > 0 AS has_gone_on
FROM unnest(%(created_ats)s::timestamptz[], %(ids)s::uuid[]) AS wanted (created_at, id)
JOIN workflow_side_effects_outbox q
  ON q.tenant_id = %(tenant_id)s AND q.created_at = wanted.created_at AND q.id = wanted.id
JOIN workflow_step_executions s
  ON s.tenant_id = q.tenant_id AND s.instance_id = q.instance_id AND s.id = q.step_execution_id
ORDER BY s.instance_id, s.seq

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
