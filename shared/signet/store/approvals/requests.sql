-- name: read_of_instances
-- Read what a wave must know: what is open, and what was decided and no gate has used yet.
SELECT r.id, r.instance_id, r.step_execution_id, r.node_id, r.document_version, r.stage, r.status, r.applied, r.policy,
       r.policy_hash, r.requester_id,
       coalesce((SELECT s.persons FROM responsible_sets s
                 WHERE s.tenant_id = r.tenant_id AND s.hash = r.responsible), ARRAY[r.requester_id])
           || earlier_requesters(r.document_id) AS responsible,
       r.voter_permissions, r.pins, r.pins_hash, r.variables,
       list_changed_pins(r.pins) AS changed_pins,
       ARRAY(SELECT DISTINCT p.field FROM personal_values p
             WHERE p.tenant_id = r.tenant_id AND p.document_id = r.document_id AND p.erased_at > r.created_at) AS erased_fields,
       r.snapshot_hash, r.definition_hash, coalesce(r.asked_since, r.created_at) AS asked_since, r.escalate_at,
       r.expire_at, r.remind_at, r.reminders, r.outcome,
       ARRAY(SELECT json_build_object(
                 'stage', s.stage, 'position', s.position, 'holder_user_id', s.holder_user_id,
                 'holder_role', s.holder_role, 'needed_role', s.needed_role, 'origin', s.origin, 'status', s.status,
                 'decided_by', s.decided_by, 'on_behalf_of', s.on_behalf_of, 'handed_over_from', s.handed_over_from,
                 'lines', s.lines)
             FROM approval_seats s
             WHERE s.tenant_id = r.tenant_id AND s.request_id = r.id
             ORDER BY s.stage, s.position) AS seats
FROM unnest(%(instance_ids)s::uuid[]) AS own (id)
-- OFFSET keeps each a lookup for its instance, also while the table was never analysed.
CROSS JOIN LATERAL (
    SELECT * FROM approval_requests r
    WHERE r.tenant_id = %(tenant_id)s AND r.instance_id = own.id AND r.status <> 'voided' AND r.applied IS NOT TRUE
    OFFSET 0
) AS r
ORDER BY r.id

-- name: list_rejected_alike
-- List the newest rejected requests of a node about a content. A document that was changed in a personal value alone says
-- something else; another document keeps its own. A request of an older release is found by its document.
SELECT alike.id,
       ARRAY(SELECT json_build_object(
                 'stage', s.stage, 'position', s.position, 'holder_user_id', s.holder_user_id,
                 'holder_role', s.holder_role, 'needed_role', s.needed_role, 'origin', s.origin, 'status', s.status,
                 'decided_by', s.decided_by, 'on_behalf_of', s.on_behalf_of, 'handed_over_from', s.handed_over_from,
                 'lines', s.lines)
             FROM approval_seats s
             WHERE s.tenant_id = %(tenant_id)s AND s.request_id = alike.id AND s.status = 'rejected'
             ORDER BY s.stage, s.position)
FROM (
    SELECT r.id, r.document_id, r.snapshot_version_id FROM approval_requests r
    WHERE r.tenant_id = %(tenant_id)s AND r.content_hash = %(content_hash)s AND r.status = 'rejected'
      AND r.node_id = %(node_id)s
    UNION ALL
    SELECT r.id, r.document_id, r.snapshot_version_id FROM approval_requests r
    WHERE r.tenant_id = %(tenant_id)s AND r.document_id = %(document_id)s AND r.content_hash IS NULL
      AND r.status = 'rejected' AND r.node_id = %(node_id)s
) AS alike
WHERE alike.document_id <> %(document_id)s
   OR EXISTS (SELECT FROM document_versions v
              WHERE v.tenant_id = %(tenant_id)s AND v.id = alike.snapshot_version_id
                AND v.snapshot::jsonb -> 'data' = %(data)s::jsonb -> 0)
ORDER BY alike.id DESC
LIMIT %(limit)s

-- name: read_chain
-- Read the newest published version of a chain, with its steps in their order.
SELECT c.version, c.same_person, c.permission,
       ARRAY(SELECT s.body FROM approval_chain_steps s
             WHERE s.tenant_id = c.tenant_id AND s.name = c.name AND s.version = c.version
             ORDER BY s.position) AS steps
FROM approval_chains c
WHERE c.tenant_id = %(tenant_id)s AND c.name = %(name)s AND c.status = 'published'
ORDER BY c.version DESC
LIMIT 1

