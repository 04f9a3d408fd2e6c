-- name: find_document
-- Find a document with its live instance.
SELECT d.id, d.entity_type, d.contract_version, d.status, d.version, d.data, d.amended_from_id, d.creator_id,
       d.created_at, d.updated_at,
       (SELECT i.id FROM workflow_instances i
        WHERE i.tenant_id = d.tenant_id AND i.entity_type = d.entity_type AND i.entity_id = d.id
          AND i.kind = 'envelope' AND i.status IN ('running', 'paused')) AS instance_id,
       (SELECT count(*)::integer FROM incidents o
        WHERE o.tenant_id = d.tenant_id AND o.entity_id = d.id AND o.closed_at IS NULL) AS open_incidents,
       line.amendment_open, line.amended_by, line.current_id
FROM documents d
CROSS JOIN LATERAL line_of_amendments(d.id) AS line
WHERE d.tenant_id = %(tenant_id)s AND d.id = %(document_id)s AND d.deleted_at IS NULL

-- name: find_transition_request
-- Find a transition request with what its document is now.
SELECT r.id, r.document_id, r.document_version, r.transition, r.actor_id, r.reason, r.status, r.outcome,
       r.created_at, r.ended_at, d.entity_type, d.status AS document_status, d.version AS version_now,
       ARRAY(SELECT DISTINCT s.node_id
             FROM workflow_instances i
             JOIN workflow_side_effects_outbox e ON e.tenant_id = i.tenant_id AND e.instance_id = i.id
             JOIN workflow_step_executions s
               ON s.tenant_id = e.tenant_id AND s.instance_id = e.instance_id AND s.id = e.step_execution_id
             WHERE i.tenant_id = d.tenant_id AND i.entity_type = d.entity_type AND i.entity_id = d.id
               AND e.withdrawn_at >= r.created_at
               -- The workflow leaves the way of a request after that was withdrawn, or an edit took its place.
               AND CASE r.status WHEN 'superseded' THEN s.created_at <= r.ended_at
                   ELSE e.withdrawn_at <= coalesce(r.ended_at, now()) END
               AND e.left_at IS NOT NULL
             ORDER BY s.node_id) AS may_have_left, coalesce(r.pins, '{}') AS pins
FROM transition_requests r
JOIN documents d ON d.tenant_id = r.tenant_id AND d.id = r.document_id
WHERE r.tenant_id = %(tenant_id)s AND r.id = %(request_id)s

-- name: read_decided
-- Read what a request that decides is about: what it has pinned of other documents, and what its document said.
SELECT q.pins, v.snapshot::jsonb -> 'data' AS data
FROM transition_requests q
LEFT JOIN document_versions v
  ON v.tenant_id = q.tenant_id AND v.document_id = q.document_id AND v.version = q.document_version
WHERE q.tenant_id = %(tenant_id)s AND q.id = %(request_id)s
