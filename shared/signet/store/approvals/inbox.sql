-- part: asked_seats
-- Look up seats with their open request and its document; list_inbox adds who holds them. A document that was edited
-- meanwhile cannot be decided about any more.
SELECT s.request_id, s.stage, s.position, s.holder_role, s.origin, request.*, document.*
FROM approval_seats s
CROSS JOIN LATERAL (
    SELECT q.document_id, q.document_version, q.node_id, q.requester_id, q.created_at, q.expire_at
    FROM approval_requests q
    WHERE q.tenant_id = s.tenant_id AND q.id = s.request_id AND q.status = 'open' AND q.stage = s.stage
      AND (%(node_id)s::text IS NULL OR q.node_id = %(node_id)s)
      AND (%(requester_id)s::text IS NULL OR q.requester_id = %(requester_id)s)
      AND (%(since)s::timestamptz IS NULL OR q.created_at >= %(since)s)
    LIMIT 1
) AS request
CROSS JOIN LATERAL (
    SELECT d.entity_type
    FROM documents d
    WHERE d.tenant_id = s.tenant_id AND d.id = request.document_id AND d.version = request.document_version
      AND (voice.entity_type IS NULL OR d.entity_type = voice.entity_type)
      AND (%(entity_type)s::text IS NULL OR d.entity_type = %(entity_type)s)
    LIMIT 1
) AS document

-- part: still_asking
-- Leave out stages in which the person or the voice is counted already, and go on from the last page.
s.status = 'open' AND s.request_id > %(after)s
AND (SELECT count(*) FROM approval_seats c
     WHERE c.tenant_id = s.tenant_id AND c.request_id = s.request_id AND c.stage = s.stage AND c.status <> 'lapsed'
       AND (c.decided_by IN (%(user_id)s, voice.user_id)
            OR c.on_behalf_of IN (%(user_id)s, voice.user_id))) = 0

-- name: list_inbox
-- List what waits for a person, the oldest request first. Each voice is one index lookup: their own, those of their
-- roles, and those of the people they stand in for now. Each lookup goes on from the last page and stops when the
-- page is full, so that other open requests cost nothing. The lookups for people and for roles stand apart, because
-- only then each follows its own index in order. LIMIT keeps every other table a lookup, for any costs that a join
-- would seem to have.
WITH voice AS (
    SELECT m.user_id, NULL::uuid AS delegation_id, NULL::text AS entity_type
    FROM members m WHERE m.tenant_id = %(tenant_id)s AND m.user_id = %(user_id)s AND m.status = 'active'
    UNION ALL
    SELECT d.user_id, d.id, d.entity_type
    FROM members m
    JOIN approval_delegations d ON d.tenant_id = m.tenant_id AND d.delegate_id = m.user_id
    JOIN members absent ON absent.tenant_id = d.tenant_id AND absent.user_id = d.user_id AND absent.status = 'active'
    WHERE m.tenant_id = %(tenant_id)s AND m.user_id = %(user_id)s AND m.status = 'active'
      AND d.revoked_at IS NULL AND d.from_time <= now() AND d.to_time > now()
), asked AS (
    SELECT own.*, voice.user_id AS voice, voice.delegation_id
    FROM voice
    CROSS JOIN LATERAL (
        {asked_seats}
        WHERE s.tenant_id = %(tenant_id)s AND s.holder_user_id = voice.user_id AND {still_asking}
        ORDER BY s.request_id
        LIMIT %(limit)s
    ) AS own
    UNION ALL
    SELECT shared.*, voice.user_id AS voice, voice.delegation_id
    FROM voice JOIN member_roles r ON r.tenant_id = %(tenant_id)s AND r.user_id = voice.user_id
    CROSS JOIN LATERAL (
        {asked_seats}
        WHERE s.tenant_id = %(tenant_id)s AND s.holder_role = r.role AND {still_asking}
        ORDER BY s.request_id
        LIMIT %(limit)s
    ) AS shared
)
SELECT request_id, document_id, entity_type, document_version, node_id, stage, requester_id, created_at, expire_at,
       CASE WHEN delegation_id IS NOT NULL THEN voice END AS on_behalf_of
FROM (
    -- of several seats the one that a vote would fill
    SELECT DISTINCT ON (request_id) *
    FROM asked
    ORDER BY request_id, delegation_id IS NOT NULL, holder_role IS NOT NULL, origin = 'resolved', position, voice,
             delegation_id
) AS chosen
ORDER BY request_id
LIMIT %(limit)s

-- name: list_decided
-- List the votes that a person gave, the newest first, each with its request and its document as they are now.
SELECT c.id, c.request_id, q.document_id, d.entity_type, d.contract_version, q.document_version,
       q.snapshot_version_id, q.node_id, c.stage, q.requester_id, c.decision AS vote, c.reason, c.on_behalf_of,
       c.created_at AS decided_at, q.status AS request_status, d.status AS document_status
FROM approval_decisions c
JOIN approval_requests q ON q.tenant_id = c.tenant_id AND q.id = c.request_id
JOIN documents d ON d.tenant_id = q.tenant_id AND d.id = q.document_id
WHERE c.tenant_id = %(tenant_id)s AND c.decided_by = %(user_id)s AND c.id < %(before)s
  AND (%(entity_type)s::text IS NULL OR d.entity_type = %(entity_type)s)
  AND (%(node_id)s::text IS NULL OR q.node_id = %(node_id)s)
  AND (%(requester_id)s::text IS NULL OR q.requester_id = %(requester_id)s)
  AND (%(since)s::timestamptz IS NULL OR c.created_at >= %(since)s)
ORDER BY c.id DESC
LIMIT %(limit)s

-- name: read_shown_fields
-- Read some fields of documents, and leave their other content where it is.
SELECT d.id, (SELECT coalesce(jsonb_object_agg(name, d.data -> name), '{}') FROM unnest(%(fields)s::text[]) AS name)
FROM documents d
WHERE d.tenant_id = %(tenant_id)s AND d.id = ANY (%(ids)s)

-- name: read_decided_fields
-- Read some fields of versions of documents, as they were when people decided.
SELECT v.id, (SELECT coalesce(jsonb_object_agg(name, snapshot.data -> name), '{}')
              FROM unnest(%(fields)s::text[]) AS name)
FROM document_versions v
CROSS JOIN LATERAL (SELECT v.snapshot::jsonb -> 'data' AS data OFFSET 0) AS snapshot
WHERE v.tenant_id = %(tenant_id)s AND v.id = ANY (%(ids)s)
