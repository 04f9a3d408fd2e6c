-- name: read_policies
-- Read the newest published policies of a tenant: of each definition its approval nodes, of each chain its steps, of
-- each contract what it compares and requires. Documents that run under an older version keep to that one. Only of the
-- newest versions the content is looked at.
(SELECT 'definition' AS kind, newest.name, newest.version, newest.entity_type, content.approvals AS body
 FROM (
     SELECT DISTINCT ON (w.entity_type, w.name) w.entity_type, w.name, w.version, w.id
     FROM workflow_definitions w
     WHERE w.tenant_id = %(tenant_id)s AND w.status = 'published' AND w.definition_kind IN ('effective', 'automation')
     ORDER BY w.entity_type, w.name, w.version DESC
     LIMIT %(limit)s
 ) AS newest
 CROSS JOIN LATERAL (
     SELECT jsonb_path_query_array(coalesce(d.nodes_json, d.compiled_json::jsonb -> 'nodes'),
                                   '$.* ? (@.type == "approval").config') AS approvals
     FROM workflow_definitions d
     WHERE d.tenant_id = %(tenant_id)s AND d.id = newest.id
 ) AS content
 WHERE content.approvals <> '[]')
UNION ALL
(SELECT 'chain', newest.name, newest.version, NULL,
        (SELECT coalesce(jsonb_agg(s.body ORDER BY s.position), '[]') FROM approval_chain_steps s
         WHERE s.tenant_id = %(tenant_id)s AND s.name = newest.name AND s.version = newest.version)
 FROM (
     SELECT DISTINCT ON (p.name) p.name, p.version
     FROM approval_chains p
     WHERE p.tenant_id = %(tenant_id)s AND p.status = 'published'
     ORDER BY p.name, p.version DESC
     LIMIT %(limit)s
 ) AS newest)
UNION ALL
(SELECT 'contract', newest.entity_type, newest.version, newest.entity_type,
        jsonb_build_object('conditions', newest.body -> 'conditions', 'slots', newest.body -> 'slots',
                           'transitions', newest.body -> 'transitions')
 FROM (
     SELECT k.entity_type, k.version, k.body::jsonb AS body
     FROM contracts k
     WHERE k.tenant_id = %(tenant_id)s AND k.status = 'published'
       AND NOT EXISTS (SELECT FROM contracts newer
                       WHERE newer.tenant_id = k.tenant_id AND newer.entity_type = k.entity_type
                         AND newer.version > k.version AND newer.status = 'published')
     ORDER BY k.entity_type
     LIMIT %(limit)s
 ) AS newest)
ORDER BY kind, entity_type, name
