-- name: list_actions
-- List the actions of the newest published contract of each type.
SELECT c.entity_type, a.key AS name, a.value AS body
FROM contracts c
CROSS JOIN LATERAL jsonb_each(c.body::jsonb -> 'actions') a
WHERE c.tenant_id = %(tenant_id)s AND c.status = 'published'
  AND (%(entity_type)s::text IS NULL OR c.entity_type = %(entity_type)s)
  AND (%(after_type)s::text IS NULL OR (c.entity_type, a.key) > (%(after_type)s, %(after_name)s))
  AND NOT EXISTS (SELECT FROM contracts newer
                  WHERE newer.tenant_id = c.tenant_id AND newer.entity_type = c.entity_type
                    AND newer.version > c.version AND newer.status = 'published')
ORDER BY c.entity_type, a.key
LIMIT %(limit)s

-- part: count_live_at_nodes
-- Count the tokens of `live` by node. How many instances there were stands with each row, and alone where there is
-- no place.
SELECT counted.live_count, at_nodes.*
FROM (SELECT count(*) AS live_count FROM live) counted
LEFT JOIN (
    SELECT definition_id, definition_version, token.node, token.state, count(*) AS token_count,
           (array_agg(id ORDER BY id))[1:%(examples)s] AS examples
    FROM live CROSS JOIN LATERAL jsonb_to_recordset(active_tokens) AS token(node text, state text)
    GROUP BY definition_id, definition_version, token.node, token.state
    ORDER BY count(*) DESC, definition_id, token.node, token.state
    LIMIT %(limit)s) at_nodes ON true

-- name: count_documents_at_nodes
-- Count at which nodes the live documents of a type are, of so many instances at most.
WITH live AS MATERIALIZED (
    SELECT id, definition_id, definition_version, active_tokens FROM workflow_instances
    WHERE tenant_id = %(tenant_id)s AND entity_type = %(entity_type)s AND kind = 'envelope'
      AND status IN ('running', 'paused')
    ORDER BY entity_id
    LIMIT %(at_most)s)
{count_live_at_nodes}

-- name: count_automations_at_nodes
-- Count at which nodes the live instances of one automation are, of so many at most.
WITH live AS MATERIALIZED (
    SELECT i.id, i.definition_id, i.definition_version, i.active_tokens
    FROM workflow_definitions d
    JOIN workflow_instances i ON i.tenant_id = d.tenant_id AND i.definition_id = d.id
    WHERE d.tenant_id = %(tenant_id)s AND d.definition_kind = 'automation' AND d.entity_type = %(entity_type)s
      AND d.name = %(name)s AND i.status IN ('running', 'paused')
    LIMIT %(at_most)s)
{count_live_at_nodes}

-- name: take_heavy_turn
-- Take the tenant's turn for a heavy call until the transaction ends, and say whether it was free.
SELECT pg_try_advisory_xact_lock(hashtextextended('heavy calls of ' || %(tenant_id)s::uuid, 0))
