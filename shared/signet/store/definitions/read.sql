-- name: list_contracts
-- List the newest contract of each type in this status.
SELECT c.entity_type, c.version, c.status, c.body::jsonb ->> 'label' AS label, c.hash, c.revision, c.created_by,
       c.created_at, c.published_at
FROM contracts c
WHERE c.tenant_id = %(tenant_id)s AND c.status = %(status)s
  AND (%(entity_types)s::text[] IS NULL OR c.entity_type = ANY (%(entity_types)s::text[]))
  AND (%(after)s::text IS NULL OR c.entity_type > %(after)s)
  AND NOT EXISTS (SELECT FROM contracts newer
                  WHERE newer.tenant_id = c.tenant_id AND newer.entity_type = c.entity_type
                    AND newer.version > c.version AND newer.status = c.status)
ORDER BY c.entity_type
LIMIT %(limit)s

-- name: list_makers
-- List the types whose newest published contract has an action that makes documents of this type.
SELECT c.entity_type
FROM contracts c
WHERE c.tenant_id = %(tenant_id)s AND c.status = 'published'
  AND NOT EXISTS (SELECT FROM contracts newer
                  WHERE newer.tenant_id = c.tenant_id AND newer.entity_type = c.entity_type
                    AND newer.version > c.version AND newer.status = c.status)
  AND EXISTS (SELECT FROM jsonb_each(c.body::jsonb -> 'actions') AS action
              WHERE action.value ->> 'entity_type' = %(entity_type)s)
ORDER BY c.entity_type
LIMIT %(limit)s

-- name: list_readers
-- List the types of which a published contract has a ref that reads documents of this type. Documents go on under older
-- contracts. A body without the name is not parsed.
SELECT DISTINCT c.entity_type
FROM contracts c
WHERE c.tenant_id = %(tenant_id)s AND c.status = 'published'
  AND strpos(c.body, '"' || %(entity_type)s::text || '"') > 0
  AND EXISTS (SELECT FROM jsonb_each(c.body::jsonb -> 'fields') AS field
              WHERE field.value ->> 'type' = 'ref' AND field.value ->> 'entity_type' = %(entity_type)s
                AND field.value -> 'reads' <> '{}')
ORDER BY c.entity_type
LIMIT %(limit)s

-- name: list_contract_versions
-- List the versions of one contract, the newest first.
SELECT c.entity_type, c.version, c.status, c.body::jsonb ->> 'label' AS label, c.hash, c.revision, c.created_by,
       c.created_at, c.published_at
FROM contracts c
WHERE c.tenant_id = %(tenant_id)s AND c.entity_type = %(entity_type)s
  AND (%(with_drafts)s OR c.status <> 'draft')
  AND (%(before)s::integer IS NULL OR c.version < %(before)s)
ORDER BY c.version DESC
LIMIT %(limit)s

-- name: list_definitions
-- List definitions, the newest first. A filter that is null leaves nothing out.
SELECT id, definition_kind AS kind, nullif(entity_type, '') AS entity_type, name, version, status, is_default,
       contract_version, compiled_hash, compiler_version, source_id, revision, created_by, created_at, updated_at,
       published_at
FROM workflow_definitions
WHERE tenant_id = %(tenant_id)s
  AND (%(kind)s::text IS NULL OR definition_kind = %(kind)s)
  AND (%(entity_type)s::text IS NULL OR entity_type = %(entity_type)s)
  AND (%(status)s::text IS NULL OR status = %(status)s)
  AND (%(name)s::text IS NULL OR name = %(name)s)
  AND (%(source_id)s::uuid IS NULL OR source_id = %(source_id)s)
  AND (%(before)s::uuid IS NULL OR id < %(before)s)
ORDER BY id DESC
LIMIT %(limit)s

-- name: list_definition_versions
-- List all versions of the definition that has this id, the newest first.
SELECT v.id, v.definition_kind AS kind, nullif(v.entity_type, '') AS entity_type, v.name, v.version, v.status,
       v.is_default, v.contract_version, v.compiled_hash, v.compiler_version, v.source_id, v.revision, v.created_by,
       v.created_at, v.updated_at, v.published_at
FROM workflow_definitions d
JOIN workflow_definitions v ON v.tenant_id = d.tenant_id AND v.definition_kind = d.definition_kind
     AND v.entity_type = d.entity_type AND v.name = d.name
WHERE d.tenant_id = %(tenant_id)s AND d.id = %(id)s
  AND (%(before)s::integer IS NULL OR v.version < %(before)s)
ORDER BY v.version DESC
LIMIT %(limit)s

-- name: find_definition
-- Find a definition with the document that its author wrote.
SELECT id, definition_kind AS kind, nullif(entity_type, '') AS entity_type, name, version, status, is_default,
       contract_version, compiled_hash, compiler_version, source_id, revision, created_by, created_at, updated_at,
       published_at, body_patches_json AS document
FROM workflow_definitions
WHERE tenant_id = %(tenant_id)s AND id = %(id)s

-- name: read_canvas
-- Read where an editor has placed the nodes.
SELECT canvas_json FROM workflow_definitions WHERE tenant_id = %(tenant_id)s AND id = %(id)s
