-- part: proposal
-- The columns of a proposal as it is shown.
p.id, p.request_id, p.stage, p.user_id, p.reason, p.proposed_by, p.proposed_persons, p.proposed_at, p.expires_at,
p.consented_by, p.consented_at, p.position

-- name: count_waiting
-- Count the proposals that wait for a second operator.
SELECT count(*) FROM break_glass_proposals p
WHERE p.tenant_id = %(tenant_id)s AND p.consented_at IS NULL AND p.expires_at > %(now)s

-- name: list_waiting
-- List the proposals that wait for a second operator, those that end first before the others.
SELECT {proposal}
FROM break_glass_proposals p
WHERE p.tenant_id = %(tenant_id)s AND p.consented_at IS NULL AND p.expires_at > %(now)s
ORDER BY p.expires_at, p.id
LIMIT %(limit)s

-- name: insert_proposal
-- Write a proposal for the stage that the request is in.
INSERT INTO break_glass_proposals (tenant_id, id, request_id, stage, user_id, reason, proposed_by, proposed_persons,
                                   proposed_at, expires_at)
VALUES (%(tenant_id)s, %(id)s, %(request_id)s, %(stage)s, %(user_id)s, %(reason)s, %(proposed_by)s,
        %(proposed_persons)s::text[], %(now)s, %(expires_at)s)

-- name: find_proposal
-- Find a proposal, also one that is over.
SELECT {proposal} FROM break_glass_proposals p WHERE p.tenant_id = %(tenant_id)s AND p.id = %(id)s

-- name: list_seated
-- List what two operators have agreed on about a request, for the people who decide. The gate uses the approvals of one
-- version together, so that those of each are told of the seats of all.
SELECT {proposal}
FROM approval_requests r
JOIN approval_requests other ON other.tenant_id = r.tenant_id AND other.instance_id = r.instance_id
 AND (other.id = r.id OR (other.document_version = r.document_version AND other.status IN ('open', 'approved')))
JOIN break_glass_proposals p ON p.tenant_id = other.tenant_id AND p.request_id = other.id
WHERE r.tenant_id = %(tenant_id)s AND r.id = %(request_id)s AND p.consented_at IS NOT NULL
ORDER BY p.id
LIMIT %(limit)s

-- name: find_request
-- Find a request: its document, its stage and its status.
SELECT document_id, stage, status FROM approval_requests WHERE tenant_id = %(tenant_id)s AND id = %(request_id)s

-- name: lock_request
-- Lock a request as a vote does, after its document.
SELECT FROM approval_requests WHERE tenant_id = %(tenant_id)s AND id = %(request_id)s FOR NO KEY UPDATE

-- name: seat
-- Seat the person of a proposal. The function refuses what is over, and answers null.
SELECT seat_by_break_glass(%(id)s, %(consented_by)s, %(consented_persons)s::text[])

-- name: note_seat
-- Note that the two operators gave the seat: a vote by one of them, or for their own document, is barred by it.
INSERT INTO eligibility_changes (tenant_id, id, changed_at, persons, actor_id, kind, user_id)
VALUES (%(tenant_id)s, %(change_id)s, clock_timestamp(), %(persons)s::text[], %(actor_id)s, 'seat_given', %(user_id)s)

-- name: notify_deciders
-- Tell everybody who is asked or has decided about the request, the person with the new seat apart from the others.
INSERT INTO notifications (tenant_id, id, user_id, role, kind, request_id, data, created_at)
SELECT %(tenant_id)s, (left(%(change_id)s::text, 19) || substr(gen_random_uuid()::text, 20))::uuid, told.user_id,
       told.role, CASE WHEN told.user_id = %(user_id)s THEN 'approval_requested' ELSE 'break_glass_seated' END,
       %(request_id)s, %(data)s, %(now)s
FROM (
    SELECT person.user_id, person.role
    FROM approval_seats s
    CROSS JOIN LATERAL (VALUES (s.holder_user_id, s.holder_role), (s.decided_by, NULL), (s.on_behalf_of, NULL))
        AS person (user_id, role)
    WHERE s.tenant_id = %(tenant_id)s AND s.request_id = %(request_id)s
    GROUP BY person.user_id, person.role
) AS told
WHERE told.user_id IS NOT NULL OR told.role IS NOT NULL
