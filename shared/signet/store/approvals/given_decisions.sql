-- part: line
-- Documents with those that actions made them of, and those that they amend. The first row of a document's trail says what
-- it was made of.
WITH RECURSIVE line AS (
    SELECT asked.id AS document_id, asked.id, NULL::uuid AS made, false AS has_amendment, 1 AS distance
    FROM unnest(%(ids)s::uuid[]) AS asked (id)
    UNION ALL
    SELECT line.document_id, origin.id, line.id, line.has_amendment OR origin.is_amended, line.distance + 1
    FROM line
    CROSS JOIN LATERAL (
        SELECT coalesce(made.id, amended.id) AS id, made.id IS NULL AS is_amended
        FROM (VALUES (
            (SELECT (a.content::json #>> '{detail,made_by,document_id}')::uuid FROM audit_log a
             WHERE a.tenant_id = %(tenant_id)s AND a.subject_type = 'document' AND a.subject_id = line.id::text
               AND a.seq = 1))) AS made (id)
        CROSS JOIN LATERAL (VALUES (
            (SELECT d.amended_from_id FROM documents d WHERE d.tenant_id = %(tenant_id)s AND d.id = line.id))) AS amended (id)
    ) AS origin
    WHERE origin.id IS NOT NULL AND line.distance <= %(limit)s
)

-- part: standing
-- The approvals of these documents that stand, or have let something through. One that was voided bars nobody where its
-- people are asked again, or where its gate did not pass. Behind a gate, and in an automation, the next steps run on it
-- at once: what voids it later takes nothing of that back.
, slots_behind AS MATERIALIZED (
    SELECT DISTINCT line.id, slot.key AS name
    FROM line
    JOIN documents d ON d.tenant_id = %(tenant_id)s AND d.id = line.id
    JOIN contracts c ON c.tenant_id = d.tenant_id AND c.entity_type = d.entity_type AND c.version <= d.contract_version
    CROSS JOIN LATERAL jsonb_each(c.body::jsonb -> 'slots') AS slot
    WHERE slot.value ->> 'position' = 'after'
), standing AS (
    SELECT line.document_id, line.id, line.made, line.has_amendment, q.id AS request_id, q.node_id,
           q.document_version AS version, coalesce(q.applied, false) AS is_used, place.is_behind_gate
    FROM line
    JOIN approval_requests q ON q.tenant_id = %(tenant_id)s AND q.document_id = line.id
    CROSS JOIN LATERAL (
        SELECT EXISTS (SELECT FROM slots_behind b
                       WHERE b.id = line.id AND b.name = split_part(q.node_id, ':', 2)) AS is_behind_gate
    ) AS place
    WHERE q.status IN ('open', 'approved')
       OR q.status = 'voided' AND q.applied IS NOT NULL AND q.void_code IN ('moved_on', 'instance_ended')
          AND (place.is_behind_gate
               OR EXISTS (SELECT FROM workflow_instances i
                          WHERE i.tenant_id = q.tenant_id AND i.id = q.instance_id AND i.kind = 'automation'))
)

-- name: list_approvers
-- List who has approved a document, or one that it was made of or amends, and the persons they voted for: also where the
-- vote has lapsed since.
{line}{standing}
SELECT max(line.distance) AS distance,
       coalesce(array_agg(DISTINCT voice.person) FILTER (WHERE voice.person IS NOT NULL), '{}') AS approvers
FROM line
LEFT JOIN standing s ON s.id = line.id
LEFT JOIN approval_decisions v ON v.tenant_id = %(tenant_id)s AND v.request_id = s.request_id AND v.decision = 'approved'
CROSS JOIN LATERAL (VALUES (v.decided_by), (v.on_behalf_of)) AS voice (person)

-- name: list_given_decisions
-- List what people have decided about documents by votes and by requests that decide, also about those that actions made them
-- of: one for each that differs. An amendment begins anew. The statuses of its versions say whether the document has been since at the gate that its
-- decision led through.
{line}{standing}, given AS (
    SELECT s.document_id, s.id, s.made, 'approval' AS kind, s.node_id AS name, s.version, s.is_used, s.is_behind_gate
    FROM standing s
    WHERE NOT s.has_amendment
      AND EXISTS (SELECT FROM approval_decisions v
                  WHERE v.tenant_id = %(tenant_id)s AND v.request_id = s.request_id AND v.decision = 'approved'
                    AND (s.made IS NULL OR v.id < s.made))
    UNION ALL
    SELECT line.document_id, line.id, line.made, 'request', t.transition, t.document_version, true, false
    FROM line
    JOIN documents d ON d.tenant_id = %(tenant_id)s AND d.id = line.id
    JOIN transition_requests t ON t.tenant_id = %(tenant_id)s AND t.document_id = line.id AND t.status = 'performed'
    WHERE NOT line.has_amendment AND (line.made IS NULL OR t.id < line.made)
      AND EXISTS (SELECT FROM contracts c
                  WHERE c.tenant_id = %(tenant_id)s AND c.entity_type = d.entity_type AND c.version <= d.contract_version
                    AND c.body::jsonb #> '{separation_of_duties,deciding}' ? t.transition)
    UNION ALL
    SELECT line.document_id, line.id, line.id, 'origin', line.id::text, 0, true, true FROM line
    WHERE line.distance > %(limit)s AND NOT line.has_amendment
), statuses AS (
    SELECT v.document_id, v.version, v.snapshot::jsonb ->> 'status' AS status
    FROM document_versions v
    WHERE v.tenant_id = %(tenant_id)s AND v.document_id IN (SELECT given.id FROM given WHERE given.made IS NULL)
)
SELECT DISTINCT ON (given.document_id, given.kind, given.made IS NULL, given.is_used, given.is_behind_gate,
                    gate.has_returned)
       given.document_id, given.kind, given.name, given.is_used, given.is_behind_gate, gate.has_returned,
       CASE WHEN given.made IS NOT NULL THEN given.id END AS origin_id
FROM given
LEFT JOIN statuses asked ON asked.document_id = given.id AND asked.version = given.version
LEFT JOIN LATERAL (
    -- Where the document stood before it came to a slot behind a gate.
    SELECT s.status FROM statuses s
    WHERE given.is_behind_gate AND s.document_id = given.id AND s.version < given.version AND s.status <> asked.status
    ORDER BY s.version DESC
    LIMIT 1
) AS before ON true
LEFT JOIN LATERAL (
    -- The first version behind the gate.
    SELECT s.version FROM statuses s
    WHERE s.document_id = given.id AND s.version > given.version AND s.status <> asked.status
    ORDER BY s.version
    LIMIT 1
) AS behind ON true
CROSS JOIN LATERAL (
    SELECT CASE WHEN given.is_behind_gate THEN EXISTS (
                    SELECT FROM statuses s
                    WHERE s.document_id = given.id AND s.version > given.version AND s.status = before.status)
                ELSE EXISTS (
                    SELECT FROM statuses s
                    WHERE s.document_id = given.id AND s.version > behind.version AND s.status = asked.status)
           END AS has_returned
) AS gate
ORDER BY given.document_id, given.kind, given.made IS NULL, given.is_used, given.is_behind_gate, gate.has_returned

-- name: list_requesters
-- List which of these persons are behind any request of a document, and whether one of their requests decides.
SELECT behind.person,
       bool_or(EXISTS (SELECT FROM contracts c
                       WHERE c.tenant_id = %(tenant_id)s AND c.entity_type = d.entity_type
                         AND c.version <= d.contract_version
                         AND c.body::jsonb #> '{separation_of_duties,deciding}' ? t.transition)) AS is_deciding
FROM transition_requests t
JOIN documents d ON d.tenant_id = %(tenant_id)s AND d.id = t.document_id
CROSS JOIN LATERAL (
    SELECT t.actor_id AS person
    UNION
    SELECT unnest(s.persons) FROM responsible_sets s WHERE s.tenant_id = %(tenant_id)s AND s.hash = t.responsible
) AS behind
WHERE t.tenant_id = %(tenant_id)s AND t.document_id = %(document_id)s AND behind.person = ANY (%(persons)s)
GROUP BY behind.person

-- name: find_deciding
-- Find the open request of a document, where it decides about what the document says.
SELECT t.id
FROM transition_requests t
JOIN documents d ON d.tenant_id = t.tenant_id AND d.id = t.document_id
JOIN contracts c ON c.tenant_id = d.tenant_id AND c.entity_type = d.entity_type AND c.version = d.contract_version
WHERE t.tenant_id = %(tenant_id)s AND t.document_id = %(document_id)s AND t.status = 'open'
  AND c.body::jsonb #> '{separation_of_duties,deciding}' ? t.transition