-- name: read_last_requester
-- Find who asked for the last transition that was performed, and the persons behind them.
SELECT q.actor_id, (SELECT s.persons FROM responsible_sets s WHERE s.tenant_id = q.tenant_id AND s.hash = q.responsible)
FROM transition_requests q
WHERE q.tenant_id = %(tenant_id)s AND q.document_id = %(document_id)s AND q.status = 'performed'
ORDER BY q.created_at DESC, q.id DESC
LIMIT 1

-- name: find_approving_instance
-- Find the instance whose gate has used an approval of the document last, with the definition that asked for it.
SELECT i.id AS instance_id, i.definition_id, i.definition_version
FROM approval_requests q
JOIN workflow_instances i ON i.tenant_id = q.tenant_id AND i.id = q.instance_id
WHERE q.tenant_id = %(tenant_id)s AND q.document_id = %(document_id)s AND q.applied
ORDER BY q.id DESC
LIMIT 1

-- name: list_earlier_requesters
-- List everybody who asked before for what is asked for now.
SELECT earlier_requesters(%(document_id)s)

-- name: find_first_asked
-- Find when a document was first asked about since a gate used an approval of it.
SELECT first_asked(%(document_id)s)

-- name: lock_roles_shared
-- Take the lock of a tenant's roles, shared among those who ask who holds one. A statement that takes a role away
-- waits for them, and they wait for it.
SELECT pg_advisory_xact_lock_shared(hashtextextended('roles of ' || %(tenant_id)s::uuid, 0))

-- name: read_candidates
-- Read these people, and of each role so many that one of them may vote, if there is one. Say since when the document is
-- asked about, if eligibility has changed since.
WITH person AS (
    SELECT unnest(%(user_ids)s::text[]) AS user_id
    UNION
    SELECT member.user_id
    FROM unnest(%(roles)s::text[]) AS asked (role)
    CROSS JOIN LATERAL (
        SELECT r.user_id FROM member_roles r
        JOIN members m ON m.tenant_id = r.tenant_id AND m.user_id = r.user_id AND m.status = 'active'
        WHERE r.tenant_id = %(tenant_id)s AND r.role = asked.role
        ORDER BY r.user_id
        LIMIT %(at_most)s
    ) AS member
)
SELECT active.user_id,
       ARRAY(SELECT r.role FROM member_roles r WHERE r.tenant_id = %(tenant_id)s AND r.user_id = active.user_id) AS roles,
       ARRAY(SELECT DISTINCT unnest(p.permissions) FROM member_roles r
             JOIN roles p ON p.tenant_id = r.tenant_id AND p.role = r.role
             WHERE r.tenant_id = %(tenant_id)s AND r.user_id = active.user_id) AS permissions,
       (SELECT asked.since FROM first_asked(%(document_id)s) AS asked (since)
        WHERE EXISTS (SELECT FROM eligibility_changes c
                      WHERE c.tenant_id = %(tenant_id)s AND c.changed_at >= asked.since)) AS changed_since
FROM person
CROSS JOIN LATERAL (
    SELECT m.user_id FROM members m
    WHERE m.tenant_id = %(tenant_id)s AND m.user_id = person.user_id AND m.status = 'active'
    LIMIT 1
) AS active

-- name: read_members
-- List the active members of a role, page by page.
SELECT r.user_id FROM member_roles r
JOIN members m ON m.tenant_id = r.tenant_id AND m.user_id = r.user_id AND m.status = 'active'
WHERE r.tenant_id = %(tenant_id)s AND r.role = %(role)s AND r.user_id > %(after)s
ORDER BY r.user_id
LIMIT %(limit)s

