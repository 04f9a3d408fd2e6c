"""The reads of a workflow's nodes: fields of its document, of other documents behind refs, and variables.

Only the contract knows what is a ref. Each answer is worked out once, and kept with the workflow.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from signet.core.contracts.compiled_contract import CompiledContract
from signet.core.contracts.contract import OPAQUE
from signet.core.documents.personal_data import list_gaps, list_own_fields
from signet.core.expressions import (
    Expression,
    FollowedField,
    list_template_parts,
    list_variables,
    template_from_json,
)
from signet.core.runtime.workflow import Workflow, WorkflowNode

# Nodes whose own expressions are conditions.
_WITH_CONDITIONS = ("policy_gate", "lifecycle_gate")
# What leaves the tenant says what is there, unless the answer chooses the way.
TELLING = ("webhook_out", "notification")


def followed_fields(workflow: Workflow, contract: CompiledContract) -> frozenset[FollowedField]:
    """Return what the workflow reads behind refs of its document."""
    key = "workflow", contract.hash
    return _keep(workflow, key, lambda: contract.find_followed(_list_expressions(workflow)))


def followed_by(
    workflow: Workflow, contract: CompiledContract, node: WorkflowNode
) -> frozenset[FollowedField]:
    """Return what one node reads behind refs of its document."""
    key = "node", contract.hash, node.id
    return _keep(workflow, key, lambda: contract.find_followed(_list_parts(workflow, node)))


def read_by(workflow: Workflow, contract: CompiledContract, node: WorkflowNode) -> frozenset[FollowedField]:
    """Return what a node, the action that it runs and the edges behind it read behind refs."""
    own = followed_by(workflow, contract, node) | _read_by_action(contract, node)
    return own | read_by_conditions(contract, node)


def read_by_conditions(contract: CompiledContract, node: WorkflowNode) -> frozenset[FollowedField]:
    """Return what the conditions of the edges behind a node read behind refs."""
    conditions = list(_list_conditions(node))
    return contract.find_followed(conditions) if conditions else frozenset()


def sources_of(
    workflow: Workflow, contract: CompiledContract, node: WorkflowNode
) -> frozenset[FollowedField]:
    """Return what the node reads behind refs of its document, where it sets a variable."""
    if not node.sets_variables:
        return frozenset()
    return followed_by(workflow, contract, node) | _read_by_action(contract, node)


def deciding_fields_of(
    workflow: Workflow, contract: CompiledContract, node: WorkflowNode
) -> frozenset[FollowedField]:
    """Return what the conditions of a node and of the edges behind it read behind refs.

    What a node reads decides its way, too, where an edge leads on from its error.
    """

    def find() -> frozenset[FollowedField]:
        own = followed_by(workflow, contract, node) if node.type.name in _WITH_CONDITIONS else frozenset()
        failing = read_by(workflow, contract, node) if node.edges.get("error") else frozenset()
        return own | failing | read_by_conditions(contract, node)

    return _keep(workflow, ("deciding", contract.hash, node.id), find)


def list_careful_nodes(workflow: Workflow, contract: CompiledContract) -> Mapping[str, bool]:
    """List the nodes whose reads may hold them, each with whether it may read behind refs; most are none.

    They read other documents, personal fields or variables: themselves, or by their actions, rules or edges.
    """
    if contract.hash not in workflow.careful_nodes:
        workflow.careful_nodes[contract.hash] = {
            node.id: _reads_refs(workflow, contract, node)
            for node in workflow.nodes.values()
            if _reads_refs(workflow, contract, node)
            or workflow.variables_read[node.id]
            or list_gaps(read_to_choose(workflow, contract, node), contract.personal_fields, {})
            or (node.type.name == "rule" and contract.personal_fields)
        }
    return workflow.careful_nodes[contract.hash]


def read_to_choose(
    workflow: Workflow, contract: CompiledContract, node: WorkflowNode, *, has_left: bool = False
) -> frozenset[str]:
    """Return the fields of its document by which a node and the edges behind it choose the way.

    What sets a variable or writes the document counts too: a later condition may read that. So does what a
    call says, where its answer chooses: `has_left` says that it has said it.
    """

    def find() -> frozenset[str]:
        is_told = node.type.name in TELLING and (has_left or not _is_answered(node))
        own = () if is_told else _list_parts(workflow, node)
        taken = contract.parts_of_actions.get(node.config.get("action", ""), ())
        return list_own_fields((*own, *taken, *_list_conditions(node)))

    return _keep(workflow, ("left" if has_left else "choose", contract.hash, node.id), find)


def _is_answered(node: WorkflowNode) -> bool:
    """Return whether the answer to a call leads on in another way, or is kept."""
    is_call = node.type.name == "webhook_out"
    return is_call and bool(node.edges.get("error") or node.config["save_as"])


def reads_variables(workflow: Workflow, node: WorkflowNode) -> bool:
    """Return whether the node takes a value from a variable. A function in Python may read every one."""
    action = workflow.actions.get(node.config.get("action", ""))
    if action is not None and action.kind in OPAQUE:
        return True
    names = (name for part in _list_parts(workflow, node) for name in list_variables(part))
    return any(name.path[0] == "context" for name in names)


def _keep(workflow: Workflow, key: tuple[str, ...], find: Callable[[], frozenset[Any]]) -> frozenset[Any]:
    if key not in workflow.reads:
        workflow.reads[key] = find()
    return workflow.reads[key]


def _reads_refs(workflow: Workflow, contract: CompiledContract, node: WorkflowNode) -> bool:
    if contract.has_readable_refs and node.type.name == "rule":
        return True
    known = workflow, contract, node
    return bool(read_by(*known) or deciding_fields_of(*known))


def _read_by_action(contract: CompiledContract, node: WorkflowNode) -> frozenset[FollowedField]:
    return contract.refs_of_actions.get(node.config.get("action", ""), frozenset())


def _list_expressions(workflow: Workflow) -> Iterator[Expression]:
    """Yield all expressions of nodes and edges, also those of their templates."""
    for node in workflow.nodes.values():
        yield from _list_parts(workflow, node)
        yield from _list_conditions(node)


def _list_parts(workflow: Workflow, node: WorkflowNode) -> Iterator[Expression]:
    """Yield the expressions of a node, also those of its templates."""
    yield from (compiled.expression for compiled in node.expressions.values())
    for tree in workflow.content["nodes"][node.id].get("logic", {}).values():
        if "template" in tree:
            yield from list_template_parts(template_from_json(tree["template"]))


def _list_conditions(node: WorkflowNode) -> Iterator[Expression]:
    """Yield the conditions of the edges behind a node."""
    for edges in node.edges.values():
        yield from (edge.condition.expression for edge in edges if edge.condition is not None)
