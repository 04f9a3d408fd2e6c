-- name: list_failed_calls
-- List the calls and messages of a document, and of those that it was made of or amends, that failed when they were last
-- tried by then, and from which the document went on by an edge for errors; the newest first.
WITH RECURSIVE line AS (
    SELECT d.id, d.entity_type, d.amended_from_id, 1 AS distance
    FROM documents d
    WHERE d.tenant_id = %(tenant_id)s AND d.id = %(document_id)s
    UNION ALL
    SELECT origin.id, origin.entity_type, origin.amended_from_id, line.distance + 1
    FROM line
    CROSS JOIN LATERAL (VALUES (coalesce(
        (SELECT (a.content::json #>> '{detail,made_by,document_id}')::uuid FROM audit_log a
         WHERE a.tenant_id = %(tenant_id)s AND a.subject_type = 'document' AND a.subject_id = line.id::text AND a.seq = 1),
        line.amended_from_id))) AS before (id)
    JOIN documents origin ON origin.tenant_id = %(tenant_id)s AND origin.id = before.id
    WHERE line.distance < %(line)s
), last AS (
    SELECT DISTINCT ON (line.id, s.node_id)
           line.id AS document_id, s.id, s.node_id, s.status, s.error, s.output_json, s.completed_at
    FROM line
    JOIN workflow_instances i ON i.tenant_id = %(tenant_id)s AND i.entity_type = line.entity_type AND i.entity_id = line.id
    JOIN workflow_step_executions s
      ON s.tenant_id = i.tenant_id AND s.instance_id = i.id AND s.node_type IN ('webhook_out', 'notification')
    WHERE s.completed_at <= coalesce(%(until)s::timestamptz, 'infinity')
    ORDER BY line.id, s.node_id, s.instance_id DESC, s.seq DESC
)
SELECT last.document_id, last.node_id, last.error AS reason, (last.output_json #>> '{evidence,status}')::int AS status,
       answer.said, last.completed_at AS at
FROM last
LEFT JOIN LATERAL (
    SELECT left(o.response_json ->> 'body', %(at_most)s) AS said
    FROM workflow_side_effects_outbox o
    WHERE o.tenant_id = %(tenant_id)s AND o.step_execution_id = last.id
    ORDER BY o.id DESC
    LIMIT 1
) AS answer ON true
WHERE last.status = 'failed' AND last.output_json -> 'chosen_edge_ids' <> '[]'
ORDER BY last.completed_at DESC, last.id DESC
LIMIT %(limit)s