-- name: list_asking
-- List a page of the open requests in which a role, or a person, has an open seat. The other of the two is null and
-- costs nothing. Name for each a few who may vote as far as rows tell: active members with a seat of their own or of
-- their role. They took no part in the document, asked for nothing, and are not counted in the stage. Nobody is named
-- whose seat needs a role besides. LIMIT makes each question a few lookups, however many hold the role. concat() keeps
-- the planner from the partial indexes: the seats of a request are found by its id.
WITH page AS MATERIALIZED (
    (SELECT s.request_id
     FROM approval_seats s
     WHERE s.tenant_id = %(tenant_id)s AND s.holder_role = %(role)s::text AND s.status = 'open'
       AND s.request_id > %(after)s
     ORDER BY s.request_id
     LIMIT %(limit)s)
    UNION ALL
    (SELECT s.request_id
     FROM approval_seats s
     WHERE s.tenant_id = %(tenant_id)s AND s.needed_role = %(role)s::text AND s.status = 'open'
       AND s.request_id > %(after)s
     ORDER BY s.request_id
     LIMIT %(limit)s)
    UNION ALL
    (SELECT s.request_id
     FROM approval_seats s
     WHERE s.tenant_id = %(tenant_id)s AND s.holder_user_id = %(user_id)s::text AND s.status = 'open'
       AND s.request_id > %(after)s
     ORDER BY s.request_id
     LIMIT %(limit)s)
    ORDER BY request_id
    LIMIT %(limit)s
)
SELECT asked.id, asked.instance_id, ARRAY(
    SELECT voter.user_id
    FROM approval_seats s
    CROSS JOIN LATERAL (
        (SELECT m.user_id FROM members m
         WHERE m.tenant_id = s.tenant_id AND m.user_id = s.holder_user_id AND m.status = 'active'
           AND m.user_id <> ALL (asked.barred) AND m.user_id <> ALL (asked.counted)
           AND s.needed_role IS NULL
         LIMIT 1)
        UNION ALL
        (SELECT r.user_id FROM member_roles r
         JOIN members m ON m.tenant_id = r.tenant_id AND m.user_id = r.user_id AND m.status = 'active'
         WHERE r.tenant_id = s.tenant_id AND r.role = s.holder_role
           AND r.user_id <> ALL (asked.barred) AND r.user_id <> ALL (asked.counted)
         LIMIT %(holders)s)
    ) AS voter
    WHERE s.tenant_id = %(tenant_id)s AND s.request_id = asked.id AND s.stage = asked.stage
      AND concat(s.status) = 'open'
    LIMIT %(holders)s
) AS holders, asked.needed, asked.entity_type, asked.contract_version, asked.since, asked.barred
FROM page
CROSS JOIN LATERAL (
    SELECT q.id, q.instance_id, q.stage, coalesce(q.asked_since, q.created_at) AS since,
           coalesce(q.voter_permissions, '{}') AS needed, d.entity_type, d.contract_version,
           ARRAY(SELECT jsonb_array_elements_text(coalesce(pin.value -> 'responsible', '[]'))
                 FROM jsonb_each(q.pins) AS pin)
               || ARRAY(SELECT unnest(p.persons) FROM responsible_sets p
                 WHERE p.tenant_id = d.tenant_id AND p.hash = ANY (
                     ARRAY[d.creator_responsible, d.editor_responsible, q.responsible]
                     || ARRAY(SELECT t.responsible FROM transition_requests t
                              WHERE t.tenant_id = d.tenant_id AND t.document_id = d.id AND t.status = 'open')))
               || d.editor_ids || d.creator_id || q.requester_id || earlier_requesters(d.id) AS barred,
           ARRAY(SELECT voice.user_id FROM approval_seats c
                 CROSS JOIN LATERAL unnest(ARRAY[c.decided_by, c.on_behalf_of]) AS voice (user_id)
                 WHERE c.tenant_id = q.tenant_id AND c.request_id = q.id AND c.stage = q.stage
                   AND voice.user_id IS NOT NULL) AS counted
    FROM approval_requests q
    JOIN documents d ON d.tenant_id = q.tenant_id AND d.id = q.document_id
    WHERE q.tenant_id = %(tenant_id)s AND q.id = page.request_id
    LIMIT 1
) AS asked
ORDER BY asked.id

-- name: list_asked_roles_of_tenant
-- List the roles of a tenant that an open seat asks, or needs.
SELECT o.role FROM roles o
WHERE o.tenant_id = %(tenant_id)s
  AND (EXISTS (SELECT FROM approval_seats s
               WHERE s.tenant_id = o.tenant_id AND s.holder_role = o.role AND s.status = 'open')
       OR EXISTS (SELECT FROM approval_seats s
                  WHERE s.tenant_id = o.tenant_id AND s.needed_role = o.role AND s.status = 'open'))
ORDER BY o.role
LIMIT %(limit)s

-- name: list_holders_asked
-- List a page of the members who hold a role, and say of each whether an open seat is theirs by name.
SELECT r.user_id, EXISTS (SELECT FROM approval_seats s
                          WHERE s.tenant_id = r.tenant_id AND s.holder_user_id = r.user_id AND s.status = 'open')
