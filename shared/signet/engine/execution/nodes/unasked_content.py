"""The content of a document that nobody was asked about: nothing is done with it, and it does not move on."""

from functools import partial

from signet.core.approvals.unasked_content import moves_on
from signet.core.runtime.go_to_targets import has_lasting_effect
from signet.core.runtime.workflow import WorkflowNode
from signet.engine.documents.done_by_decision import find_unasked
from signet.engine.execution.nodes.context import InstanceContext
from signet.engine.execution.nodes.decided_way import read_decided_way


def find_unasked_act(context: InstanceContext, node: WorkflowNode) -> str | None:
    """Return why a node neither calls nor makes a document, unless people are asked behind it in any case."""
    document, workflow = context.document, context.execution.workflow
    if document is None or not has_lasting_effect(workflow, node.id):
        return None
    if workflow.look_ahead(context.documents.contract_of(document), node.id).asks_in_any_case:
        return None
    return _find_unasked(context)


def find_unasked_passage(context: InstanceContext, gate: WorkflowNode) -> str | None:
    """Return why a gate does not move the document on."""
    document, workflow = context.document, context.execution.workflow
    if document is None:
        return None
    contract = context.documents.contract_of(document)
    may_ask = workflow.look_ahead(contract, gate.id).may_ask
    if not moves_on(contract.contract, gate.config["transition"], gate.config["to"], may_ask=may_ask):
        return None
    return _find_unasked(context)


def _find_unasked(context: InstanceContext) -> str | None:
    """Find what nobody was asked about. An approval that waits for its gate is an answer, too."""
    document = context.document
    assert document is not None
    unused = context.approvals.list_unused(context.row.id)
    if any(request.document_version == document.version for request in unused):
        return None
    documents = context.documents
    contract = documents.contract_of(document).contract
    read_way = partial(read_decided_way, context)
    return find_unasked(documents.connection, documents.refs, context.tenant_id, document, contract, read_way)
