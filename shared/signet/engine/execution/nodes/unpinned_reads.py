"""The fields of other documents that a step reads behind a gate, and no approval of its document has pinned.

Nobody has seen such a value. It is not read: the token is held, until a definition without it is in force, or
people decide again. So it is where a condition would read a personal value that was erased since then, or
since they were asked.
"""

from dataclasses import replace
from functools import partial

from signet.core.approvals.unpinned_reads import list_pointed_behind, list_unpinned_fields
from signet.core.contracts.compiled_contract import CompiledContract
from signet.core.documents.personal_data import (
    READS_ERASED,
    describe_erased,
    list_gaps,
    resolve_personal,
)
from signet.core.errors import Rejected
from signet.core.expressions import FollowedField
from signet.core.runtime.workflow import Workflow, WorkflowNode
from signet.core.runtime.workflow_reads import TELLING, read_by, read_by_conditions, read_to_choose
from signet.engine.documents.decisions.record import DocumentDecisions
from signet.engine.execution.nodes.context import InstanceContext
from signet.engine.execution.nodes.decided_way import read_decided_way
from signet.store.approvals.requests import find_approving_instance
from signet.store.documents.write import DocumentRow
from signet.store.instances.write import read_beginning

# An instance of a document that was there before it.
_LATER = ("reentered", "restarted")
_ASKING = ("approval", "lifecycle_gate")


def find_unpinned_read(context: InstanceContext, node: WorkflowNode) -> str | None:
    """Return why the node may not read: no approval of the document has pinned what it reads."""
    document = context.document
    if document is None or node.type.name in _ASKING:
        return None
    read = read_by(context.execution.workflow, context.documents.contract_of(document), node)
    if not read or _is_asked_ahead(context.execution.workflow, node):
        return None
    unpinned = _list_pointed(context, document, read) or _list_read_later(context, document, read)
    return _describe(node, unpinned) if unpinned else None


def find_erased_read(context: InstanceContext, node: WorkflowNode, *, has_left: bool = False) -> str | None:
    """Return why the node may not go on. Only a personal field that holds nothing costs a statement.

    A call that has left has said what was there then.
    """
    document, documents = context.document, context.documents
    if document is None:
        return None
    contract = documents.contract_of(document)
    personal = contract.personal_fields
    if not personal:
        return None
    read = read_to_choose(context.execution.workflow, contract, node, has_left=has_left)
    read |= _read_by_rules(context, contract, node)
    gaps = list_gaps(read, personal, resolve_personal(document.data, document.personal or {}))
    if not gaps:
        return None
    record = DocumentDecisions(documents.connection, context.tenant_id, document.id)
    erased = record.find_erased_since(gaps, partial(read_decided_way, context))
    return f"{READS_ERASED}: {describe_erased(node.id, erased)}" if erased else None


def _read_by_rules(
    context: InstanceContext, contract: CompiledContract, node: WorkflowNode
) -> frozenset[str]:
    """Return the fields of the document that the rules of a `rule` node read."""
    rules = context.documents.find_rules(contract) if node.type.name == "rule" else ()
    if isinstance(rules, Rejected):
        # The node itself is held by that.
        return frozenset()
    asked = (rule.own_fields for rule in rules if rule.rule.name in node.config["rules"])
    return frozenset[str]().union(*asked)


def find_pointed_ahead(context: InstanceContext, workflow: Workflow, node: WorkflowNode) -> str | None:
    """Return why a new instance could not read at a node: steps of the last one have pointed refs."""
    document = context.document
    if document is None or node.type.name in _ASKING or _is_asked_ahead(workflow, node):
        return None
    read = read_by(workflow, context.documents.contract_of(document), node)
    unpinned = list_pointed_behind(context.execution.projection.pins, document.data, read)
    return _describe(node, unpinned) if unpinned else None


def find_unpinned_way(context: InstanceContext, node: WorkflowNode) -> str | None:
    """Return why no edge may be chosen behind the node: it has pointed the ref that a condition follows."""
    document = context.document
    if document is None or _is_asked_ahead(context.execution.workflow, node):
        return None
    unpinned = _list_pointed(context, document, _read_by_conditions(context, document, node))
    return _describe(node, unpinned) if unpinned else None


def follows_refs_behind(context: InstanceContext, node: WorkflowNode) -> bool:
    """Return whether conditions behind the node follow refs."""
    document = context.document
    return document is not None and bool(_read_by_conditions(context, document, node))


def _read_by_conditions(
    context: InstanceContext, document: DocumentRow, node: WorkflowNode
) -> frozenset[FollowedField]:
    return read_by_conditions(context.documents.contract_of(document), node)


def _describe(node: WorkflowNode, unpinned: frozenset[FollowedField]) -> str:
    read = ", ".join(sorted(map(".".join, unpinned)))
    return f"READS_UNPINNED: {node.id} reads {read}, which no approval of the document has pinned"


def _is_asked_ahead(workflow: Workflow, node: WorkflowNode) -> bool:
    """Return whether people are asked before the value is used."""
    gate = workflow.exit_gate_of(node.id)
    is_ahead = gate is not None and gate.id in workflow.guarded_gates
    # What leaves the tenant cannot be asked about afterwards.
    return is_ahead and node.type.name not in TELLING


def _list_pointed(
    context: InstanceContext, document: DocumentRow, read: frozenset[FollowedField]
) -> frozenset[FollowedField]:
    """List what is read of documents that a step has pointed a ref to behind the gate."""
    return list_pointed_behind(context.documents.pins.of(document.id), document.data, read)


def _list_read_later(
    context: InstanceContext, document: DocumentRow, read: frozenset[FollowedField]
) -> frozenset[FollowedField]:
    """List what a later instance reads, and the approval under an older definition has not pinned."""
    if context.row.birth not in _LATER or context.row.id in context.approvals.rows.applied.values():
        return frozenset()
    pins = context.documents.pins.of(document.id)
    unknown = frozenset(
        (ref, name)
        for ref, name in read
        if document.data.get(ref) is not None and name not in pins.get(ref, {}).get("values", ())
    )
    return unknown & _list_unpinned(context, document) if unknown else frozenset()


def _list_unpinned(context: InstanceContext, document: DocumentRow) -> frozenset[FollowedField]:
    """List what this definition reads, and the one under which the document was approved last does not."""
    connection, documents = context.documents.connection, context.documents
    approved = find_approving_instance(connection, context.tenant_id, document.id)
    if approved is None or approved.instance_id == context.row.id:
        return frozenset()
    old = documents.compiled.read(
        connection, context.tenant_id, approved.definition_id, approved.definition_version
    )
    beginning = read_beginning(connection, context.tenant_id, context.row.id)
    status = document.status
    if beginning is not None and beginning.begin_node.startswith("sys:state:"):
        status = beginning.begin_node.removeprefix("sys:state:")
    under = replace(document, contract_version=old.content["contract"]["version"])
    new = context.execution.workflow, documents.contract_of(document)
    is_decided = read_decided_way(context).is_decided
    return list_unpinned_fields(old, documents.contract_of(under), *new, status, is_decided=is_decided)
