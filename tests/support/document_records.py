"""The record of a document and of each of its instances, in columns that a person can read."""

from typing import LiteralString

DOCUMENT: LiteralString = """
SELECT id, entity_type, status, 'v' || version, 'amends ' || amended_from_id FROM documents WHERE id = %s
"""
REQUESTS: LiteralString = """
SELECT transition, 'v' || document_version, actor_id, status, outcome FROM transition_requests
WHERE document_id = %s ORDER BY id
"""
AMENDED: LiteralString = """
SELECT content::jsonb ->> 'actor_id', content::jsonb -> 'after' ->> 'version', content::jsonb ->> 'reason',
       content::jsonb -> 'detail' ->> 'diff'
FROM audit_log WHERE subject_id = %s AND content::jsonb ->> 'action' = 'amended'
"""
OPENED: LiteralString = """
SELECT content::jsonb ->> 'actor_id', content::jsonb -> 'after' ->> 'version', content::jsonb ->> 'reason',
       content::jsonb -> 'detail' ->> 'diff'
FROM audit_log WHERE subject_id = %s AND content::jsonb ->> 'action' = 'amendment_opened' ORDER BY seq
"""
PENDING_CALL: LiteralString = """
SELECT e.step_execution_id
FROM workflow_side_effects_outbox e
JOIN workflow_step_executions s ON s.tenant_id = e.tenant_id AND s.id = e.step_execution_id
JOIN workflow_instances i ON i.tenant_id = s.tenant_id AND i.id = s.instance_id
WHERE i.entity_id = %s AND e.status = 'pending' AND right(s.node_id, %s) = %s
"""
# Queries by title, each about one instance.
ON_RECORD: dict[str, LiteralString] = {
    "Instance": """
SELECT d.name, i.status, i.reason, 'v' || i.version, i.actor_id, array_to_string(i.current_nodes, ' ')
FROM workflow_instances i JOIN workflow_definitions d ON d.tenant_id = i.tenant_id AND d.id = i.definition_id
WHERE i.id = %s
""",
    "Steps: seq..end, node, token, status, outcome, ways, document version, who": """
SELECT seq || coalesce('..' || end_seq, '..'), node_id, '[' || token_id || ']', status,
       output_json ->> 'outcome',
       (SELECT '-> ' || string_agg(way, ' + ')
        FROM jsonb_array_elements_text(output_json -> 'chosen_edge_ids') AS way),
       'v' || entity_version
       || CASE WHEN version_after <> entity_version THEN '=>v' || version_after ELSE '' END,
       run_as || ' ' || actor_user_id, CASE WHEN applied THEN 'applied' END
FROM workflow_step_executions WHERE instance_id = %s ORDER BY seq, id
""",
    "What people did to it meanwhile": """
SELECT node_id, 'v' || entity_version, output_json::text
FROM workflow_step_executions WHERE instance_id = %s AND node_id LIKE 'sys:control:%%' ORDER BY seq, id
""",
    "Approvals: node, document version, stage, status, outcome": """
SELECT node_id, 'v' || document_version, 'stage ' || stage, status, outcome,
       CASE applied WHEN true THEN 'applied' WHEN false THEN 'not applied' END
FROM approval_requests WHERE instance_id = %s ORDER BY id
""",
    "Seats": """
SELECT r.node_id, 'stage ' || s.stage, s.position, coalesce(s.holder_user_id, 'role ' || s.holder_role),
       s.origin, s.status, 'by ' || s.decided_by, 'for ' || s.on_behalf_of
FROM approval_seats s JOIN approval_requests r ON r.tenant_id = s.tenant_id AND r.id = s.request_id
WHERE r.instance_id = %s ORDER BY r.id, s.stage, s.position
""",
    "Decisions": """
SELECT r.node_id, 'v' || d.document_version, 'stage ' || d.stage, d.decision, d.reason, 'by ' || d.decided_by,
       'for ' || d.on_behalf_of,
       CASE WHEN (d.snapshot_hash, d.definition_hash, d.policy_hash)
                 IS DISTINCT FROM (r.snapshot_hash, r.definition_hash, r.policy_hash)
            THEN 'of something else' END
FROM approval_decisions d JOIN approval_requests r ON r.tenant_id = d.tenant_id AND r.id = d.request_id
WHERE r.instance_id = %s ORDER BY d.id
""",
    "Effects": """
SELECT s.node_id, e.effect_type, e.endpoint, e.status, e.error, e.payload_json::text
FROM workflow_side_effects_outbox e
JOIN workflow_step_executions s ON s.tenant_id = e.tenant_id AND s.id = e.step_execution_id
WHERE s.instance_id = %s ORDER BY e.id
""",
    "Told": """
SELECT n.kind, coalesce(n.user_id, 'role ' || n.role), n.data ->> 'node', n.data ->> 'reason'
FROM notifications n JOIN approval_requests r ON r.tenant_id = n.tenant_id AND r.id = n.request_id
WHERE r.instance_id = %s ORDER BY n.created_at, n.kind, r.id, 2
""",
}
