-- name: count_live_under_others
-- Count the live documents of a type that run another definition than this one, by definition, of so many at most.
WITH live AS MATERIALIZED (
    SELECT definition_id FROM workflow_instances
    WHERE tenant_id = %(tenant_id)s AND entity_type = %(entity_type)s AND kind = 'envelope'
      AND status IN ('running', 'paused') AND definition_id <> %(definition_id)s
    ORDER BY entity_id
    LIMIT %(at_most)s)
SELECT d.id, d.definition_kind, d.name, d.version, d.contract_version, count(*) AS live_count
FROM live JOIN workflow_definitions d ON d.tenant_id = %(tenant_id)s AND d.id = live.definition_id
GROUP BY d.id, d.definition_kind, d.name, d.version, d.contract_version
ORDER BY count(*) DESC, d.id
LIMIT %(limit)s

-- name: find_run_definition
-- Find the definition that an instance runs, and the one that new documents of its type run, where that is newer.
SELECT d.name, d.version, newer.name AS newer_name, newer.version AS newer_version
FROM workflow_instances i
JOIN workflow_definitions d ON d.tenant_id = i.tenant_id AND d.id = i.definition_id
LEFT JOIN LATERAL (
    SELECT n.id, n.name, n.version, n.published_at
    FROM workflow_definitions n
    WHERE n.tenant_id = i.tenant_id AND n.entity_type = i.entity_type AND n.status = 'published'
      AND n.definition_kind IN ('effective', 'envelope')
    ORDER BY (n.definition_kind = 'effective') DESC, n.contract_version DESC, n.published_at DESC, n.id DESC
    LIMIT 1) AS newer ON newer.id <> d.id AND newer.published_at >= d.published_at
WHERE i.tenant_id = %(tenant_id)s AND i.id = %(instance_id)s

-- name: find_published_before
-- Find the definition of a type that was published last before this one, also where it is archived by now.
SELECT d.id, d.name, d.version
FROM workflow_definitions d
WHERE d.tenant_id = %(tenant_id)s AND d.entity_type = %(entity_type)s AND d.id <> %(definition_id)s
  AND d.definition_kind IN ('effective', 'envelope') AND d.published_at IS NOT NULL
ORDER BY (d.definition_kind = 'effective') DESC, d.published_at DESC, d.id DESC
LIMIT 1
