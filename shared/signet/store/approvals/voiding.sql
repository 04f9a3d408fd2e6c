-- name: void_requests
-- Void what people were asked, and what they have approved but no gate has used. Tell who is still asked and who has
-- decided, at any stage and for anyone, once about each request. The ids of the notices keep the time of the one
-- that was given.
WITH voided AS (
    UPDATE approval_requests r
    SET status = 'voided', outcome = row.reason, ended_at = coalesce(r.ended_at, %(now)s)
    FROM json_to_recordset(%(rows)s::json) AS row (instance_id uuid, request_id uuid, reason text, notice_id uuid)
    WHERE r.tenant_id = %(tenant_id)s AND r.instance_id = row.instance_id
      AND (row.request_id IS NULL OR r.id = row.request_id)
      AND (r.status = 'open' OR (r.status = 'approved' AND r.applied IS NOT TRUE))
    RETURNING r.id, r.node_id, row.reason, row.notice_id
), told AS (
    SELECT DISTINCT voided.id, voided.node_id, voided.reason, voided.notice_id, person.user_id, person.role
    FROM voided
    JOIN approval_seats s ON s.tenant_id = %(tenant_id)s AND s.request_id = voided.id
    CROSS JOIN LATERAL (
        SELECT s.holder_user_id AS user_id, s.holder_role AS role WHERE s.status = 'open'
        UNION SELECT s.decided_by, NULL WHERE s.decided_by IS NOT NULL
        UNION SELECT s.on_behalf_of, NULL WHERE s.on_behalf_of IS NOT NULL
    ) AS person
), closed AS (
    UPDATE approval_seats s SET status = 'closed'
    FROM voided
    WHERE s.tenant_id = %(tenant_id)s AND s.request_id = voided.id AND s.status = 'open'
)
INSERT INTO notifications (tenant_id, id, user_id, role, kind, request_id, data, created_at)
SELECT %(tenant_id)s, (left(notice_id::text, 19) || substr(gen_random_uuid()::text, 20))::uuid, user_id, role,
       'approval_voided', id, jsonb_build_object('node', node_id, 'reason', reason), %(now)s
FROM told
