-- name: list_status_runs
-- List the statuses that documents had, one after the other, and the versions that people have decided about: a gate has
-- used their approval, or their request decides. An approval in a slot behind a gate counts where it was given.
WITH statuses AS (
    SELECT v.document_id, v.version, s.status,
           lag(s.status) OVER (PARTITION BY v.document_id ORDER BY v.version) AS before
    FROM document_versions v
    CROSS JOIN LATERAL (SELECT v.snapshot::json ->> 'status' AS status) AS s
    WHERE v.tenant_id = %(tenant_id)s AND v.document_id = ANY (%(ids)s)
), runs AS (
    SELECT document_id, version, status,
           lead(version) OVER (PARTITION BY document_id ORDER BY version) AS next
    FROM statuses
    WHERE status IS DISTINCT FROM before
), decided AS (
    SELECT q.document_id, q.document_version AS version, q.applied IS TRUE AS is_used
    FROM approval_requests q
    JOIN documents d ON d.tenant_id = q.tenant_id AND d.id = q.document_id
    WHERE q.tenant_id = %(tenant_id)s AND q.document_id = ANY (%(ids)s) AND q.status IN ('approved', 'voided')
      AND (q.applied
           OR EXISTS (SELECT FROM approval_decisions v
                      WHERE v.tenant_id = q.tenant_id AND v.request_id = q.id AND v.decision = 'approved')
              AND EXISTS (SELECT FROM contracts c
                          WHERE c.tenant_id = d.tenant_id AND c.entity_type = d.entity_type
                            AND c.version <= d.contract_version
                            AND c.body::jsonb #>> ARRAY['slots', split_part(q.node_id, ':', 2), 'position'] = 'after'))
    UNION ALL
    SELECT t.document_id, t.document_version, true
    FROM transition_requests t
    JOIN documents d ON d.tenant_id = t.tenant_id AND d.id = t.document_id
    WHERE t.tenant_id = %(tenant_id)s AND t.document_id = ANY (%(ids)s) AND t.status = 'performed'
      AND EXISTS (SELECT FROM contracts c
                  WHERE c.tenant_id = d.tenant_id AND c.entity_type = d.entity_type AND c.version <= d.contract_version
                    AND c.body::jsonb #> '{separation_of_duties,deciding}' ? t.transition)
)
SELECT r.document_id, r.version, r.status,
       ARRAY(SELECT d.version FROM decided d
             WHERE d.document_id = r.document_id AND d.is_used AND d.version >= r.version
               AND (r.next IS NULL OR d.version < r.next)
             ORDER BY d.version) AS decided_at,
       EXISTS (SELECT FROM decided d
               WHERE d.document_id = r.document_id AND NOT d.is_used AND d.version >= r.version
                 AND (r.next IS NULL OR d.version < r.next)) AS is_approved_behind
FROM runs r
ORDER BY r.document_id, r.version
