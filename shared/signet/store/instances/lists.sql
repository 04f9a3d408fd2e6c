-- name: list_by_status
-- List instances, the newest first. Each status is read by its own index, as far as one page.
SELECT page.*, d.name AS workflow
FROM (
    SELECT i.id, i.kind, i.status, i.reason, i.version, i.definition_id, i.definition_version, i.entity_type,
           i.entity_id AS document_id, i.current_nodes, i.started_at, i.completed_at, i.updated_at
    FROM unnest(%(statuses)s::text[]) AS wanted (status)
    CROSS JOIN LATERAL (
        SELECT i.*
        FROM workflow_instances i
        WHERE i.tenant_id = %(tenant_id)s AND i.status = wanted.status AND i.id < %(before)s
          AND (%(node)s::text IS NULL OR i.current_nodes @> ARRAY[%(node)s::text])
          AND i.started_at < %(started_before)s AND i.updated_at < %(updated_before)s
        ORDER BY i.id DESC
        LIMIT %(limit)s
    ) AS i
    ORDER BY i.id DESC
    LIMIT %(limit)s
) AS page
JOIN workflow_definitions d ON d.tenant_id = %(tenant_id)s AND d.id = page.definition_id
ORDER BY page.id DESC

-- name: list_by_definition
-- List the instances of a definition, a name or a type, the newest first. Each definition and status is read by its
-- own index, as far as one page.
SELECT page.*
FROM (
    SELECT i.id, i.kind, i.status, i.reason, i.version, i.definition_id, i.definition_version, i.entity_type,
           i.entity_id AS document_id, i.current_nodes, i.started_at, i.completed_at, i.updated_at, d.name AS workflow
    FROM workflow_definitions d
    CROSS JOIN unnest(%(statuses)s::text[]) AS wanted (status)
    CROSS JOIN LATERAL (
        SELECT i.*
        FROM workflow_instances i
        WHERE i.tenant_id = %(tenant_id)s AND i.definition_id = d.id AND i.status = wanted.status
          AND i.id < %(before)s
          AND (%(node)s::text IS NULL OR i.current_nodes @> ARRAY[%(node)s::text])
          AND i.started_at < %(started_before)s AND i.updated_at < %(updated_before)s
        ORDER BY i.id DESC
        LIMIT %(limit)s
    ) AS i
    WHERE d.tenant_id = %(tenant_id)s
      AND (%(definition_id)s::uuid IS NULL OR d.id = %(definition_id)s)
      AND (%(entity_type)s::text IS NULL OR d.entity_type = %(entity_type)s)
      AND (%(workflow)s::text IS NULL OR d.name = %(workflow)s)
) AS page
ORDER BY page.id DESC
LIMIT %(limit)s

-- name: list_by_subject
-- List all instances that one subject has had, the newest first.
SELECT i.id, i.kind, i.status, i.reason, i.version, i.definition_id, i.definition_version, i.entity_type,
       i.entity_id AS document_id, i.current_nodes, i.started_at, i.completed_at, i.updated_at, d.name AS workflow
FROM workflow_instances i
JOIN workflow_definitions d ON d.tenant_id = i.tenant_id AND d.id = i.definition_id
WHERE i.tenant_id = %(tenant_id)s AND i.subject_id = %(subject_id)s AND i.id < %(before)s
  AND i.status = ANY (%(statuses)s)
  AND (%(node)s::text IS NULL OR i.current_nodes @> ARRAY[%(node)s::text])
  AND i.started_at < %(started_before)s AND i.updated_at < %(updated_before)s
  AND (%(definition_id)s::uuid IS NULL OR d.id = %(definition_id)s)
  AND (%(entity_type)s::text IS NULL OR d.entity_type = %(entity_type)s)
  AND (%(workflow)s::text IS NULL OR d.name = %(workflow)s)
ORDER BY i.id DESC
LIMIT %(limit)s
