-- name: list_approvers
-- List who has approved a document, or one that it was made of or amends, and the persons they voted for: also where the
-- vote has lapsed since, and not where the approval was voided or rejected. The first row of a document's trail says what
-- it was made of.
WITH RECURSIVE line AS (
    SELECT %(document_id)s::uuid AS id, 1 AS distance
    UNION ALL
    SELECT origin.id, line.distance + 1
    FROM line
    CROSS JOIN LATERAL (
        SELECT coalesce(
            (SELECT (a.content::json #>> '{detail,made_by,document_id}')::uuid FROM audit_log a
             WHERE a.tenant_id = %(tenant_id)s AND a.subject_type = 'document' AND a.subject_id = line.id::text
               AND a.seq = 1),
            (SELECT d.amended_from_id FROM documents d WHERE d.tenant_id = %(tenant_id)s AND d.id = line.id)) AS id
    ) AS origin
    WHERE origin.id IS NOT NULL AND line.distance <= %(limit)s
)
SELECT max(line.distance) AS distance,
       coalesce(array_agg(DISTINCT voice.person) FILTER (WHERE voice.person IS NOT NULL), '{}') AS approvers
FROM line
LEFT JOIN approval_requests q ON q.tenant_id = %(tenant_id)s AND q.document_id = line.id
                             AND q.status IN ('open', 'approved')
LEFT JOIN approval_decisions v ON v.tenant_id = q.tenant_id AND v.request_id = q.id AND v.decision = 'approved'
CROSS JOIN LATERAL (VALUES (v.decided_by), (v.on_behalf_of)) AS voice (person)
