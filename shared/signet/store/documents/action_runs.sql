-- name: read_action_runs
-- Read under which definition a document runs, or ran last, and the newest version at which one of these actions
-- has made documents of it: by a step, or by hand.
SELECT i.definition_id, i.definition_version,
       (SELECT max((a.content::json #>> '{after,version}')::bigint) FROM audit_log a
        WHERE a.tenant_id = %(tenant_id)s AND a.subject_type = 'document' AND a.subject_id = %(document_id)s::text
          AND a.action = ANY (%(actions)s) AND a.content::json #> '{detail,created}' IS NOT NULL) AS last_version
FROM (VALUES (true)) AS one
LEFT JOIN LATERAL (
    SELECT w.definition_id, w.definition_version FROM workflow_instances w
    WHERE w.tenant_id = %(tenant_id)s AND w.entity_type = %(entity_type)s AND w.entity_id = %(document_id)s
      AND w.kind = 'envelope'
    ORDER BY w.id DESC
    LIMIT 1
) AS i ON true
