-- name: add_draft_author
-- Note who saved a draft of a name now. The clock is that of the wall: the transaction may have waited for its lock.
INSERT INTO draft_authors (tenant_id, kind, entity_type, name, person, saved_at)
SELECT %(tenant_id)s, %(kind)s, %(entity_type)s, %(name)s, person, clock_timestamp()
FROM unnest(%(persons)s::text[]) AS person
ON CONFLICT (tenant_id, kind, entity_type, name, person)
DO UPDATE SET saved_at = excluded.saved_at, put_forward = NULL

-- name: put_forward
-- Note that these authors have put a text forward for publication. Of an older draft its author has no row yet.
INSERT INTO draft_authors (tenant_id, kind, entity_type, name, person, saved_at, put_forward)
SELECT %(tenant_id)s, %(kind)s, %(entity_type)s, %(name)s, person, clock_timestamp(), %(hash)s
FROM unnest(%(persons)s::text[]) AS person
ON CONFLICT (tenant_id, kind, entity_type, name, person) DO UPDATE SET put_forward = excluded.put_forward

-- name: take_back
-- Take back what anybody has put forward under a name: a draft of it is deleted.
UPDATE draft_authors SET put_forward = NULL
WHERE tenant_id = %(tenant_id)s AND kind = %(kind)s AND entity_type = %(entity_type)s AND name = %(name)s
  AND put_forward IS NOT NULL

-- name: is_put_forward
-- Find whether one of these authors has put exactly this text forward.
SELECT EXISTS (
    SELECT FROM draft_authors a
    WHERE a.tenant_id = %(tenant_id)s AND a.kind = %(kind)s AND a.entity_type = %(entity_type)s AND a.name = %(name)s
      AND a.person = ANY (%(persons)s) AND a.put_forward = %(hash)s)

-- name: list_draft_authors
-- List the persons who saved a draft of a name since a version of it was published.
SELECT a.person FROM draft_authors a
WHERE a.tenant_id = %(tenant_id)s AND a.kind = %(kind)s AND a.entity_type = %(entity_type)s AND a.name = %(name)s
  AND a.saved_at > coalesce(
      CASE %(kind)s
          WHEN 'contract' THEN (
              SELECT max(c.published_at) FROM contracts c
              WHERE c.tenant_id = %(tenant_id)s AND c.entity_type = %(entity_type)s)
          WHEN 'approval_chain' THEN (
              SELECT max(c.published_at) FROM approval_chains c
              WHERE c.tenant_id = %(tenant_id)s AND c.name = %(name)s)
          ELSE (
              SELECT max(d.published_at) FROM workflow_definitions d
              WHERE d.tenant_id = %(tenant_id)s AND d.definition_kind = %(kind)s AND d.entity_type = %(entity_type)s
                AND d.name = %(name)s)
      END, '-infinity')
ORDER BY a.person

-- name: find_definition_authorship
-- Find who wrote and published a definition. Of an older row only the person who published it is on record.
SELECT d.authors, d.publishers,
       coalesce(d.published_by, CASE WHEN d.definition_kind IN ('envelope', 'effective') THEN d.created_by END)
           AS published_by
FROM workflow_definitions d
WHERE d.tenant_id = %(tenant_id)s AND d.id = %(id)s

-- name: find_hashed_authorship
-- Find who wrote and published the definition with this hash. The same text may have been published again: the one that
-- the instance runs goes first, then the newest.
SELECT d.authors, d.publishers,
       coalesce(d.published_by, CASE WHEN d.definition_kind IN ('envelope', 'effective') THEN d.created_by END)
           AS published_by
FROM workflow_definitions d
WHERE d.tenant_id = %(tenant_id)s AND d.entity_type = %(entity_type)s AND d.compiled_hash = %(hash)s
ORDER BY d.id = (SELECT i.definition_id FROM workflow_instances i
                 WHERE i.tenant_id = %(tenant_id)s AND i.id = %(instance_id)s) DESC NULLS LAST, d.id DESC
LIMIT 1

-- name: find_contract_authorship
-- Find who wrote and published a version of a contract. Of an older row its envelope names the publisher.
SELECT c.authors, coalesce(c.published_by, (
           SELECT d.created_by FROM workflow_definitions d
           WHERE d.tenant_id = c.tenant_id AND d.definition_kind = 'envelope' AND d.entity_type = c.entity_type
             AND d.name = c.entity_type AND d.version = c.version)) AS published_by,
       c.publishers
FROM contracts c
WHERE c.tenant_id = %(tenant_id)s AND c.entity_type = %(entity_type)s AND c.version = %(version)s

-- name: list_chain_authorships
-- List who wrote and published chains: each at the version that is named, or at the newest that is published.
SELECT c.name, c.authors, c.published_by, c.publishers
FROM unnest(%(names)s::text[], %(versions)s::integer[]) AS wanted (name, version)
JOIN approval_chains c ON c.tenant_id = %(tenant_id)s AND c.name = wanted.name
 AND c.version = coalesce(wanted.version, (SELECT max(n.version) FROM approval_chains n
                                           WHERE n.tenant_id = %(tenant_id)s AND n.name = wanted.name
                                             AND n.status = 'published'))
