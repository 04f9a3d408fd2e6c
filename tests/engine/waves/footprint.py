"""The rows that a document's life leaves behind, for comparison with another life of the same kind."""

from typing import Any, LiteralString

# One row with everything about a document, without the ids.
FOOTPRINT: LiteralString = """
WITH instance AS (SELECT * FROM workflow_instances WHERE entity_id = %(id)s)
SELECT
    (SELECT concat_ws(' ', status, version) FROM documents WHERE id = %(id)s),
    (SELECT concat_ws(' ', status, version, current_nodes) FROM instance),
    (SELECT array_agg(concat_ws(' ', seq, end_seq, node_id, token_id, status, entity_version, version_after)
                      ORDER BY seq)
     FROM workflow_step_executions WHERE instance_id = (SELECT id FROM instance)),
    (SELECT array_agg(entry ORDER BY id) FROM workflow_event WHERE subject_id = (SELECT id FROM instance)),
    (SELECT count(*) FROM workflow_step_receipts WHERE instance_id = (SELECT id FROM instance)),
    (SELECT count(*) FROM workflow_side_effects_outbox WHERE instance_id = (SELECT id FROM instance)),
    (SELECT count(*) FROM workflow_outbox_receipts WHERE instance_id = (SELECT id FROM instance)),
    (SELECT count(*) FROM document_versions WHERE document_id = %(id)s),
    (SELECT array_agg(action ORDER BY seq) FROM audit_log WHERE subject_id = %(id)s::text),
    (SELECT array_agg(status ORDER BY id) FROM transition_requests WHERE document_id = %(id)s)
"""
Footprint = tuple[Any, ...]
