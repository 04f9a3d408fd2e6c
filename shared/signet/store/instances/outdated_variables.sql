-- name: list_outdated
-- List the variables that were set before a person changed what their slot reads, each with the fields that differ. What
-- people have approved with a variable counts as known with it. The workflow's own changes outdate nothing. A variable
-- that no step tells of is as old as the document. One that is not set is as old as the last passing of a slot that might
-- have set it, in this instance. Both lists are made once: joined to the versions, they would be made
-- again for each of them.
WITH line AS (
    SELECT i.tenant_id, i.id, i.begin_version, lag(i.entity_version) OVER (ORDER BY i.id) AS left_at
    FROM workflow_instances i
    WHERE i.tenant_id = %(tenant_id)s AND i.entity_type = %(entity_type)s AND i.entity_id = %(document_id)s
      AND i.kind = 'envelope'
), edited AS MATERIALIZED (
    SELECT l.left_at AS seen, l.begin_version AS found FROM line l WHERE l.begin_version > l.left_at
    UNION ALL
    SELECT s.entity_version, s.version_after
    FROM line l
    JOIN workflow_step_executions s ON s.tenant_id = l.tenant_id AND s.instance_id = l.id
    WHERE s.node_type = 'control' AND s.version_after > s.entity_version
    UNION ALL
    SELECT own.seen, own.found FROM json_to_recordset(%(edits)s::json) AS own (seen bigint, found bigint)
), known AS MATERIALIZED (
    SELECT asked.name, asked.fields,
           CASE WHEN asked.entries IS NULL THEN coalesce(greatest(setting.version, approved.version), 1)
                ELSE passing.version END AS version
    FROM json_to_recordset(%(variables)s::json) AS asked (name text, value jsonb, fields text[], entries text[])
    LEFT JOIN LATERAL (
        SELECT s.entity_version AS version
        FROM line l
        JOIN workflow_step_executions s ON s.tenant_id = l.tenant_id AND s.instance_id = l.id
        WHERE jsonb_exists(s.output_json -> 'variables', asked.name)
        ORDER BY s.instance_id DESC, s.seq DESC
        LIMIT 1
    ) setting ON true
    LEFT JOIN LATERAL (
        SELECT max(r.document_version) AS version FROM approval_requests r
        WHERE r.tenant_id = %(tenant_id)s AND r.document_id = %(document_id)s AND r.status = 'approved'
          AND r.variables -> asked.name = asked.value
    ) approved ON true
    LEFT JOIN LATERAL (
        SELECT s.entity_version AS version FROM workflow_step_executions s
        WHERE s.tenant_id = %(tenant_id)s AND s.instance_id = %(instance_id)s AND s.node_id = ANY (asked.entries)
        ORDER BY s.seq DESC
        LIMIT 1
    ) passing ON true
)
SELECT known.name, array_agg(DISTINCT field.name ORDER BY field.name) AS fields
FROM known
JOIN edited ON edited.found > known.version
JOIN document_versions f
  ON f.tenant_id = %(tenant_id)s AND f.document_id = %(document_id)s AND f.version = known.version
JOIN document_versions o
  ON o.tenant_id = %(tenant_id)s AND o.document_id = %(document_id)s AND o.version = greatest(edited.seen, known.version)
JOIN document_versions n
  ON n.tenant_id = %(tenant_id)s AND n.document_id = %(document_id)s AND n.version = edited.found
CROSS JOIN LATERAL (
    SELECT f.snapshot::jsonb -> 'data' AS set_with, o.snapshot::jsonb -> 'data' AS before, n.snapshot::jsonb -> 'data' AS after
) data
CROSS JOIN LATERAL jsonb_object_keys(data.before || data.after) AS field (name)
WHERE (known.fields IS NULL OR field.name = ANY (known.fields))
  AND data.before -> field.name IS DISTINCT FROM data.after -> field.name
  AND data.set_with -> field.name IS DISTINCT FROM %(data)s::jsonb -> field.name
GROUP BY known.name
