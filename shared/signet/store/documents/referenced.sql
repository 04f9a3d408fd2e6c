-- name: read_referenced
-- Read fields of the documents that are referred to, and who changed each last. They are not locked. Of one that was
-- replaced, the document in force is read; of a line that is too long it is not known, and the named one is marked. Of a
-- deleted one nobody reads a value, and everybody who wrote or deleted it counts. Steps or rules may write some fields. Who
-- keeps the document as it is stands behind each.
SELECT o.id, d.entity_type, d.status, d.version, o.deleted_at IS NOT NULL OR d.deleted_at IS NOT NULL,
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
       list_fields_of_steps(d.id, d.entity_type),
       nullif(d.id, o.id), line.in_force IS NULL, list_hinderers(d.id)
FROM documents o
CROSS JOIN LATERAL (SELECT document_in_force(o.id, o.status) AS in_force OFFSET 0) AS line
JOIN documents d ON d.tenant_id = o.tenant_id AND d.id = coalesce(line.in_force, o.id)
WHERE o.tenant_id = %(tenant_id)s AND o.id = ANY (%(ids)s::uuid[])

-- name: keep_hinderers
-- Add persons who wrote what a refusal has read to those of the document that it left as it was.
SELECT keep_hinderers(%(document_id)s, %(persons)s::text[])

-- name: list_key_holders
-- List who wrote the documents that hold these business keys.
SELECT DISTINCT unnest(s.persons)
FROM json_to_recordset(%(keys)s::json) AS key (entity_type text, field text, value text, document_id uuid)
JOIN document_keys k
  ON k.tenant_id = %(tenant_id)s AND k.entity_type = key.entity_type AND k.field = key.field AND k.value = key.value
JOIN documents d ON d.tenant_id = k.tenant_id AND d.id = k.document_id AND d.id <> key.document_id
JOIN responsible_sets s ON s.tenant_id = d.tenant_id AND s.hash IN (d.creator_responsible, d.editor_responsible)