FROM member_roles r
WHERE r.tenant_id = %(tenant_id)s AND r.role = %(role)s AND r.user_id > %(after)s
ORDER BY r.user_id
LIMIT %(limit)s

-- name: read_holders
-- Read the active members to be shown: holders of these roles, these people, and their delegates. Each comes with
-- all of their roles.
SELECT m.user_id, ARRAY(SELECT r.role FROM member_roles r
                        WHERE r.tenant_id = m.tenant_id AND r.user_id = m.user_id ORDER BY r.role) AS roles
FROM members m
WHERE m.tenant_id = %(tenant_id)s AND m.status = 'active'
  AND (m.user_id = ANY (%(user_ids)s)
       OR m.user_id IN (SELECT r.user_id FROM member_roles r
                        WHERE r.tenant_id = %(tenant_id)s AND r.role = ANY (%(roles)s))
       OR m.user_id IN (SELECT d.delegate_id FROM approval_delegations d
                        WHERE d.tenant_id = %(tenant_id)s AND d.revoked_at IS NULL AND d.from_time <= %(now)s
                          AND d.to_time > %(now)s
                          AND (d.user_id = ANY (%(user_ids)s)
                               OR d.user_id IN (SELECT r.user_id FROM member_roles r
                                                WHERE r.tenant_id = %(tenant_id)s AND r.role = ANY (%(roles)s)))))
ORDER BY m.user_id
LIMIT %(limit)s

-- name: read_managers
-- Read the lines of the org chart above these people, no further up than a request may ask. A key has the line of its
-- owner.
WITH RECURSIVE above AS (
    SELECT asked.user_id, c.manager_id, c.user_id AS owner_id, 1 AS level
    FROM unnest(%(user_ids)s::text[]) AS asked (user_id)
    LEFT JOIN api_keys k
      ON k.tenant_id = %(tenant_id)s
     AND k.id = CASE WHEN asked.user_id ~ '^key:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
                     THEN substr(asked.user_id, 5)::uuid END
    JOIN org_chart c ON c.tenant_id = %(tenant_id)s AND c.user_id = coalesce(k.owner_id, asked.user_id)
    UNION
    SELECT c.user_id, c.manager_id, c.user_id, above.level + 1 FROM above
    JOIN org_chart c ON c.tenant_id = %(tenant_id)s AND c.user_id = above.manager_id
    WHERE above.level < %(levels)s
)
SELECT DISTINCT user_id, manager_id, owner_id FROM above

-- name: read_turns
-- Read the turn of each role: the one that the document has taken before, or else how often the role was asked.
SELECT asked.role, coalesce(own.turn, t.turn, 0), own.turn IS NOT NULL
FROM unnest(%(roles)s::text[]) AS asked (role)
LEFT JOIN approval_turns t ON t.tenant_id = %(tenant_id)s AND t.role = asked.role
LEFT JOIN document_turns own ON own.tenant_id = %(tenant_id)s AND own.document_id = %(document_id)s
                            AND own.role = asked.role

-- name: take_turns
-- Count the turns that were taken, in the order of the roles, so that writers cannot wait in a circle.
INSERT INTO approval_turns (tenant_id, role, turn)
SELECT %(tenant_id)s, role, count FROM unnest(%(roles)s::text[], %(counts)s::bigint[]) AS row (role, count)
ORDER BY role
ON CONFLICT (tenant_id, role) DO UPDATE SET turn = approval_turns.turn + excluded.turn

-- name: keep_turns
-- Keep the turns that documents have taken, so that asking again steers nothing.
INSERT INTO document_turns (tenant_id, document_id, role, turn)
SELECT %(tenant_id)s, document_id, role, turn
FROM json_to_recordset(%(rows)s::json) AS row (document_id uuid, role text, turn bigint)
ON CONFLICT DO NOTHING

-- name: insert_requests
-- Write the requests of a wave in one statement.
INSERT INTO approval_requests (
    tenant_id, id, instance_id, step_execution_id, node_id, document_id, document_version, snapshot_version_id,
    snapshot_hash, definition_hash, policy, policy_hash, chain_name, chain_version, requester_id, responsible,
    voter_permissions, pins, pins_hash, variables, repeats_request_id, content_hash, likeness_hash, escalate_at, expire_at,
    remind_at, trace_id, created_at, asked_since)
