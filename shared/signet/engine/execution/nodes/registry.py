"""The handlers of acting nodes, by type. `core/runtime/decisions.py` decides for all other nodes."""

from collections.abc import Mapping
from dataclasses import replace

from signet.core.runtime.decisions import DecisionInput
from signet.core.runtime.done_before import EarlierStep
from signet.core.runtime.execution import ActionPlan, Blocked, PendingAction
from signet.core.runtime.go_to_targets import has_lasting_effect
from signet.core.runtime.position import Token, TokenState
from signet.core.runtime.projection import Actor, Step
from signet.core.runtime.tokens import ROOT
from signet.core.runtime.workflow import WorkflowNode
from signet.engine.documents.amendments import foresee_movement
from signet.engine.execution.nodes.action import ActionHandler
from signet.engine.execution.nodes.approval import ApprovalHandler
from signet.engine.execution.nodes.context import InstanceContext
from signet.engine.execution.nodes.decided_way import find_unasked_act
from signet.engine.execution.nodes.done_once import conclude_as_before
from signet.engine.execution.nodes.handler import HandlerResult, NodeHandler
from signet.engine.execution.nodes.lifecycle_gate import LifecycleGateHandler
from signet.engine.execution.nodes.notification import NotificationHandler
from signet.engine.execution.nodes.outdated_variables import find_outdated_read
from signet.engine.execution.nodes.unpinned_reads import find_erased_read, find_unpinned_read
from signet.engine.execution.nodes.variable_sources import keep_deciders, keep_sources
from signet.engine.execution.nodes.waits.event import WaitEventHandler
from signet.engine.execution.nodes.waits.timer import WaitTimerHandler
from signet.engine.execution.nodes.webhook_out import WebhookOutHandler

HANDLERS: Mapping[str, NodeHandler] = {
    "lifecycle_gate": LifecycleGateHandler(),
    "action": ActionHandler(),
    "approval": ApprovalHandler(),
    "webhook_out": WebhookOutHandler(),
    "notification": NotificationHandler(),
    "wait_timer": WaitTimerHandler(),
    "wait_event": WaitEventHandler(),
}

_FOR_ANYBODY = frozenset(("approval", "lifecycle_gate", "wait_event", "wait_timer"))


def read_input(context: InstanceContext, token: Token) -> DecisionInput:
    """Return what the decision of a step reads, and keep the persons behind it."""
    deciding = context.execution.workflow.nodes[token.node]
    reads_refs = context.careful_nodes.get(deciding.id)
    if reads_refs is None:
        return context.decision_input(token)
    problem = _find_unread(context, deciding, token, reads_refs=reads_refs)
    if problem:
        return replace(context.decision_input(token), problem=problem)
    if reads_refs:
        keep_sources(context, deciding)
        keep_deciders(context, deciding)
    return context.decision_input(token)


def prepare(context: InstanceContext, node: WorkflowNode, token: Token) -> ActionPlan | Blocked:
    # A member must stand behind what acts. People are asked for anybody, and time and events come for
    # anybody. A gate asks for itself.
    problem = context.find_actor_problem(node) if node.type.name not in _FOR_ANYBODY else None
    if problem is not None:
        return Blocked(problem)
    reads_refs = context.careful_nodes.get(node.id)
    unread = None if reads_refs is None else _find_unread(context, node, token, reads_refs=reads_refs)
    if unread is not None:
        return Blocked(unread)
    moved = _find_moved_original(context, node)
    if moved is not None:
        return moved
    unasked = find_unasked_act(context, node)
    if unasked is not None:
        return Blocked(unasked)
    if reads_refs:
        keep_sources(context, node)
    return HANDLERS[node.type.name].prepare(context, node, token)


def _find_unread(
    context: InstanceContext, node: WorkflowNode, token: Token, *, reads_refs: bool
) -> str | None:
    """Return why the node may not read what it would. A gate sends back what was rejected all the same."""
    unread = find_unpinned_read(context, node) if reads_refs else None
    is_sent_back = token.rejected and node.type.name == "lifecycle_gate"
    if unread is not None or is_sent_back:
        return unread
    return find_outdated_read(context, node) or find_erased_read(context, node)


def _find_moved_original(context: InstanceContext, node: WorkflowNode) -> Blocked | None:
    """Return why the node does nothing: it would pay or order for an amendment whose gate does not open.

    What ends the amendment for good goes on. So does what is done behind the gate that it settled by. Only an
    amendment costs a statement.
    """
    document, workflow = context.document, context.execution.workflow
    if document is None or document.amended_from_id is None or not has_lasting_effect(workflow, node.id):
        return None
    states = context.documents.contract_of(document).contract.states
    targets = [states[workflow.nodes[gate].config["to"]] for gate in workflow.list_gates_of_slot(node.id)]
    if all(state.final and not state.settled for state in targets):
        return None
    connection, tenant_id = context.documents.connection, context.tenant_id
    moved = foresee_movement(connection, tenant_id, document.id, context.documents.contract_of)
    return None if moved is None else Blocked(moved.message, {"code": moved.code})


def act(context: InstanceContext, pending: PendingAction) -> HandlerResult:
    """Let the node act, or take the answer of the first time where it has acted behind the gate before."""
    if isinstance(pending.plan, EarlierStep):
        result = conclude_as_before(context, pending, pending.plan)
    else:
        result = HANDLERS[pending.node.type.name].act(context, pending)
    if result.decision is not None and context.careful_nodes.get(pending.node.id):
        keep_deciders(context, pending.node)
    return result


def resume(context: InstanceContext, node: WorkflowNode, step: Step) -> HandlerResult | Blocked | None:
    """Let the node look at what its step waits for."""
    result = HANDLERS[node.type.name].resume(context, node, step)
    if isinstance(result, HandlerResult) and result.decision is not None:
        erased = find_erased_read(context, node, has_left=True) if node.type.name != "approval" else None
        if erased is not None:
            return Blocked(erased)
        if context.careful_nodes.get(node.id):
            keep_deciders(context, node)
    return result


def try_gate(context: InstanceContext, gate: str, asker: Actor) -> str | None:
    """Return why the asker cannot pass the gate. What is under way was requested by another person."""
    projection, node = context.execution.projection, context.execution.workflow.nodes[gate]
    token = Token(ROOT, gate, TokenState.READY, projection.entity_version)
    served, projection.actor = projection.actor, asker
    try:
        prepared = prepare(context, node, token)
    finally:
        projection.actor = served
    return prepared.reason if isinstance(prepared, Blocked) else None
