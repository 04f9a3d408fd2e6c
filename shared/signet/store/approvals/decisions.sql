-- name: find_document
-- Find the document of a request: its row is locked before the request's.
SELECT document_id FROM approval_requests WHERE tenant_id = %(tenant_id)s AND id = %(id)s

-- part: request_as_voted
-- Read a request with all that its votes are judged by.
SELECT id, instance_id, step_execution_id, node_id, document_id, document_version, snapshot_version_id, snapshot_hash,
       definition_hash, policy, policy_hash, chain_name, chain_version, requester_id, stage, status, outcome, applied,
       escalate_at, expire_at, created_at, coalesce(asked_since, created_at) AS asked_since, ended_at,
       coalesce((SELECT s.persons FROM responsible_sets s
                 WHERE s.tenant_id = r.tenant_id AND s.hash = r.responsible), ARRAY[requester_id])
           || earlier_requesters(r.document_id) AS responsible,
       voter_permissions, pins, pins_hash, variables,
       list_changed_pins(r.pins) AS changed_pins,
       CASE WHEN r.variables <> '{}' THEN ARRAY(
           SELECT pinned.key FROM jsonb_each(r.variables) AS pinned
           WHERE pinned.value IS DISTINCT FROM (SELECT i.context_json -> pinned.key FROM workflow_instances i
                                                WHERE i.tenant_id = r.tenant_id AND i.id = r.instance_id)
           ORDER BY pinned.key) ELSE '{}' END AS changed_variables,
       ARRAY(SELECT DISTINCT p.field FROM personal_values p
             WHERE p.tenant_id = r.tenant_id AND p.document_id = r.document_id AND p.erased_at > r.created_at) AS erased_fields,
       coalesce((SELECT max(c.changed_at) FROM eligibility_changes c WHERE c.tenant_id = r.tenant_id)
                >= coalesce(r.asked_since, r.created_at), false) AS has_changed_people,
       ARRAY(SELECT DISTINCT voice
             FROM approval_requests other
             JOIN approval_decisions v ON v.tenant_id = other.tenant_id AND v.request_id = other.id
             CROSS JOIN LATERAL unnest(ARRAY[v.decided_by, v.on_behalf_of]) AS voice
             WHERE other.tenant_id = r.tenant_id AND other.instance_id = r.instance_id
               AND other.status IN ('open', 'approved') AND other.applied IS NOT TRUE
               AND other.document_version = r.document_version
               AND v.decision = 'approved' AND voice IS NOT NULL AND (other.id, v.stage) <> (r.id, r.stage)
               AND NOT EXISTS (SELECT FROM approval_seats s
                               WHERE s.tenant_id = v.tenant_id AND s.request_id = v.request_id AND s.stage = v.stage
                                 AND s.position = v.position AND s.status = 'lapsed')
               AND NOT coalesce(other.policy::jsonb ->> 'same_person' = 'allowed'
                                AND r.policy::jsonb ->> 'same_person' = 'allowed', false)) AS approved_elsewhere

-- part: origin
-- Describe what shows that the definition of its instance asks the request: that definition, among those that the
-- instance runs or was moved from, its step, its chain, and whether another step asks at the same node.
       json_build_object(
           'definition', coalesce(
               (SELECT json_build_object('id', d.id, 'version', d.version)
                FROM workflow_instances i
                JOIN workflow_definitions d ON d.tenant_id = i.tenant_id AND d.id = i.definition_id
                WHERE i.tenant_id = r.tenant_id AND i.id = r.instance_id AND d.compiled_hash = r.definition_hash),
               (SELECT json_build_object('id', d.id, 'version', d.version)
                FROM workflow_step_executions m
                JOIN workflow_definitions d
                  ON d.tenant_id = m.tenant_id AND d.id = (m.output_json -> 'from' ->> 'id')::uuid
                WHERE m.tenant_id = r.tenant_id AND m.instance_id = r.instance_id
                  AND m.node_id = 'sys:control:moved' AND d.compiled_hash = r.definition_hash
                LIMIT 1)),
           'step_node_id', (SELECT s.node_id FROM workflow_step_executions s
                            WHERE s.tenant_id = r.tenant_id AND s.instance_id = r.instance_id
                              AND s.id = r.step_execution_id
                            LIMIT 1),
           'chain', (SELECT json_build_object(
                                'same_person', c.same_person, 'permission', c.permission,
                                'steps', ARRAY(SELECT p.body FROM approval_chain_steps p
                                               WHERE p.tenant_id = c.tenant_id AND p.name = c.name
                                                 AND p.version = c.version
                                               ORDER BY p.position))
                     FROM approval_chains c
                     WHERE c.tenant_id = r.tenant_id AND c.name = r.chain_name AND c.version = r.chain_version
                       AND c.status <> 'draft'),
           'is_double', EXISTS (SELECT FROM approval_requests o
                                JOIN workflow_step_executions s
                                  ON s.tenant_id = o.tenant_id AND s.instance_id = o.instance_id
                                 AND s.id = o.step_execution_id AND s.node_id = o.node_id
                                WHERE o.tenant_id = r.tenant_id AND o.instance_id = r.instance_id
                                  AND o.node_id = r.node_id AND o.id <> r.id AND o.status IN ('open', 'approved')
                                  AND o.applied IS NOT TRUE)) AS origin