SELECT %(tenant_id)s, id, instance_id, step_execution_id, node_id, document_id, document_version, snapshot_version_id,
       snapshot_hash, definition_hash, policy, policy_hash, chain_name, chain_version, requester_id, responsible,
       voter_permissions, pins, pins_hash, variables, repeats_request_id, content_hash, likeness_hash, escalate_at, expire_at,
       remind_at, trace_id, %(now)s, least(first_asked(document_id), %(now)s)
FROM json_to_recordset(%(rows)s::json) AS row (
    id uuid, instance_id uuid, step_execution_id uuid, node_id text, document_id uuid, document_version bigint,
    snapshot_version_id uuid, snapshot_hash text, definition_hash text, policy text, policy_hash text, chain_name text,
    chain_version integer, requester_id text, responsible bytea, voter_permissions text[], pins jsonb, pins_hash text,
    variables jsonb, repeats_request_id uuid, content_hash text, likeness_hash text, escalate_at timestamptz, expire_at timestamptz,
    remind_at timestamptz, trace_id text)

-- name: insert_seats
-- Write the seats of a wave in one statement.
INSERT INTO approval_seats (tenant_id, request_id, stage, position, holder_user_id, holder_role, needed_role, origin,
                            lines)
SELECT %(tenant_id)s, request_id, stage, position, holder_user_id, holder_role, needed_role, origin, lines
FROM json_to_recordset(%(rows)s::json) AS row (
    request_id uuid, stage integer, position integer, holder_user_id text, holder_role text, needed_role text,
    origin text, lines text[])

-- name: move_requests
-- Write what became of the requests of a wave. What has ended keeps its first moment.
SELECT move_approval_requests(%(rows)s::json, %(now)s)

-- name: close_seats
-- Close the seats of requests that are over, so that they wait for nobody.
SELECT close_approval_seats(%(request_ids)s)

-- name: lapse_seats
-- Let votes lapse that a gate may not use any more.
SELECT lapse_approval_seats(%(rows)s::json)

-- name: open_closed_seats
-- Ask those again that the end of a stage let go, as one of its votes has lapsed.
SELECT open_closed_seats(%(rows)s::json)

-- name: mark_applied
-- Mark the steps whose approval a gate has used.
WITH used AS MATERIALIZED (
    SELECT s.created_at, s.id
    FROM unnest(%(instance_ids)s::uuid[], %(request_ids)s::uuid[]) AS row (instance_id, request_id)
    CROSS JOIN LATERAL (
        SELECT s.created_at, s.id FROM workflow_step_executions s
        WHERE s.tenant_id = %(tenant_id)s AND s.instance_id = row.instance_id
          AND s.approval_request_id = row.request_id
        OFFSET 0
    ) AS s
)
UPDATE workflow_step_executions s SET applied = true
WHERE s.tenant_id = %(tenant_id)s AND s.created_at = ANY (ARRAY(SELECT used.created_at FROM used))
  AND s.id = ANY (ARRAY(SELECT used.id FROM used))

-- name: insert_notifications
-- Write the notifications of a wave in one statement.
INSERT INTO notifications (tenant_id, id, user_id, role, kind, request_id, data, created_at)
SELECT %(tenant_id)s, id, user_id, role, kind, request_id, data, %(now)s
FROM json_to_recordset(%(rows)s::json) AS row (
    id uuid, user_id text, role text, kind text, request_id uuid, data jsonb)

