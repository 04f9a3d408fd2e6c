-- name: list_approvers
-- List who has approved a document, and the persons they voted for: also where their vote has lapsed since.
SELECT DISTINCT voice.person
FROM approval_requests q
JOIN approval_decisions v ON v.tenant_id = q.tenant_id AND v.request_id = q.id AND v.decision = 'approved'
CROSS JOIN LATERAL (VALUES (v.decided_by), (v.on_behalf_of)) AS voice (person)
WHERE q.tenant_id = %(tenant_id)s AND q.document_id = %(document_id)s AND voice.person IS NOT NULL
