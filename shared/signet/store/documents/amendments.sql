-- name: list_open_amendments
-- List the open amendments of these documents.
SELECT original_id, document_id FROM amendments
WHERE tenant_id = %(tenant_id)s AND original_id = ANY (%(ids)s::uuid[]) AND closing IS NULL

-- name: find_amendment
-- Find what an amendment was made of, and whether its original has another one: open, or in its place already.
SELECT a.original_id, a.original_version, a.original_status, a.closing,
       EXISTS (SELECT FROM amendments o
               WHERE o.tenant_id = a.tenant_id AND o.original_id = a.original_id AND o.document_id <> a.document_id
                 AND (o.closing IS NULL OR o.closing = 'settled')) AS has_other
FROM amendments a
WHERE a.tenant_id = %(tenant_id)s AND a.document_id = %(document_id)s

-- name: find_standing
-- Find what an open amendment was made of, and its original as it is at this moment. Nothing is locked: the gate looks again.
SELECT a.original_id, a.original_version, a.original_status, d.entity_type, d.contract_version, d.version, d.status,
       d.deleted_at IS NOT NULL AS is_deleted,
       EXISTS (SELECT FROM amendments o
               WHERE o.tenant_id = a.tenant_id AND o.original_id = a.original_id AND o.document_id <> a.document_id
                 AND (o.closing IS NULL OR o.closing = 'settled')) AS has_other
FROM amendments a
JOIN documents d ON d.tenant_id = a.tenant_id AND d.id = a.original_id
WHERE a.tenant_id = %(tenant_id)s AND a.document_id = %(document_id)s AND a.closing IS DISTINCT FROM 'settled'

-- name: hold_original
-- Lock an original without waiting: the wave holds its amendment, and whoever holds both began with the original.
SELECT id FROM documents
WHERE tenant_id = %(tenant_id)s AND id = %(original_id)s
FOR NO KEY UPDATE SKIP LOCKED

-- name: hand_on_amendments
-- Close what an edit hands on to a newer document, which then amends the original as it is now.
WITH handed AS (
    UPDATE amendments a SET closed_at = %(now)s, closing = 'handed_on'
    FROM json_to_recordset(%(rows)s::json) AS row (document_id uuid, heir_id uuid)
    WHERE a.tenant_id = %(tenant_id)s AND a.document_id = row.document_id AND a.closing IS NULL
    RETURNING a.original_id, row.heir_id
)
INSERT INTO amendments (tenant_id, document_id, original_id, original_version, original_status, opened_at)
SELECT %(tenant_id)s, handed.heir_id, d.id, d.version, d.status, %(now)s
FROM handed
JOIN documents d ON d.tenant_id = %(tenant_id)s AND d.id = handed.original_id

-- name: insert_amendments
-- Write that documents amend others, with the version and the status that these have.
INSERT INTO amendments (tenant_id, document_id, original_id, original_version, original_status, opened_at)
SELECT %(tenant_id)s, document_id, original_id, original_version, original_status, %(now)s
FROM json_to_recordset(%(rows)s::json) AS row (
    document_id uuid, original_id uuid, original_version bigint, original_status text)

-- name: compare_amendments_again
-- Let edited amendments stand for the originals as they are now: who edits answers for it, and people are asked again.
UPDATE amendments a SET original_version = d.version, original_status = d.status
FROM json_to_recordset(%(rows)s::json) AS row (document_id uuid), documents d
WHERE a.tenant_id = %(tenant_id)s AND a.document_id = row.document_id AND a.closing IS NULL
  AND d.tenant_id = a.tenant_id AND d.id = a.original_id

-- name: settle_amendments
-- Close the amendments that settle.
UPDATE amendments a SET closed_at = %(now)s, closing = 'settled'
FROM json_to_recordset(%(rows)s::json) AS row (document_id uuid)
WHERE a.tenant_id = %(tenant_id)s AND a.document_id = row.document_id

-- name: list_keys_of_line
-- List which of these keys are the document's own already, or of the original that it amends, or of the amendment that
-- it takes the place of.
SELECT row.document_id, row.field
FROM json_to_recordset(%(rows)s::json) AS row (
    entity_type text, field text, value text, document_id uuid, heir_of uuid)
JOIN document_keys k ON k.tenant_id = %(tenant_id)s AND k.entity_type = row.entity_type AND k.field = row.field
                    AND k.value = row.value
WHERE k.document_id = row.document_id
   OR EXISTS (SELECT FROM amendments a
              WHERE a.tenant_id = k.tenant_id AND a.document_id IN (row.document_id, row.heir_of)
                AND a.original_id = k.document_id AND a.closing IS NULL)

-- name: list_foreign_keys
-- List which of these keys another document holds than the new one, its original, and amendments of that which were
-- given up.
SELECT row.document_id, row.field
FROM json_to_recordset(%(rows)s::json) AS row (
    entity_type text, field text, value text, document_id uuid, heir_of uuid)
JOIN document_keys k ON k.tenant_id = %(tenant_id)s AND k.entity_type = row.entity_type AND k.field = row.field
                    AND k.value = row.value
WHERE k.document_id NOT IN (row.document_id, row.heir_of)
  AND NOT EXISTS (SELECT FROM amendments a
                  WHERE a.tenant_id = k.tenant_id AND a.document_id = k.document_id
                    AND a.original_id = row.heir_of AND a.closing = 'given_up')
