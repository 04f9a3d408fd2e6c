-- name: read_contract
-- Read one version of a contract.
SELECT entity_type, version, status, body, hash, created_by, created_at, published_at, revision, authors
FROM contracts
WHERE tenant_id = %(tenant_id)s AND entity_type = %(entity_type)s AND version = %(version)s

-- name: read_newest_contract
-- Read the newest published version of a contract.
SELECT entity_type, version, status, body, hash, created_by, created_at, published_at, revision, authors
FROM contracts
WHERE tenant_id = %(tenant_id)s AND entity_type = %(entity_type)s AND status = 'published'
ORDER BY version DESC
LIMIT 1

-- name: next_contract_version
-- Compute the number of the next version of a contract.
SELECT coalesce(max(version), 0) + 1 AS version FROM contracts
WHERE tenant_id = %(tenant_id)s AND entity_type = %(entity_type)s

-- name: lock_contracts_of_type
-- Lock the contracts of a type, so that those who publish or save for it go one after another. Both are rare, and new
-- documents, which refer to these rows, do not wait for them.
SELECT version FROM contracts
WHERE tenant_id = %(tenant_id)s AND entity_type = %(entity_type)s
ORDER BY version
FOR NO KEY UPDATE

-- name: save_contract_draft
-- Write a draft of a contract, or replace it. Without a row the version is frozen. A new draft goes on after the last
-- revision of those of its version that were deleted: the audit trail has kept it.
INSERT INTO contracts (tenant_id, entity_type, version, status, body, hash, created_by, authors, revision)
VALUES (%(tenant_id)s, %(entity_type)s, %(version)s, 'draft', %(body)s, %(hash)s, %(actor_id)s, %(authors)s,
        (SELECT coalesce(max((a.content::jsonb -> 'detail' ->> 'revision')::bigint), 0) + 1 FROM audit_log a
         WHERE a.tenant_id = %(tenant_id)s AND a.subject_type = 'contract' AND a.subject_id = %(entity_type)s
           AND a.action = 'delete_contract' AND a.content::jsonb -> 'detail' -> 'version' = to_jsonb(%(version)s::integer)))
ON CONFLICT (tenant_id, entity_type, version) DO UPDATE
SET body = excluded.body, hash = excluded.hash, authors = excluded.authors, revision = contracts.revision + 1
WHERE contracts.status = 'draft'
RETURNING revision

-- name: delete_contract_draft
-- Delete a draft of a contract.
DELETE FROM contracts
WHERE tenant_id = %(tenant_id)s AND entity_type = %(entity_type)s AND version = %(version)s AND status = 'draft'

-- name: publish_contract
-- Publish a draft of a contract, with the person who does so.
UPDATE contracts
SET status = 'published', revision = revision + 1, published_at = now(), authors = %(authors)s,
    published_by = %(published_by)s, publishers = %(publishers)s
WHERE tenant_id = %(tenant_id)s AND entity_type = %(entity_type)s AND version = %(version)s AND status = 'draft'

-- name: insert_definition
-- Write a definition of any kind.
INSERT INTO workflow_definitions (
    tenant_id, id, definition_kind, entity_type, name, version, status, is_default, contract_version, nodes_json,
    edges_json, slots_json, base_ref, body_patches_json, compiled_json, compiled_hash, compiler_version, source_id,
    canvas_json, created_by, authors, published_by, publishers, published_at)
VALUES (
    %(tenant_id)s, %(id)s, %(definition_kind)s, %(entity_type)s, %(name)s, %(version)s, %(status)s, %(is_default)s,
    %(contract_version)s, %(nodes_json)s, %(edges_json)s, %(slots_json)s, %(base_ref)s, %(body_patches_json)s,
    %(compiled_json)s, %(compiled_hash)s, %(compiler_version)s, %(source_id)s, %(canvas_json)s, %(actor_id)s,
    %(authors)s, %(published_by)s, %(publishers)s,
    CASE WHEN %(status)s = 'published' THEN now() END)