-- name: read_votes
-- Read the votes of requests that a gate is about to use: each with its row of the audit trail, and with its voters as
-- far as they are active members, with what they may now. With it come the changes that may bar it by now. Of a request
-- that a performed transition led to it tells whether its requester, or the owner of the key, is no active member.
SELECT v.id::text, v.request_id, v.stage, v.position, v.decision, v.decided_by, v.on_behalf_of, v.document_version,
       v.snapshot_hash, v.definition_hash, v.policy_hash, v.pins_hash,
       (SELECT a.content::json FROM audit_log a
        WHERE a.tenant_id = v.tenant_id AND a.id = v.audit_id AND a.subject_type = 'document'
          AND a.subject_id = r.document_id::text AND a.seq IS NOT NULL) AS audited,
       (SELECT json_agg(json_build_object(
                   'user_id', m.user_id,
                   'roles', ARRAY(SELECT h.role FROM member_roles h
                                  WHERE h.tenant_id = m.tenant_id AND h.user_id = m.user_id),
                   'permissions', ARRAY(SELECT DISTINCT unnest(p.permissions) FROM member_roles h
                                        JOIN roles p ON p.tenant_id = h.tenant_id AND p.role = h.role
                                        WHERE h.tenant_id = m.tenant_id AND h.user_id = m.user_id)))
        FROM members m
        WHERE m.tenant_id = v.tenant_id AND m.user_id IN (v.decided_by, v.on_behalf_of) AND m.status = 'active') AS voters,
       (SELECT json_build_object('id', g.id, 'user_id', g.user_id, 'delegate_id', g.delegate_id,
                                 'entity_type', g.entity_type, 'from_time', g.from_time, 'to_time', g.to_time,
                                 'created_by', g.created_by, 'given_by', coalesce(g.given_by, ARRAY[g.created_by]),
                                 'given_at', coalesce(g.given_at, g.created_at))
        FROM approval_delegations g
        WHERE g.tenant_id = v.tenant_id AND g.id = v.delegation_id) AS delegation,
       (SELECT json_agg(change)
        FROM (
            SELECT voice.people || d.editor_ids || d.creator_id || r.requester_id
                   || ARRAY(SELECT unnest(p.persons) FROM responsible_sets p
                            WHERE p.tenant_id = d.tenant_id
                              AND p.hash IN (d.creator_responsible, d.editor_responsible, r.responsible))
                   || ARRAY(SELECT unnest(p.persons || q.actor_id) FROM transition_requests q
                            JOIN responsible_sets p ON p.tenant_id = q.tenant_id AND p.hash = q.responsible
                            WHERE q.tenant_id = d.tenant_id AND q.document_id = d.id AND q.status = 'open')
                   || ARRAY(SELECT jsonb_array_elements_text(coalesce(pin.value -> 'responsible', '[]'))
                            FROM jsonb_each(r.pins) AS pin)
                   || earlier_requesters(d.id) AS people
        ) AS concerned
        CROSS JOIN LATERAL (
            SELECT made.*, false AS takes_permission, false AS is_given_up
            FROM barring_changes_since(
                coalesce(r.asked_since, r.created_at), voice.people,
                ARRAY(SELECT h.role FROM member_roles h
                      WHERE h.tenant_id = v.tenant_id AND h.user_id = ANY (voice.people)),
                concerned.people, r.voter_permissions, %(own_resources)s::text[]) AS made
            WHERE made.kind NOT IN ('manager_set', 'delegation_given')
            UNION ALL
            SELECT line.*
            FROM approval_seats s
            CROSS JOIN LATERAL line_changes_since(
                coalesce(r.asked_since, r.created_at), s.lines, CASE WHEN s.lines IS NULL THEN voice.people END,
                concerned.people) AS line
            WHERE s.tenant_id = v.tenant_id AND s.request_id = v.request_id AND s.stage = v.stage
              AND s.position = v.position
        ) AS change) AS changes,
       (SELECT count(*) FROM transition_requests q
        WHERE q.tenant_id = r.tenant_id AND q.document_id = r.document_id AND q.actor_id = r.requester_id
          AND q.status = 'performed') > 0
       AND (EXISTS (SELECT FROM members m
                    WHERE m.tenant_id = r.tenant_id AND m.user_id = r.requester_id AND m.status <> 'active')
            OR EXISTS (SELECT FROM api_keys k
                       LEFT JOIN members m ON m.tenant_id = k.tenant_id AND m.user_id = k.owner_id
                       WHERE k.tenant_id = r.tenant_id AND m.status IS DISTINCT FROM 'active'
                         AND k.id = CASE WHEN r.requester_id ~ '^key:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
                                         THEN substr(r.requester_id, 5)::uuid END)) AS has_requester_left
FROM unnest(%(request_ids)s::uuid[]) AS used (id)
-- LIMIT and OFFSET keep each a lookup by its key, also while a table was never analysed.
CROSS JOIN LATERAL (
    SELECT * FROM approval_requests r WHERE r.tenant_id = %(tenant_id)s AND r.id = used.id LIMIT 1
) AS r
CROSS JOIN LATERAL (
    SELECT * FROM documents d WHERE d.tenant_id = %(tenant_id)s AND d.id = r.document_id LIMIT 1
) AS d
CROSS JOIN LATERAL (
    SELECT * FROM approval_decisions v WHERE v.tenant_id = %(tenant_id)s AND v.request_id = used.id OFFSET 0
) AS v
CROSS JOIN LATERAL (SELECT array_remove(ARRAY[v.decided_by, v.on_behalf_of], NULL) AS people) AS voice
ORDER BY v.request_id, v.id
