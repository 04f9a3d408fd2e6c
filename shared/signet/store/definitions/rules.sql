-- name: list_rules
-- List the rules of a type in the order in which they run.
SELECT name, version, phase, operations, priority, condition, actions,
       (SELECT s.persons FROM responsible_sets s
        WHERE s.tenant_id = rules.tenant_id AND s.hash = rules.responsible) AS persons
FROM rules
WHERE tenant_id = %(tenant_id)s AND entity_type = %(entity_type)s AND is_enabled
ORDER BY priority, name
LIMIT %(limit)s

-- name: save_rule
-- Write a rule, or replace it and enable it again.
INSERT INTO rules (tenant_id, entity_type, name, phase, operations, priority, condition, actions, responsible)
VALUES (%(tenant_id)s, %(entity_type)s, %(name)s, %(phase)s, %(operations)s, %(priority)s, %(condition)s, %(actions)s,
        %(responsible)s)
ON CONFLICT (tenant_id, entity_type, name) DO UPDATE
SET phase = excluded.phase, operations = excluded.operations, priority = excluded.priority,
    condition = excluded.condition, actions = excluded.actions, responsible = excluded.responsible, is_enabled = true,
    version = rules.version + 1, updated_at = now()
RETURNING version

-- name: disable_rule
-- Disable a rule. The row stays, because executions refer to its version.
UPDATE rules SET is_enabled = false, version = version + 1, updated_at = now()
WHERE tenant_id = %(tenant_id)s AND entity_type = %(entity_type)s AND name = %(name)s AND is_enabled

-- name: list_saved_rules
-- List rules by type and name. That is no order of running, but lets a page go on where the last one ended.
SELECT entity_type, name, version, phase, operations, priority, condition, actions, created_at, updated_at
FROM rules
WHERE tenant_id = %(tenant_id)s AND (entity_type, name) > (%(after_type)s, %(after_name)s) AND is_enabled
  AND (%(entity_type)s::text IS NULL OR entity_type = %(entity_type)s)
ORDER BY entity_type, name
LIMIT %(limit)s

-- name: find_rule
-- Find an enabled rule.
SELECT entity_type, name, version, phase, operations, priority, condition, actions, created_at, updated_at
FROM rules
WHERE tenant_id = %(tenant_id)s AND entity_type = %(entity_type)s AND name = %(name)s AND is_enabled

-- name: read_persons
-- Read everyone who has saved the rule, also while it was disabled.
SELECT s.persons FROM rules r
JOIN responsible_sets s ON s.tenant_id = r.tenant_id AND s.hash = r.responsible
WHERE r.tenant_id = %(tenant_id)s AND r.entity_type = %(entity_type)s AND r.name = %(name)s
