-- name: find_last_approved
-- Find what a gate has used up last of this document. A document without one is compared with the one that it
-- amends.
SELECT r.id AS request_id, r.document_id, r.document_version, r.ended_at AS approved_at, v.snapshot, r.pins
FROM documents d
JOIN approval_requests r ON r.tenant_id = d.tenant_id AND r.document_id IN (d.id, d.amended_from_id)
JOIN document_versions v ON v.tenant_id = r.tenant_id AND v.id = r.snapshot_version_id
WHERE d.tenant_id = %(tenant_id)s AND d.id = %(document_id)s AND r.id <> %(request_id)s
  AND r.status = 'approved' AND r.applied
ORDER BY (r.document_id = d.id) DESC, r.id DESC
LIMIT 1

-- name: find_last_asked
-- Find what the same node asked about last before this request, where no gate has used it. An edit that made a new document
-- goes on from the one that it took the place of, whose approval no gate has used.
SELECT r.id AS request_id, r.document_id, r.document_version, r.created_at AS asked_at, r.status, r.outcome, v.snapshot, r.pins
FROM approval_requests own
JOIN documents d ON d.tenant_id = own.tenant_id AND d.id = own.document_id
JOIN approval_requests r ON r.tenant_id = own.tenant_id AND r.document_id IN (d.id, d.amended_from_id)
                        AND r.node_id = own.node_id AND r.id < own.id
JOIN document_versions v ON v.tenant_id = r.tenant_id AND v.id = r.snapshot_version_id
WHERE own.tenant_id = %(tenant_id)s AND own.id = %(request_id)s AND r.applied IS NOT TRUE
  AND (r.document_id = d.id
       OR NOT EXISTS (SELECT FROM approval_requests used
                      WHERE used.tenant_id = r.tenant_id AND used.document_id = r.document_id
                        AND used.node_id = r.node_id AND used.applied))
ORDER BY r.id DESC
LIMIT 1
