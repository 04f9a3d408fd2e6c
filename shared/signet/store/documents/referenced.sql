-- name: read_referenced
-- Read fields of the documents that are referred to, who changed each last, and which of them steps or rules may write.
-- They are not locked. Of one that was replaced, the document in force is read; of a line that is too long it is not
-- known, and the named one is marked. Of a deleted one nobody reads a value, and everybody who wrote or deleted it
-- counts. Each definition is looked at once: the actions that its patch runs, with what its contract has them set.
WITH referenced AS MATERIALIZED (
    SELECT o.id AS named_id, line.in_force, o.deleted_at IS NOT NULL OR d.deleted_at IS NOT NULL AS is_gone, d.*
    FROM documents o
    CROSS JOIN LATERAL (SELECT document_in_force(o.id, o.status) AS in_force OFFSET 0) AS line
    JOIN documents d ON d.tenant_id = o.tenant_id AND d.id = coalesce(line.in_force, o.id)
    WHERE o.tenant_id = %(tenant_id)s AND o.id = ANY (%(ids)s::uuid[])
), run AS MATERIALIZED (
    SELECT DISTINCT d.id AS document_id, i.definition_id
    FROM referenced d
    CROSS JOIN LATERAL (
        SELECT i.definition_id FROM workflow_instances i
        WHERE i.tenant_id = d.tenant_id AND i.entity_type = d.entity_type AND i.entity_id = d.id
        ORDER BY i.id DESC
        LIMIT %(instances)s
    ) AS i
), written AS MATERIALIZED (
    SELECT w.id AS definition_id, field.name
    FROM workflow_definitions w
    JOIN workflow_definitions p ON p.tenant_id = w.tenant_id AND p.id = w.source_id
    JOIN contracts c ON c.tenant_id = w.tenant_id AND c.entity_type = w.entity_type AND c.version = w.contract_version
    CROSS JOIN LATERAL (SELECT c.body::jsonb -> 'actions' AS declared OFFSET 0) AS a
    CROSS JOIN LATERAL jsonb_path_query(p.body_patches_json, '$.slots.*.nodes[*] ? (@.type == "action").config.action')
        AS action
    CROSS JOIN LATERAL (
        SELECT jsonb_object_keys(a.declared -> (action #>> '{}') -> 'set') AS name
        WHERE a.declared -> (action #>> '{}') ->> 'kind' = 'update'
        UNION ALL
        SELECT '*' WHERE a.declared -> (action #>> '{}') ->> 'kind' = 'python'
    ) AS field
    WHERE w.tenant_id = %(tenant_id)s AND w.id IN (SELECT definition_id FROM run)
)
SELECT d.named_id, d.entity_type, d.status, d.version, d.is_gone,
       (SELECT v.hash FROM document_versions v
        WHERE v.tenant_id = d.tenant_id AND v.document_id = d.id AND v.version = d.version),
       coalesce((SELECT jsonb_object_agg(field, d.data -> field)
                 FROM unnest(%(fields)s::text[]) AS field WHERE d.data ? field), '{}'),
       coalesce((SELECT jsonb_object_agg(field, to_jsonb(s.persons))
                 FROM unnest(%(fields)s::text[]) AS field
                 JOIN document_versions v
                   ON v.tenant_id = d.tenant_id AND v.document_id = d.id
                  AND v.version = coalesce(d.field_versions ->> field, d.field_versions ->> '*')::bigint
                 JOIN responsible_sets s ON s.tenant_id = d.tenant_id AND s.hash = v.responsible
                 WHERE d.deleted_at IS NULL), '{}'),
       ARRAY(SELECT unnest(s.persons) FROM responsible_sets s
             WHERE s.tenant_id = d.tenant_id AND s.hash IN (d.creator_responsible, d.editor_responsible)),
       ARRAY(SELECT field FROM unnest(%(fields)s::text[]) AS field
             WHERE field = 'status'
                OR EXISTS (SELECT FROM run JOIN written USING (definition_id)
                           WHERE run.document_id = d.id AND written.name IN (field, '*'))
                OR EXISTS (SELECT FROM rules r CROSS JOIN LATERAL jsonb_array_elements(r.actions) AS action
                           WHERE r.tenant_id = d.tenant_id AND r.entity_type = d.entity_type AND r.is_enabled
                             AND action -> 'values' ? field)),
       nullif(d.id, d.named_id), d.in_force IS NULL
FROM referenced d
