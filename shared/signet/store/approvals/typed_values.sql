-- name: list_typed_over
-- List the fields in which a document says something else than before people edited it, from a version on. It counts what
-- the document said when it was made, by an action or as an amendment: what was empty then is anybody's to fill. The
-- trail says who wrote each version: an entry of a step names its instance. Personal values are compared themselves.
WITH made AS (
    SELECT a.content::jsonb -> 'changes' AS given
    FROM documents d
    JOIN audit_log a ON a.tenant_id = d.tenant_id AND a.subject_type = 'document' AND a.subject_id = d.id::text AND a.seq = 1
    WHERE d.tenant_id = %(tenant_id)s AND d.id = %(document_id)s
      AND (d.amended_from_id IS NOT NULL OR a.content::jsonb #> '{detail,made_by}' IS NOT NULL)
), typed AS (
    SELECT a.content::jsonb AS content
    FROM audit_log a
    WHERE EXISTS (SELECT FROM made)
      AND a.tenant_id = %(tenant_id)s AND a.subject_type = 'document' AND a.subject_id = %(document_id)s::text AND a.seq > 1
      AND a.content::json ->> 'instance_id' IS NULL
), before AS (
    SELECT DISTINCT ON (change.field) change.field, change.values -> 'before' AS said
    FROM made
    CROSS JOIN typed
    CROSS JOIN LATERAL jsonb_each(typed.content -> 'changes') AS change (field, values)
    WHERE (typed.content #>> '{after,version}')::bigint >= %(since)s
      AND NOT typed.content #>> '{detail,status}' = ANY (%(accepted)s::text[])
      AND coalesce(made.given #> ARRAY[change.field, 'after'], 'null') <> 'null'
    ORDER BY change.field, (typed.content #>> '{after,version}')::bigint
), compared AS (
    SELECT before.field, before.said, coalesce(d.data -> before.field, 'null') AS says
    FROM before
    JOIN documents d ON d.tenant_id = %(tenant_id)s AND d.id = %(document_id)s
)
SELECT compared.field
FROM compared
LEFT JOIN personal_values said ON said.tenant_id = %(tenant_id)s AND said.document_id = %(document_id)s
                              AND said.id::text = compared.said ->> '$personal'
LEFT JOIN personal_values says ON says.tenant_id = %(tenant_id)s AND says.document_id = %(document_id)s
                              AND says.id::text = compared.says ->> '$personal'
WHERE coalesce(said.value, compared.said) <> coalesce(says.value, compared.says)

-- name: find_first_original
-- Find the document that a line of amendments began with: the others each amend the one before.
WITH RECURSIVE line AS (
    SELECT d.id, d.amended_from_id, 1 AS distance
    FROM documents d WHERE d.tenant_id = %(tenant_id)s AND d.id = %(document_id)s
    UNION ALL
    SELECT d.id, d.amended_from_id, line.distance + 1
    FROM line JOIN documents d ON d.tenant_id = %(tenant_id)s AND d.id = line.amended_from_id
    WHERE line.distance < %(limit)s
)
SELECT id FROM line ORDER BY distance DESC LIMIT 1
