"""The gate of a request that decides: what was decided about other documents holds behind it."""

from collections.abc import Mapping
from dataclasses import replace

from signet.core.approvals.decided_pins import list_changed_since, pin_decided
from signet.core.approvals.pins import list_pinned_fields
from signet.core.runtime.decisions import Decision, refuse_gate
from signet.core.runtime.document_changes import REFERENCES_CHANGED
from signet.core.runtime.workflow import WorkflowNode
from signet.engine.documents.references import RefQuery
from signet.engine.execution.nodes.context import InstanceContext
from signet.store.documents.read import read_request_pins


def pin_by_request(context: InstanceContext, node: WorkflowNode, decision: Decision) -> Decision:
    """Let what follows read what was decided about, or refuse a request about what has changed since.

    An interrupt is not refused: nothing stands between it and its gate that could read something else.
    """
    document = context.document
    if document is None or document.request_id is None:
        return decision
    documents, contract = context.documents, context.documents.contract_of(document)
    rules = documents.find_rules(contract) if contract.has_readable_refs else ()
    followed = list_pinned_fields(context.execution.workflow, contract, (), rules)
    now = documents.refs.pins_of(RefQuery(contract, followed, document.data)) if followed else {}
    if not now:
        return decision
    approved = decision.pins if decision.pins is not None else context.execution.projection.pins
    asked: Mapping[str, Mapping[str, object]] = (
        read_request_pins(documents.connection, context.tenant_id, document.request_id) or {}
    )
    changed = list_changed_since(asked, now, approved)
    if changed and node.config["kind"] == "requested":
        sentence = f"{', '.join(changed)} leads to something else now than when this was asked for"
        return refuse_gate(node, sentence, {"code": REFERENCES_CHANGED, "changed": changed})
    return replace(decision, pins=pin_decided(now, approved, str(document.request_id)))