-- name: update_definition_draft
-- Replace the body of a draft. Without a row it is not a draft any more.
UPDATE workflow_definitions
SET body_patches_json = %(body_patches_json)s, base_ref = %(base_ref)s, authors = %(authors)s, updated_at = now(),
    revision = revision + 1
WHERE tenant_id = %(tenant_id)s AND id = %(id)s AND status = 'draft'
RETURNING revision

-- name: delete_definition_draft
-- Delete a draft of a definition.
DELETE FROM workflow_definitions WHERE tenant_id = %(tenant_id)s AND id = %(id)s AND status = 'draft'

-- name: set_canvas
-- Write where an editor has placed the nodes. It is not part of the definition: neither its revision nor its moment
-- changes.
UPDATE workflow_definitions SET canvas_json = %(canvas_json)s
WHERE tenant_id = %(tenant_id)s AND id = %(id)s AND NOT is_default

-- name: publish_definition
-- Publish a draft with what it was compiled to.
UPDATE workflow_definitions
SET status = 'published', published_at = now(), updated_at = now(), revision = revision + 1,
    compiled_json = %(compiled_json)s,
    compiled_hash = %(compiled_hash)s, compiler_version = %(compiler_version)s,
    authors = %(authors)s, published_by = %(published_by)s, publishers = %(publishers)s
WHERE tenant_id = %(tenant_id)s AND id = %(id)s AND status = 'draft'

-- name: archive_definition
-- Archive a published definition that is no default.
UPDATE workflow_definitions SET status = 'archived', updated_at = now(), revision = revision + 1
WHERE tenant_id = %(tenant_id)s AND id = %(id)s AND status = 'published' AND NOT is_default

-- name: archive_effective_of_name
-- Archive the effective workflows of a patch, all its versions, for one version of the contract.
UPDATE workflow_definitions SET status = 'archived', updated_at = now(), revision = revision + 1
WHERE tenant_id = %(tenant_id)s AND definition_kind = 'effective' AND entity_type = %(entity_type)s
  AND name = %(name)s AND contract_version = %(contract_version)s AND status = 'published'

-- name: find_definition
-- Find a definition with its body, without what it was compiled to.
SELECT id, definition_kind, entity_type, name, version, status, is_default, contract_version, base_ref,
       body_patches_json::text AS body_text, canvas_json, compiled_hash, compiler_version, source_id, created_by, created_at, published_at,
       revision, authors
FROM workflow_definitions
WHERE tenant_id = %(tenant_id)s AND id = %(id)s

-- name: find_newest_published
-- Find the newest published version of the name that a definition has.
SELECT id, definition_kind, entity_type, name, version, status, is_default, contract_version, base_ref,
       body_patches_json::text AS body_text, canvas_json, compiled_hash, compiler_version, source_id, created_by, created_at, published_at,
       revision, authors
FROM workflow_definitions
WHERE tenant_id = %(tenant_id)s AND definition_kind = %(definition_kind)s AND entity_type = %(entity_type)s
  AND name = %(name)s AND status = 'published'
ORDER BY version DESC
LIMIT 1

-- name: next_definition_version
-- Compute the number of the next version of a definition.
SELECT coalesce(max(version), 0) + 1 AS version FROM workflow_definitions
WHERE tenant_id = %(tenant_id)s AND definition_kind = %(definition_kind)s AND entity_type = %(entity_type)s
  AND name = %(name)s

-- name: read_compiled
-- Read what a definition was compiled to.
SELECT version, compiled_json, compiled_hash FROM workflow_definitions
WHERE tenant_id = %(tenant_id)s AND id = %(id)s AND version = %(version)s AND compiled_json IS NOT NULL

-- name: list_effective_of_patch
-- List the published effective workflows that were compiled from a patch.
SELECT id FROM workflow_definitions
WHERE tenant_id = %(tenant_id)s AND definition_kind = 'effective' AND source_id = %(id)s AND status = 'published'
