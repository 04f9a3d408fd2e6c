-- name: lock_switch
-- Lock the switch of the tenant, which each start does first: nothing starts after the commit that stops all.
SELECT stop_note, started_minute, started_count FROM automation_switches
WHERE tenant_id = %(tenant_id)s
FOR NO KEY UPDATE

-- name: lock_automations
-- Lock automations in the order of their ids: starts of one go one after another, and none after a pause.
SELECT a.id, a.name, a.definition_id, a.pause_note, a.started_minute, a.started_count
FROM automations a
WHERE a.tenant_id = %(tenant_id)s AND a.id = ANY (%(ids)s::uuid[])
ORDER BY a.id
FOR NO KEY UPDATE

-- name: read_persons
-- Read who wrote and who published definitions: they answer for what these do.
SELECT d.id, d.version, coalesce(d.authors, ARRAY[d.created_by]) || coalesce(d.publishers, '{}') AS persons
FROM workflow_definitions d
WHERE d.tenant_id = %(tenant_id)s AND d.id = ANY (%(ids)s::uuid[])

-- name: read_document
-- Read a document on both sides of a change, with its personal values as far as they are not erased.
SELECT d.creator_id, d.created_at, d.deleted_at,
       (SELECT json_agg(json_build_object('version', v.version, 'snapshot', v.snapshot::json, 'written_at', v.created_at)
                        ORDER BY v.version)
        FROM document_versions v
        WHERE v.tenant_id = d.tenant_id AND v.document_id = d.id
          AND v.version BETWEEN %(version)s::bigint - 1 AND %(version)s::bigint) AS versions,
       (SELECT jsonb_object_agg(p.id, p.value) FROM personal_values p
        WHERE p.tenant_id = d.tenant_id AND p.document_id = d.id AND p.erased_at IS NULL) AS personal
FROM documents d
WHERE d.tenant_id = %(tenant_id)s AND d.id = %(document_id)s

-- name: count_open
-- Count open instances of all automations and of this one, each to its limit, and the starts that wait with this key.
SELECT (SELECT count(*) FROM (
            SELECT FROM workflow_instances i
            WHERE i.tenant_id = %(tenant_id)s AND i.kind = 'automation' AND i.status IN ('running', 'paused')
            LIMIT %(tenant_limit)s) AS of_tenant),
       (SELECT count(*) FROM (
            SELECT FROM workflow_instances i
            WHERE i.tenant_id = %(tenant_id)s AND i.kind = 'automation' AND i.status IN ('running', 'paused')
              AND i.overlap_key COLLATE "C" >= %(automation_id)s || '/'
              AND i.overlap_key COLLATE "C" < %(automation_id)s || '0'
            LIMIT %(limit)s) AS of_automation),
       (SELECT count(*) FROM queued_starts q WHERE q.tenant_id = %(tenant_id)s AND q.overlap_key = %(key)s)

-- name: lock_open
-- Lock the open instance with a key: it does not end before a start that waits for it is on record.
SELECT i.id FROM workflow_instances i
WHERE i.tenant_id = %(tenant_id)s AND i.overlap_key = %(key)s AND i.status IN ('running', 'paused')
FOR NO KEY UPDATE

-- name: drop_queued
-- Drop the starts that wait with a key, for a newer one takes their place.
DELETE FROM queued_starts WHERE tenant_id = %(tenant_id)s AND overlap_key = %(key)s
RETURNING id, payload, trace_id

-- name: release_next
-- Make the next start due that waits with a key.
SELECT release_next_start(%(key)s)

-- name: insert_instance
-- Write an instance of an automation. Its first wave writes its steps. One that is there already stays as it is.
INSERT INTO workflow_instances (
    tenant_id, id, kind, definition_id, definition_version, entity_type, entity_id, entity_version, subject_id,
    overlap_key, begin_node, begin_version, birth, begin_actor_id, begin_actor_roles, begin_responsible, actor_id,
    actor_roles, responsible, active_tokens, current_nodes, depth, trace_id, started_at, updated_at)
VALUES (
    %(tenant_id)s, %(id)s, 'automation', %(definition_id)s, %(definition_version)s, %(entity_type)s, %(entity_id)s,
    %(entity_version)s, %(subject_id)s, %(overlap_key)s, %(begin_node)s, %(entity_version)s, 'created', %(actor_id)s,
    %(actor_roles)s, %(responsible)s, %(actor_id)s, %(actor_roles)s, %(responsible)s, %(active_tokens)s,
    ARRAY[%(begin_node)s], %(depth)s, %(trace_id)s, %(now)s, %(now)s)
ON CONFLICT DO NOTHING
RETURNING id

-- name: insert_cause
-- Write why an instance is there.
INSERT INTO instance_causes (tenant_id, instance_id, automation_id, cause, chain)
VALUES (%(tenant_id)s, %(instance_id)s, %(automation_id)s, %(cause)s, %(chain)s)

-- name: count_start
-- Count a start, of the automation and of all of its tenant.
WITH own AS (
    UPDATE automations SET started_minute = %(own_minute)s, started_count = %(own_count)s
    WHERE tenant_id = %(tenant_id)s AND id = %(automation_id)s
)
UPDATE automation_switches SET started_minute = %(tenant_minute)s, started_count = %(tenant_count)s
WHERE tenant_id = %(tenant_id)s

-- name: queue_start
-- Let a start wait for the end of the instance that has its key.
INSERT INTO queued_starts (tenant_id, overlap_key, id, automation_id, payload, entity_version, trace_id)
VALUES (%(tenant_id)s, %(key)s, %(id)s, %(automation_id)s, %(payload)s, %(entity_version)s, %(trace_id)s)
ON CONFLICT DO NOTHING

-- name: insert_history
-- Write what became of firings. A firing that is delayed again and again has one such line.
INSERT INTO workflow_event (tenant_id, created_at, id, subject_kind, subject_id, entry, actor_id, data, trace_id)
SELECT %(tenant_id)s, created_at, id, 'automation', automation_id, entry, actor_id, data, trace_id
FROM json_to_recordset(%(rows)s::json) AS row (
    id uuid, created_at timestamptz, automation_id uuid, entry text, actor_id text, data jsonb, trace_id text)
ON CONFLICT DO NOTHING

-- name: read_cause
-- Read why an instance is there.
SELECT cause, chain FROM instance_causes WHERE tenant_id = %(tenant_id)s AND instance_id = %(instance_id)s

-- name: keep_chains
-- Write by which chain instances go on, where that has changed.
INSERT INTO instance_causes (tenant_id, instance_id, chain)
SELECT %(tenant_id)s, instance_id, chain
FROM json_to_recordset(%(rows)s::json) AS row (instance_id uuid, chain jsonb)
ON CONFLICT (tenant_id, instance_id) DO UPDATE SET chain = excluded.chain
