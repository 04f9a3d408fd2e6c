-- name: list_documents
-- List documents of a type. The column of the order, the conditions and the order itself are filled from closed sets
-- in lists.py.
SELECT d.id, d.entity_type, d.contract_version, d.status, d.version, d.data, d.amended_from_id, d.creator_id,
       d.created_at, d.updated_at,
       (SELECT i.id FROM workflow_instances i
        WHERE i.tenant_id = d.tenant_id AND i.entity_type = d.entity_type AND i.entity_id = d.id
          AND i.kind = 'envelope' AND i.status IN ('running', 'paused')) AS instance_id,
       (SELECT count(*)::integer FROM incidents o
        WHERE o.tenant_id = d.tenant_id AND o.entity_id = d.id AND o.closed_at IS NULL) AS open_incidents,
       {value} AS sorted_by
FROM documents d
WHERE d.tenant_id = %(tenant_id)s AND d.entity_type = %(entity_type)s AND d.deleted_at IS NULL
{conditions}
ORDER BY {order}
LIMIT %(limit)s

-- name: and_compared
-- Compare a column with a value.
AND d.{column} {operator} %({name})s::{type}

-- name: and_one_of
-- Take rows whose column has one of these values.
AND d.{column} = ANY (%({name})s::{type}[])

-- name: and_null
-- Take rows whose column is empty.
AND d.{column} IS NULL

-- name: and_not_null
-- Take rows whose column is filled.
AND d.{column} IS NOT NULL

-- name: and_of_versions
-- Take rows of these versions of the contract: only there the column means this field.
AND d.contract_version = ANY (%(contract_versions)s::integer[])

-- name: and_after_value
-- Go on after a row. This is no comparison of rows, because a text is ordered by its bytes, as its index is.
AND d.{column} {from} %(after_value)s::{type}
AND (d.{column} {past} %(after_value)s::{type}
     OR (d.created_at, d.id) {beyond} (%(after_created_at)s::timestamptz, %(after_id)s::uuid))

-- name: and_after
-- Go on after a row, by the order of creation.
AND (d.created_at, d.id) {beyond} (%(after_created_at)s::timestamptz, %(after_id)s::uuid)

-- name: list_contract_versions
-- List the versions of a contract that documents may have, the newest first.
SELECT version FROM contracts
WHERE tenant_id = %(tenant_id)s AND entity_type = %(entity_type)s AND status <> 'draft'
ORDER BY version DESC
LIMIT %(limit)s
