"""The record of what people have decided about a document, with what this transaction adds to it.

With content that nobody was asked about nothing is done, and the document does not move on.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from signet.core.approvals.decided_way import DecidedWay, StatusRun, read_way
from signet.core.approvals.eligibility import PeopleBehind, list_counted, separation_conflict
from signet.core.approvals.pins import list_unchanged_refs
from signet.core.approvals.unasked_content import moves_on
from signet.core.runtime.document_changes import DocumentState
from signet.core.runtime.go_to_targets import has_lasting_effect
from signet.core.runtime.projection import Step
from signet.core.runtime.workflow import WorkflowNode
from signet.engine.documents.decisions.done_by_decision import read_unasked
from signet.engine.documents.paused_requests import REQUEST_WITHDRAWN
from signet.engine.execution.nodes.context import InstanceContext
from signet.store.approvals.decided_ways import list_status_runs
from signet.store.documents.write import DocumentRow


def read_decided_way(context: InstanceContext) -> DecidedWay:
    """Read where people have decided on the way of the document. It costs a statement."""
    document = context.document
    if document is None:
        return DecidedWay()
    connection = context.documents.connection
    runs = list(list_status_runs(connection, context.tenant_id, [document.id]).get(document.id, ()))
    runs = runs or [StatusRun(1, document.status)]
    deciding = context.documents.contract_of(document).contract.separation_of_duties.deciding
    nodes = context.execution.workflow.nodes
    for gate in _list_new_gates(context):
        is_deciding = gate.outcome == "passed" and nodes[gate.node].config["transition"] in deciding
        if gate.pins is not None or is_deciding:
            runs[-1] = replace(runs[-1], decided_at=(*runs[-1].decided_at, gate.version_after - 1))
        status = _read_status(context, gate)
        if status != runs[-1].status:
            runs.append(StatusRun(gate.version_after, status))
    return read_way(runs, context.execution.workflow.is_behind_approvals)


def find_document_state(context: InstanceContext) -> DocumentState | None:
    """Find the document as the wave finds it. Where an edit may take pins away, read who has decided."""
    state, execution = read_document_state(context), context.execution
    if state is not None and state.unchanged_refs and state.version != execution.projection.entity_version:
        execution.is_decided = read_decided_way(context).is_decided
    return state


def read_document_state(context: InstanceContext) -> DocumentState | None:
    document = context.document
    if document is None:
        return None
    request = context.find_request(document)
    deciders = _list_deciders(context, document) if request is not None else ()
    changed, erased = context.approvals.list_changes(context.row.id, context.execution)
    kept = list_unchanged_refs(context.execution.projection.pins, document.data)
    begins, pause = context.row.birth == "reentered" and context.row.version == 0, document.pause or {}
    found = document.version, document.status, request, deciders, changed, erased, kept, begins
    further = pause.get("is_by_person", False), context.has_trigger(REQUEST_WITHDRAWN)
    return DocumentState(*found, *further, is_amendment=document.amended_from_id is not None)


def _list_deciders(context: InstanceContext, document: DocumentRow) -> list[str]:
    """Return the people whose votes count in what is under way, and would not if they requested it."""
    contract, pending = (
        context.documents.contract_of(document),
        context.approvals.list_pending(context.row.id),
    )
    counted = {person for request in pending for person in list_counted(request.seats)}
    asking = {person: PeopleBehind(requesters=frozenset((person,))) for person in sorted(counted)}
    return [person for person, alone in asking.items() if separation_conflict(contract, alone)(person)]


def find_unasked_act(context: InstanceContext, node: WorkflowNode) -> str | None:
    """Return why a node neither calls nor makes a document, unless people are asked behind it in any case.

    What a gate of this wave has used an approval for was asked about.
    """
    document, workflow = context.document, context.execution.workflow
    if document is None or not has_lasting_effect(workflow, node.id):
        return None
    if context.row.id in context.approvals.rows.applied.values():
        return None
    if workflow.look_ahead(context.documents.contract_of(document), node.id).asks_in_any_case:
        return None
    return _read_unasked(context)


def find_unasked_passage(context: InstanceContext, gate: WorkflowNode) -> str | None:
    """Return why a gate does not move the document on."""
    document, workflow = context.document, context.execution.workflow
    if document is None:
        return None
    contract = context.documents.contract_of(document)
    may_ask = workflow.look_ahead(contract, gate.id).may_ask
    if not moves_on(contract.contract, gate.config["transition"], gate.config["to"], may_ask=may_ask):
        return None
    return _read_unasked(context)


def _read_unasked(context: InstanceContext) -> str | None:
    """Find what nobody was asked about. An approval that waits for its gate is an answer, too."""
    document = context.document
    assert document is not None
    unused = context.approvals.list_unused(context.row.id)
    if any(request.document_version == document.version for request in unused):
        return None
    documents = context.documents
    contract = documents.contract_of(document).contract
    read_way = partial(read_decided_way, context)
    return read_unasked(documents.connection, context.tenant_id, document, contract, read_way)


def _list_new_gates(context: InstanceContext) -> Iterator[Step]:
    """List the gates whose documents are not written yet."""
    for _, step in sorted(context.execution.changed.items()):
        is_gate = (
            not step.is_control and context.execution.workflow.nodes[step.node].type.name == "lifecycle_gate"
        )
        if is_gate and step.outcome in ("passed", "rejected"):
            yield step


def _read_status(context: InstanceContext, gate: Step) -> str:
    """Return the status that a gate has given the document."""
    workflow = context.execution.workflow
    if gate.outcome == "passed":
        return str(workflow.nodes[gate.node].config["to"])
    return str(workflow.nodes[workflow.find_edge(gate.chosen_edge_ids[0]).target].config["state"])
