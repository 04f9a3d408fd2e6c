-- name: list_documents
SELECT d.id, d.entity_type, d.contract_version, d.status, d.version, d.data, d.amended_from_id, d.creator_id,
       d.created_at, d.updated_at,
       (SELECT i.id FROM workflow_instances i
        WHERE i.tenant_id = d.tenant_id AND i.entity_type = d.entity_type AND i.entity_id = d.id
          AND i.kind = 'envelope' AND i.status IN ('running', 'paused')) AS instance_id,
       {value} AS sorted_by
FROM documents d
WHERE d.tenant_id = %(tenant_id)s AND d.entity_type = %(entity_type)s AND d.deleted_at IS NULL
{conditions}
ORDER BY {order}
LIMIT %(limit)s

-- name: and_compared
AND d.{column} {operator} %({name})s::{type}

-- name: and_one_of
AND d.{column} = ANY (%({name})s::{type}[])

-- name: and_null
AND d.{column} IS NULL

-- name: and_not_null
AND d.{column} IS NOT NULL

-- name: and_of_versions
AND d.contract_version = ANY (%(contract_versions)s::integer[])

-- name: and_after_value
-- Not one comparison of rows: a text is ordered by its bytes, as its index is.
AND d.{column} {from} %(after_value)s::{type}
AND (d.{column} {past} %(after_value)s::{type}
     OR (d.created_at, d.id) {beyond} (%(after_created_at)s::timestamptz, %(after_id)s::uuid))

-- name: and_after
AND (d.created_at, d.id) {beyond} (%(after_created_at)s::timestamptz, %(after_id)s::uuid)

-- name: list_contract_versions
SELECT version FROM contracts
WHERE tenant_id = %(tenant_id)s AND entity_type = %(entity_type)s AND status <> 'draft'
ORDER BY version DESC
LIMIT %(limit)s