ORDER BY c.name

-- name: list_movers
-- List the persons who have moved an instance to a definition that asks for other approvals, or have restarted its
-- document under one. An instance that was restarted goes on for the one before.
WITH own AS (
    SELECT id, entity_type, entity_id FROM workflow_instances
    WHERE tenant_id = %(tenant_id)s AND id = %(id)s
), line AS (
    SELECT i.id, own.entity_id FROM own
    JOIN workflow_instances i ON i.tenant_id = %(tenant_id)s AND i.id <= own.id
      AND (i.id = own.id OR (i.entity_type = own.entity_type AND i.entity_id = own.entity_id AND i.kind = 'envelope'))
    WHERE NOT EXISTS (SELECT FROM workflow_instances l
                      WHERE l.tenant_id = %(tenant_id)s AND l.entity_type = own.entity_type
                        AND l.entity_id = own.entity_id AND l.kind = 'envelope' AND l.id <= own.id AND l.id > i.id
                        AND l.birth <> 'restarted')
)
SELECT person
FROM line
JOIN workflow_step_executions s ON s.tenant_id = %(tenant_id)s AND s.instance_id = line.id
CROSS JOIN LATERAL jsonb_array_elements_text(s.output_json -> 'actor' -> 'responsible') AS person
WHERE s.node_id = 'sys:control:moved' AND s.output_json -> 'changes_approvals' = 'true'
UNION
SELECT person
FROM line
JOIN audit_log a ON a.tenant_id = %(tenant_id)s AND a.subject_type = 'document' AND a.subject_id = line.entity_id::text
CROSS JOIN LATERAL jsonb_array_elements_text(a.content::jsonb -> 'responsible') AS person
WHERE a.content::jsonb ->> 'action' = 'restart' AND a.content::jsonb -> 'detail' ->> 'ended_instance' = line.id::text
  AND a.content::jsonb -> 'detail' -> 'changes_approvals' = 'true'
ORDER BY person

-- name: list_changed_alone
-- List the settings, the rules of a type, and the calendars, endpoints and service accounts of a definition, each with the persons
-- behind its last change. Left out is what another person confirmed, and what nobody changed by the API.
WITH node AS (
    SELECT node.value ->> 'type' AS type, node.value -> 'config' AS config
    FROM (SELECT d.compiled_json::jsonb AS content FROM workflow_definitions d
          WHERE d.tenant_id = %(tenant_id)s AND d.entity_type = %(entity_type)s AND d.compiled_hash = %(hash)s
          LIMIT 1) AS definition
    CROSS JOIN LATERAL jsonb_each(definition.content -> 'nodes') AS node
), named (kind, name, subject_type, subject_id) AS (
    SELECT 'settings', '', 'tenant', %(tenant_id)s::uuid::text
    UNION ALL
    SELECT 'rule', r.entity_type || '/' || r.name, 'rule', r.entity_type || '/' || r.name
    FROM rules r WHERE r.tenant_id = %(tenant_id)s AND r.entity_type = %(entity_type)s AND r.is_enabled
    UNION ALL
    SELECT DISTINCT 'endpoint', config ->> 'endpoint', 'endpoint', config ->> 'endpoint'
    FROM node WHERE type = 'webhook_out'
    UNION ALL
    SELECT DISTINCT 'calendar', counted.name, 'calendar', counted.name
    FROM node
    CROSS JOIN LATERAL jsonb_path_query(config, 'lax $.**{1 to 3}.calendar') AS term
    CROSS JOIN LATERAL (
        SELECT coalesce(term #>> '{}', (SELECT t.settings ->> 'calendar' FROM tenants t
                                        WHERE t.tenant_id = %(tenant_id)s)) AS name) AS counted
    WHERE type IN ('wait_timer', 'approval') AND counted.name IS NOT NULL
    UNION ALL
    SELECT DISTINCT 'service_account', config ->> 'service_account', 'service_account', config ->> 'service_account'
    FROM node WHERE config ->> 'service_account' IS NOT NULL
)
SELECT named.kind, named.name, ARRAY(SELECT jsonb_array_elements_text(last.content -> 'responsible')) AS persons
FROM named
CROSS JOIN LATERAL (
    SELECT a.content::jsonb AS content FROM audit_log a
    WHERE a.tenant_id = %(tenant_id)s AND a.subject_type = named.subject_type AND a.subject_id = named.subject_id
      AND a.seq IS NOT NULL AND a.action IN ('create', 'replace', 'save_calendar', 'save_rule', 'save_service_account',
                                                        'change_tenant')
    ORDER BY a.seq DESC LIMIT 1) AS last
WHERE NOT last.content -> 'detail' ? 'control_change'
ORDER BY named.kind, named.name
