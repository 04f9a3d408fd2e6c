-- name: insert_executions
-- Write what rules were run with, and what came of it.
INSERT INTO rule_executions (tenant_id, id, document_id, document_version, entity_type, rule, rule_version, phase,
                             matched, evidence, created_at, is_rejection, operation, actor_id, responsible, origin,
                             instance_id, step_id, trace_id)
SELECT %(tenant_id)s, id, document_id, document_version, entity_type, rule, rule_version, phase, matched, evidence,
       %(now)s, coalesce(is_rejection, false), operation, actor_id, responsible, origin, instance_id, step_id, trace_id
FROM json_to_recordset(%(rows)s::json) AS row (
    id uuid, document_id uuid, document_version bigint, entity_type text, rule text, rule_version bigint,
    phase text, matched boolean, evidence jsonb, is_rejection boolean, operation text, actor_id text,
    responsible bytea, origin jsonb, instance_id uuid, step_id uuid, trace_id text)

-- name: list_of_document
-- List the evaluations of rules on a document, the newest first.
SELECT e.id, e.document_id, e.document_version, e.entity_type, e.rule, e.rule_version, e.phase, e.matched,
       e.is_rejection AS rejected, e.evidence, e.operation, e.actor_id AS actor,
       (SELECT s.persons FROM responsible_sets s WHERE s.tenant_id = e.tenant_id AND s.hash = e.responsible) AS responsible,
       e.origin, e.instance_id, e.step_id, e.trace_id, e.created_at
FROM rule_executions e
WHERE e.tenant_id = %(tenant_id)s AND e.document_id = %(document_id)s AND e.id < %(before)s
ORDER BY e.id DESC
LIMIT %(limit)s

-- name: list_rejections
-- List what rules have rejected, the newest first.
SELECT e.id, e.document_id, e.document_version, e.entity_type, e.rule, e.rule_version, e.phase, e.matched,
       e.is_rejection AS rejected, e.evidence, e.operation, e.actor_id AS actor,
       (SELECT s.persons FROM responsible_sets s WHERE s.tenant_id = e.tenant_id AND s.hash = e.responsible) AS responsible,
       e.origin, e.instance_id, e.step_id, e.trace_id, e.created_at
FROM rule_executions e
WHERE e.tenant_id = %(tenant_id)s AND e.is_rejection AND e.id < %(before)s
  AND (%(entity_type)s::text IS NULL OR e.entity_type = %(entity_type)s)
  AND (%(rule)s::text IS NULL OR e.rule = %(rule)s)
ORDER BY e.id DESC
LIMIT %(limit)s
