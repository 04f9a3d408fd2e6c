"""The gate of a request that decides: what its requester has seen is what passes, and holds behind it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from signet.core.approvals.decided_pins import list_changed_since, pin_decided
from signet.core.approvals.pins import Pins, list_pinned_fields
from signet.core.contracts.compiled_contract import CompiledContract
from signet.core.contracts.contract import CHANGING
from signet.core.runtime.decisions import Decision, refuse_gate
from signet.core.runtime.document_changes import REFERENCES_CHANGED
from signet.core.runtime.workflow import WorkflowNode
from signet.engine.documents.references import RefQuery
from signet.engine.execution.nodes.context import InstanceContext
from signet.engine.execution.nodes.outdated_variables import describe_outdated, find_outdated
from signet.store.documents.read import DecidedRequest, read_decided
from signet.store.documents.write import DocumentRow

_NOTHING = DecidedRequest(None, None)


def decide_by_request(context: InstanceContext, node: WorkflowNode, decision: Decision) -> Decision:
    """Let what follows read what was decided about, or refuse a request about what nobody has seen."""
    document = context.document
    if document is None or document.request_id is None:
        return decision
    unseen = find_outdated(context, context.execution.workflow.unasked_variables[node.id])
    if unseen:
        sentence = f"what is done behind it reads {describe_outdated(unseen)}"
        return refuse_gate(node, sentence, {"code": "VARIABLE_OUTDATED", "variables": sorted(unseen)})
    contract = context.documents.contract_of(document)
    now, asked = _pin_now(context, contract, document), _NOTHING
    if now or _has_changing_action(context, node, contract):
        asked = read_decided(context.documents.connection, context.tenant_id, document.request_id) or _NOTHING
    changed = _list_changed_fields(asked.data, document.data)
    if changed:
        sentence = f"a step has changed {', '.join(changed)} since this was asked for"
        return refuse_gate(node, sentence, {"code": "DOCUMENT_CHANGED", "changed": changed})
    return _pin(context, node, decision, asked.pins or {}, now) if now else decision


def _pin_now(context: InstanceContext, contract: CompiledContract, document: DocumentRow) -> Pins:
    """Return what the definition reads of other documents, as it is now."""
    documents = context.documents
    rules = documents.find_rules(contract) if contract.has_readable_refs else ()
    followed = list_pinned_fields(context.execution.workflow, contract, (), rules)
    return documents.refs.pins_of(RefQuery(contract, followed, document.data)) if followed else {}


def _pin(
    context: InstanceContext, node: WorkflowNode, decision: Decision, asked: Pins, now: Pins
) -> Decision:
    """Pin what the request has seen, or refuse it.

    An interrupt is not refused: nothing stands between it and its gate that could read something else.
    """
    document = context.document
    approved = decision.pins if decision.pins is not None else context.execution.projection.pins
    changed = list_changed_since(asked, now, approved)
    if changed and node.config["kind"] == "requested":
        sentence = f"{', '.join(changed)} leads to something else now than when this was asked for"
        return refuse_gate(node, sentence, {"code": REFERENCES_CHANGED, "changed": changed})
    request_id = document.request_id if document is not None else None
    return replace(decision, pins=pin_decided(now, approved, str(request_id)))


def _has_changing_action(context: InstanceContext, gate: WorkflowNode, contract: CompiledContract) -> bool:
    """Return whether an action in the slot before the gate can change what the requester has seen."""
    workflow, actions = context.execution.workflow, contract.contract.actions
    return any(
        node.type.name == "action"
        and (action := actions.get(node.config["action"])) is not None
        and action.kind in CHANGING
        and workflow.exit_gate_of(node.id) is gate
        for node in workflow.nodes.values()
    )


def _list_changed_fields(before: Mapping[str, Any] | None, now: Mapping[str, Any]) -> Sequence[str]:
    if before is None:
        return ()
    return sorted(name for name in before.keys() | now.keys() if before.get(name) != now.get(name))
