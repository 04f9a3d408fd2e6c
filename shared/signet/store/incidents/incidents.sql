-- name: write_incidents
-- Open incidents, and close those that a step has ended. One without a number is the pause of the whole.
WITH opened AS (
    INSERT INTO incidents (tenant_id, id, instance_id, seq, entity_type, entity_id, token_id, node_id, step_id, endpoint,
                           requester_id, code, kind, message, attempts, opened_at, closed_at, closing, closed_by)
    SELECT %(tenant_id)s, row.id, row.instance_id, row.seq, row.entity_type, row.entity_id, row.token_id, row.node_id,
           row.step_id, row.endpoint, row.requester_id, row.code, row.kind, row.message,
           1 + (SELECT count(*) FROM incidents past
                WHERE past.tenant_id = %(tenant_id)s AND past.instance_id = row.instance_id
                  AND past.node_id IS NOT DISTINCT FROM row.node_id),
           %(now)s::timestamptz, CASE WHEN row.closing IS NOT NULL THEN %(now)s::timestamptz END, row.closing, row.closed_by
    FROM json_to_recordset(%(opened)s::json) AS row (
        id uuid, instance_id uuid, seq integer, entity_type text, entity_id uuid, token_id text, node_id text,
        step_id uuid, endpoint text, requester_id text, code text, kind text, message text, closing text, closed_by text)
)
UPDATE incidents i
SET closed_at = %(now)s, closing = row.closing, closed_by = row.closed_by
FROM json_to_recordset(%(closed)s::json) AS row (instance_id uuid, seq integer, closing text, closed_by text)
WHERE i.tenant_id = %(tenant_id)s AND i.instance_id = row.instance_id AND i.closed_at IS NULL
  AND (i.seq = row.seq OR (row.seq IS NULL AND i.token_id IS NULL))

-- part: wanted
-- The incidents that a filter names.
AND (%(code)s::text IS NULL OR i.code = %(code)s) AND (%(kind)s::text IS NULL OR i.kind = %(kind)s)
  AND (%(node)s::text IS NULL OR i.node_id = %(node)s)
  AND (%(endpoint)s::text IS NULL OR i.endpoint = %(endpoint)s)
  AND (%(entity_type)s::text IS NULL OR i.entity_type = %(entity_type)s)
  AND (%(document_id)s::uuid IS NULL OR i.entity_id = %(document_id)s)
  AND (%(instance_id)s::uuid IS NULL OR i.instance_id = %(instance_id)s)
  AND (%(assignee)s::text IS NULL OR i.assignee = %(assignee)s)

-- name: list_open_incidents
-- List open incidents, the newest first. There are few of them: the partial index holds nothing else.
SELECT i.id, i.instance_id, i.entity_type, i.entity_id AS document_id, i.token_id AS token, i.node_id AS node,
       i.endpoint, i.code, i.kind, i.message, i.attempts, i.opened_at, i.acknowledged_by, i.acknowledged_at,
       i.assignee, i.note, i.closed_at, i.closing, i.closed_by
FROM incidents i
WHERE i.tenant_id = %(tenant_id)s AND i.closed_at IS NULL AND i.id < %(before)s
  {wanted}
ORDER BY i.id DESC
LIMIT %(limit)s

-- name: list_oldest_open
-- List the instances of the oldest open incidents. What fails again has a new one, so that the next act begins behind it.
SELECT i.instance_id
FROM incidents i
WHERE i.tenant_id = %(tenant_id)s AND i.closed_at IS NULL
  {wanted}
ORDER BY i.id
LIMIT %(limit)s

-- name: list_closed_incidents
-- List closed incidents, the newest first.
SELECT i.id, i.instance_id, i.entity_type, i.entity_id AS document_id, i.token_id AS token, i.node_id AS node,
       i.endpoint, i.code, i.kind, i.message, i.attempts, i.opened_at, i.acknowledged_by, i.acknowledged_at,
       i.assignee, i.note, i.closed_at, i.closing, i.closed_by
FROM incidents i
WHERE i.tenant_id = %(tenant_id)s AND i.closed_at IS NOT NULL AND i.id < %(before)s
  {wanted}
ORDER BY i.id DESC
LIMIT %(limit)s

-- name: find_incident
-- Find one incident, open or closed.
SELECT i.id, i.instance_id, i.entity_type, i.entity_id AS document_id, i.token_id AS token, i.node_id AS node,
       i.endpoint, i.code, i.kind, i.message, i.attempts, i.opened_at, i.acknowledged_by, i.acknowledged_at,
       i.assignee, i.note, i.closed_at, i.closing, i.closed_by
FROM incidents i
WHERE i.tenant_id = %(tenant_id)s AND i.id = %(id)s

-- name: group_incidents
-- Group open incidents by their cause, the largest group first.
SELECT i.code, i.kind, i.entity_type, i.node_id AS node, i.endpoint, count(*)::integer AS count,
       min(i.opened_at) AS oldest_at, max(i.opened_at) AS newest_at,
       (array_agg(i.message ORDER BY i.id DESC))[1] AS message
FROM incidents i
WHERE i.tenant_id = %(tenant_id)s AND i.closed_at IS NULL
GROUP BY i.code, i.kind, i.entity_type, i.node_id, i.endpoint
ORDER BY count(*) DESC, min(i.opened_at), i.code, i.node_id, i.endpoint
LIMIT %(limit)s

-- name: read_held_instances
-- Read what says which acts these instances accept, with the status of their documents.
SELECT i.id, i.status, i.reason, i.version, i.definition_id, i.definition_version, i.active_tokens, i.entity_id AS document_id,
       d.status AS document_status, d.amended_from_id IS NOT NULL AS is_amendment,
       ARRAY(SELECT jsonb_array_elements_text(c.body::jsonb #> '{separation_of_duties,deciding}')
             FROM contracts c
             WHERE c.tenant_id = d.tenant_id AND c.entity_type = d.entity_type AND c.version = d.contract_version) AS deciding,
       coalesce(d.version <> i.entity_version, false) AS is_behind,
       i.status = 'paused' AND is_paused_by_person(i.id) AS is_paused_by_person
FROM workflow_instances i
LEFT JOIN documents d ON d.tenant_id = i.tenant_id AND d.id = i.entity_id
WHERE i.tenant_id = %(tenant_id)s AND i.id = ANY (%(ids)s)

-- name: acknowledge_incident
-- Keep who knows of an open incident; the first person who says so stays.
UPDATE incidents i
SET acknowledged_by = coalesce(i.acknowledged_by, %(actor_id)s), acknowledged_at = coalesce(i.acknowledged_at, now())
WHERE i.tenant_id = %(tenant_id)s AND i.id = %(id)s AND i.closed_at IS NULL

-- name: care_for_incident
-- Write who looks after an open incident, and their note.
UPDATE incidents i
SET assignee = %(assignee)s, note = %(note)s
WHERE i.tenant_id = %(tenant_id)s AND i.id = %(id)s AND i.closed_at IS NULL

-- name: has_open_incident
-- Find out if an incident of the document is open.
SELECT EXISTS (
    SELECT FROM incidents i
    WHERE i.tenant_id = %(tenant_id)s AND i.entity_id = %(document_id)s AND i.closed_at IS NULL)