-- name: read_requests
-- Read requests as a vote would find them, without a lock.
{request_as_voted}
FROM approval_requests r
WHERE tenant_id = %(tenant_id)s AND id = ANY (%(ids)s)

-- name: lock_request
-- Lock and read a request, so that only one vote at a time counts.
{request_as_voted},
{origin}
FROM approval_requests r
WHERE tenant_id = %(tenant_id)s AND id = %(id)s
FOR NO KEY UPDATE

-- name: lock_delegations
-- Share-lock what a delegate may rely on. A revocation waits for the decisions that it allowed, and later ones do
-- not find it here.
SELECT id, user_id, delegate_id, entity_type, from_time, to_time, created_by, coalesce(given_by, ARRAY[created_by]) AS given_by,
       coalesce(given_at, created_at) AS given_at
FROM approval_delegations
WHERE tenant_id = %(tenant_id)s AND delegate_id = %(user_id)s AND revoked_at IS NULL
  AND from_time <= %(now)s AND to_time > %(now)s
ORDER BY id
FOR SHARE

-- name: read_people
-- Read those who may matter: who decides, the people they stand in for, and who could still vote. Of a role so many
-- are read that one of them is neither barred nor counted, if there is one: the persons of pins are barred too. There are
-- more where a permission may rule out any.
-- With the voter come the changes of eligibility that may bar the vote. They are read here, because a grant and its
-- record are seen together: no role is found whose record is not.
WITH open_seats AS (
    SELECT s.holder_user_id, s.holder_role
    FROM approval_seats s
    JOIN approval_requests r ON r.tenant_id = s.tenant_id AND r.id = s.request_id AND r.stage = s.stage
    WHERE s.tenant_id = %(tenant_id)s AND s.request_id = %(id)s AND s.status = 'open'
), person AS (
    SELECT %(user_id)s::text AS user_id
    UNION SELECT d.user_id FROM approval_delegations d
          WHERE d.tenant_id = %(tenant_id)s AND d.delegate_id = %(user_id)s AND d.revoked_at IS NULL
            AND d.from_time <= %(now)s AND d.to_time > %(now)s
    UNION SELECT holder_user_id FROM open_seats WHERE holder_user_id IS NOT NULL
    UNION SELECT member.user_id
          FROM (SELECT DISTINCT holder_role FROM open_seats WHERE holder_role IS NOT NULL) AS asked
          CROSS JOIN LATERAL (
              SELECT r.user_id FROM member_roles r
              JOIN members m ON m.tenant_id = r.tenant_id AND m.user_id = r.user_id AND m.status = 'active'
              WHERE r.tenant_id = %(tenant_id)s AND r.role = asked.holder_role
              ORDER BY r.user_id
              LIMIT (SELECT CASE WHEN q.voter_permissions <> '{}' THEN greatest(%(at_most)s, 1000) ELSE %(at_most)s END
                            + coalesce((SELECT sum(jsonb_array_length(coalesce(pin.value -> 'responsible', '[]')))
                                        FROM jsonb_each(q.pins) AS pin), 0)
                     FROM approval_requests q WHERE q.tenant_id = %(tenant_id)s AND q.id = %(id)s)
          ) AS member
)
SELECT active.user_id,
       ARRAY(SELECT r.role FROM member_roles r WHERE r.tenant_id = %(tenant_id)s AND r.user_id = active.user_id) AS roles,
       ARRAY(SELECT DISTINCT unnest(p.permissions) FROM member_roles r
             JOIN roles p ON p.tenant_id = r.tenant_id AND p.role = r.role
             WHERE r.tenant_id = %(tenant_id)s AND r.user_id = active.user_id) AS permissions,
       CASE WHEN active.user_id = %(user_id)s THEN (
           SELECT json_agg(change)
           FROM approval_requests q
           CROSS JOIN LATERAL (
               SELECT ARRAY(SELECT d.user_id FROM approval_delegations d
                            WHERE d.tenant_id = q.tenant_id AND d.delegate_id = %(user_id)s AND d.revoked_at IS NULL
                              AND d.from_time <= %(now)s AND d.to_time > %(now)s) || %(user_id)s::text AS people,
                      ARRAY(SELECT s.holder_user_id FROM approval_seats s
                            WHERE s.tenant_id = q.tenant_id AND s.request_id = q.id AND s.stage = q.stage
                              AND s.holder_user_id IS NOT NULL) AS holders,
                      ARRAY(SELECT unnest(s.lines) FROM approval_seats s
                            WHERE s.tenant_id = q.tenant_id AND s.request_id = q.id AND s.stage = q.stage) AS lines,
                      -- Seats of an older release.
                      ARRAY(SELECT s.holder_user_id FROM approval_seats s
                            WHERE s.tenant_id = q.tenant_id AND s.request_id = q.id AND s.stage = q.stage
                              AND s.holder_user_id IS NOT NULL AND s.lines IS NULL) AS line_holders,
                      ARRAY(SELECT asked.role FROM approval_seats s
                            CROSS JOIN LATERAL unnest(ARRAY[s.holder_role, s.needed_role]) AS asked (role)
                            WHERE s.tenant_id = q.tenant_id AND s.request_id = q.id AND s.stage = q.stage
                              AND asked.role IS NOT NULL)
                          || ARRAY(SELECT jsonb_path_query(
                                 q.policy::jsonb -> 'stages' -> (q.stage - 1),
                                 '$.approvers[*].keyvalue() ? (@.key == "role" || @.key == "who").value')
                                 #>> '{}') AS seat_roles,
                      ARRAY(SELECT unnest(p.persons) FROM responsible_sets p
                            WHERE p.tenant_id = q.tenant_id AND p.hash = q.responsible
                            UNION ALL
                            SELECT unnest(earlier_requesters(q.document_id))
                            UNION ALL
                            SELECT jsonb_array_elements_text(coalesce(pin.value -> 'responsible', '[]'))
                            FROM jsonb_each(q.pins) AS pin)
                          || %(responsible)s::text[] || q.requester_id AS behind
           ) AS asked
           CROSS JOIN LATERAL vote_changes_since(
               coalesce(q.asked_since, q.created_at), asked.people || asked.holders,
               asked.seat_roles || ARRAY(SELECT h.role FROM member_roles h
                                         WHERE h.tenant_id = q.tenant_id AND h.user_id = ANY (asked.people)),
               asked.people || asked.behind, asked.holders, asked.seat_roles, asked.lines, asked.line_holders,
               q.voter_permissions, %(by_roles)s::text[], %(own_resources)s::text[]) AS change
           WHERE q.tenant_id = %(tenant_id)s AND q.id = %(id)s
             AND change.kind <> 'delegation_given'
       ) END AS changes
FROM person
CROSS JOIN LATERAL (
    SELECT m.user_id FROM members m
    WHERE m.tenant_id = %(tenant_id)s AND m.user_id = person.user_id AND m.status = 'active'
    LIMIT 1
) AS active

-- name: fill_seat
-- Give a seat its vote. Without a row the seat was filled or closed before.
UPDATE approval_seats
SET status = %(decision)s, decided_by = %(decided_by)s, on_behalf_of = %(on_behalf_of)s, decided_at = %(now)s
WHERE tenant_id = %(tenant_id)s AND request_id = %(request_id)s AND stage = %(stage)s AND position = %(position)s
  AND status = 'open'

-- name: insert_decision
-- Record a vote with the hashes of all that it was based on.
INSERT INTO approval_decisions (tenant_id, id, request_id, stage, position, decision, reason, decided_by, on_behalf_of,
                                delegation_id, document_version, snapshot_hash, definition_hash, policy_hash, pins_hash,
                                audit_id, trace_id, created_at)
VALUES (%(tenant_id)s, %(id)s, %(request_id)s, %(stage)s, %(position)s, %(decision)s, %(reason)s, %(decided_by)s,
        %(on_behalf_of)s, %(delegation_id)s, %(document_version)s, %(snapshot_hash)s, %(definition_hash)s,
        %(policy_hash)s, %(pins_hash)s, %(audit_id)s, %(trace_id)s, %(now)s)

-- name: close_seats
-- Close the open seats of a stage that is decided.
UPDATE approval_seats SET status = 'closed'
WHERE tenant_id = %(tenant_id)s AND request_id = %(request_id)s AND stage = %(stage)s AND status = 'open'

-- name: end_request
-- End a request. An approval waits for the gate that consumes it.
UPDATE approval_requests
SET status = %(status)s, outcome = %(outcome)s, applied = CASE WHEN %(status)s = 'approved' THEN false END,
    ended_at = %(now)s
WHERE tenant_id = %(tenant_id)s AND id = %(request_id)s AND status = 'open'

-- name: read_request
-- Read a request with its document and the snapshot that it is about.
SELECT r.id, r.instance_id, r.node_id, r.document_id, r.document_version, r.snapshot_hash, r.definition_hash, r.policy,
       r.policy_hash, r.chain_name, r.chain_version, r.requester_id, r.stage, r.status, r.outcome, r.applied,
       r.escalate_at, r.expire_at, r.created_at, r.ended_at, d.entity_type, d.contract_version,
       d.version AS current_version, v.snapshot,
       (SELECT t.reason FROM transition_requests t
        WHERE t.tenant_id = r.tenant_id AND t.document_id = r.document_id AND t.created_at <= r.created_at
        ORDER BY t.created_at DESC, t.id DESC LIMIT 1) AS request_reason
FROM approval_requests r
JOIN documents d ON d.tenant_id = r.tenant_id AND d.id = r.document_id
JOIN document_versions v ON v.tenant_id = r.tenant_id AND v.id = r.snapshot_version_id
WHERE r.tenant_id = %(tenant_id)s AND r.id = %(id)s

-- name: read_seats
-- Read all seats of a request, stage by stage.
SELECT stage, position, holder_user_id, holder_role, needed_role, origin, status, decided_by, on_behalf_of,
       handed_over_from, asked_at, lines
FROM approval_seats
WHERE tenant_id = %(tenant_id)s AND request_id = %(id)s
ORDER BY stage, position

-- name: read_decisions
-- Read all votes of a request, stage by stage.
SELECT id, stage, position, decision, reason, decided_by, on_behalf_of, delegation_id, created_at
FROM approval_decisions
WHERE tenant_id = %(tenant_id)s AND request_id = %(id)s
ORDER BY stage, created_at, id

-- name: read_represented_people
-- Read a person and the people they stand in for now about this type, each with their roles.
WITH voice AS (
    SELECT %(user_id)s::text AS user_id
    UNION
    SELECT d.user_id FROM approval_delegations d
    WHERE d.tenant_id = %(tenant_id)s AND d.delegate_id = %(user_id)s AND d.revoked_at IS NULL
      AND d.from_time <= now() AND d.to_time > now()
      AND (d.entity_type IS NULL OR d.entity_type = %(entity_type)s)
)
SELECT m.user_id,
       ARRAY(SELECT r.role FROM member_roles r WHERE r.tenant_id = m.tenant_id AND r.user_id = m.user_id) AS roles,
       '{}'::text[] AS permissions
FROM voice
JOIN members m ON m.tenant_id = %(tenant_id)s AND m.user_id = voice.user_id AND m.status = 'active'
