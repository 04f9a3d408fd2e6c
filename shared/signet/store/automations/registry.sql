-- name: find_automation
-- Find an automation by its name, with its definition in force.
SELECT a.id, a.name, a.entity_type, a.definition_id, a.definition_version, a.paused_at, a.paused_by, a.pause_note,
       a.revision
FROM automations a
WHERE a.tenant_id = %(tenant_id)s AND a.name = %(name)s

-- name: list_automations
-- List automations by name, from behind a name on.
SELECT a.id, a.name, a.entity_type, a.definition_id, a.definition_version, a.paused_at, a.paused_by, a.pause_note,
       a.revision
FROM automations a
WHERE a.tenant_id = %(tenant_id)s AND a.name > %(after)s
ORDER BY a.name
LIMIT %(limit)s

-- name: count_in_force
-- Count the automations in force, to a limit.
SELECT count(*) FROM (
    SELECT FROM automations a WHERE a.tenant_id = %(tenant_id)s AND a.definition_id IS NOT NULL LIMIT %(limit)s
) AS counted

-- name: count_listeners
-- Count the other automations that listen to the same, for the sign that most listen to.
SELECT coalesce(max(counted.listeners), 0)
FROM (SELECT count(*) AS listeners FROM workflow_triggers t
      WHERE t.tenant_id = %(tenant_id)s AND t.entity_type = %(entity_type)s AND t.sign = ANY (%(signs)s::text[])
        AND t.automation_id <> %(automation_id)s
      GROUP BY t.sign) AS counted

-- name: list_listeners
-- List the automations that listen to one of these signs of a type, by name.
SELECT DISTINCT a.name FROM workflow_triggers t
JOIN automations a ON a.tenant_id = t.tenant_id AND a.id = t.automation_id
WHERE t.tenant_id = %(tenant_id)s AND t.entity_type = %(entity_type)s AND t.sign = ANY (%(signs)s::text[])
ORDER BY a.name
LIMIT %(limit)s

-- name: add_switch
-- Add the row that each start of the tenant locks.
INSERT INTO automation_switches (tenant_id) VALUES (%(tenant_id)s) ON CONFLICT DO NOTHING

-- name: put_in_force
-- Put a definition in force under its name. It answers the id that the automation has under all of its versions.
INSERT INTO automations (tenant_id, id, name, entity_type, definition_id, definition_version)
VALUES (%(tenant_id)s, %(id)s, %(name)s, %(entity_type)s, %(definition_id)s, %(definition_version)s)
ON CONFLICT (tenant_id, name) DO UPDATE
SET entity_type = excluded.entity_type, definition_id = excluded.definition_id,
    definition_version = excluded.definition_version, revision = automations.revision + 1
RETURNING id

-- name: put_out_of_force
-- Put a definition out of force, where it is the one in force.
UPDATE automations SET definition_id = NULL, definition_version = NULL, revision = revision + 1
WHERE tenant_id = %(tenant_id)s AND definition_id = %(definition_id)s
RETURNING id

-- name: delete_triggers
-- Delete what an automation listens to.
DELETE FROM workflow_triggers WHERE tenant_id = %(tenant_id)s AND automation_id = %(automation_id)s

-- name: insert_triggers
-- Write what an automation listens to.
INSERT INTO workflow_triggers (tenant_id, entity_type, sign, automation_id, definition_id, definition_version)
SELECT %(tenant_id)s, %(entity_type)s, sign, %(automation_id)s, %(definition_id)s, %(definition_version)s
FROM unnest(%(signs)s::text[]) AS listened (sign)

-- name: pause_automation
-- Pause an automation with a note, or let it go on without one.
UPDATE automations
SET paused_at = %(at)s, paused_by = %(by)s, pause_note = %(note)s, revision = revision + 1
WHERE tenant_id = %(tenant_id)s AND id = %(id)s
RETURNING revision

-- name: read_switch
-- Read whether all automations of the tenant are stopped.
SELECT stopped_at, stopped_by, stop_note, revision FROM automation_switches WHERE tenant_id = %(tenant_id)s

-- name: switch_all
-- Stop all automations of the tenant with a note, or let them start again without one.
INSERT INTO automation_switches (tenant_id, stopped_at, stopped_by, stop_note)
VALUES (%(tenant_id)s, %(at)s, %(by)s, %(note)s)
ON CONFLICT (tenant_id) DO UPDATE
SET stopped_at = excluded.stopped_at, stopped_by = excluded.stopped_by, stop_note = excluded.stop_note,
    revision = automation_switches.revision + 1
RETURNING revision

-- name: list_history
-- List what became of the firings of an automation, the newest first.
SELECT created_at, id, entry, actor_id, data, trace_id
FROM workflow_event
WHERE tenant_id = %(tenant_id)s AND subject_id = %(id)s AND subject_kind = 'automation'
  AND (created_at, id) < (%(before_time)s, %(before_id)s)
  AND (%(document_id)s::text IS NULL OR data ->> 'document_id' = %(document_id)s::text)
ORDER BY created_at DESC, id DESC
LIMIT %(limit)s
