-- name: find_target
-- Find what an instance may move to under this name and version. The same kind comes before others, and an effective
-- workflow before its envelope.
SELECT id, entity_type, name, version, published_at
FROM workflow_definitions
WHERE tenant_id = %(tenant_id)s AND entity_type = %(entity_type)s AND name = %(name)s AND version = %(version)s
  AND status = 'published' AND definition_kind IN ('effective', 'envelope', 'automation')
ORDER BY (definition_kind = %(kind)s) DESC, (definition_kind = 'effective') DESC, definition_kind
LIMIT 1

-- name: list_older
-- List definitions of the same subject that were published before this one, in any status.
SELECT older.id
FROM workflow_definitions target
JOIN workflow_definitions older ON older.tenant_id = target.tenant_id AND older.entity_type = target.entity_type
WHERE target.tenant_id = %(tenant_id)s AND target.id = %(id)s
  AND older.definition_kind IN ('effective', 'envelope', 'automation') AND older.published_at < target.published_at
  AND (older.definition_kind = 'automation') = (target.definition_kind = 'automation')
  AND (older.definition_kind <> 'automation' OR older.name = target.name)
ORDER BY older.published_at DESC, older.id
LIMIT %(limit)s

-- name: list_live_under
-- List instances that run or are paused under one of these definitions, in the order of their ids.
SELECT id, version
FROM workflow_instances
WHERE tenant_id = %(tenant_id)s AND definition_id = ANY (%(definition_ids)s) AND status IN ('running', 'paused')
  AND id > %(after)s
ORDER BY id
LIMIT %(limit)s

-- name: list_done
-- List each step that an instance has executed to its end, or whose call may have left although it was cancelled.
SELECT DISTINCT s.token_id, s.node_id
FROM workflow_step_executions s
WHERE s.tenant_id = %(tenant_id)s AND s.instance_id = %(id)s AND s.node_type <> 'control'
  AND (s.status IN ('completed', 'failed', 'skipped')
       OR s.status = 'cancelled' AND EXISTS (
           SELECT FROM workflow_side_effects_outbox e
           WHERE e.tenant_id = s.tenant_id AND e.step_execution_id = s.id
             AND e.left_at IS NOT NULL))

-- name: lock_unsent
-- Lock what waits to be sent, so that no worker claims it before the act on its instance has ended.
SELECT FROM workflow_side_effects_outbox
WHERE tenant_id = %(tenant_id)s AND instance_id = %(id)s AND status IN ('pending', 'failed')
ORDER BY created_at, id
FOR UPDATE

-- name: find_last_instance
-- Find the newest instance of a document; every document has begun one.
SELECT i.id, d.id
FROM documents d
CROSS JOIN LATERAL (
    SELECT i.id FROM workflow_instances i
    WHERE i.tenant_id = d.tenant_id AND i.entity_type = d.entity_type AND i.entity_id = d.id AND i.kind = 'envelope'
    ORDER BY i.id DESC
    LIMIT 1
) i
WHERE d.tenant_id = %(tenant_id)s AND d.id = %(document_id)s

-- name: list_begun_over_left
-- List those of these instances that began for a request where an operator had left the document, and passed no gate.
SELECT i.id
FROM workflow_instances i
WHERE i.tenant_id = %(tenant_id)s AND i.id = ANY (%(ids)s) AND i.birth = 'reentered'
  AND EXISTS (SELECT FROM incidents x
              WHERE x.tenant_id = i.tenant_id AND x.entity_id = i.entity_id AND x.code = 'DOCUMENT_WITHOUT_WORKFLOW'
                AND x.closing = 'went_on' AND x.closed_at = i.started_at)
  AND NOT EXISTS (SELECT FROM workflow_step_executions g
                  WHERE g.tenant_id = i.tenant_id AND g.instance_id = i.id AND g.node_type = 'lifecycle_gate'
                    AND g.output_json ->> 'outcome' = 'passed')

-- name: find_left_instance
-- Find the instance that left its document undone: this one, or the one before requests that came to nothing.
WITH RECURSIVE line AS (
    SELECT %(id)s::uuid AS id, 1 AS distance
    UNION ALL
    SELECT x.instance_id, l.distance + 1
    FROM line l
    JOIN workflow_instances i ON i.tenant_id = %(tenant_id)s AND i.id = l.id AND i.birth = 'reentered'
    JOIN incidents x ON x.tenant_id = i.tenant_id AND x.entity_id = i.entity_id
                    AND x.code = 'DOCUMENT_WITHOUT_WORKFLOW' AND x.closing = 'went_on' AND x.closed_at = i.started_at
    WHERE l.distance < %(limit)s
      AND NOT EXISTS (SELECT FROM workflow_step_executions g
                      WHERE g.tenant_id = i.tenant_id AND g.instance_id = i.id AND g.node_type = 'lifecycle_gate'
                        AND g.output_json ->> 'outcome' = 'passed')
)
SELECT id FROM line ORDER BY distance DESC LIMIT 1
