"""How an instance takes what people did to its document since it last moved: an edit, a request."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from signet.core.compiler.slot_graph import slot_in
from signet.core.runtime.decisions import DecisionInput, TransitionRequest, decide
from signet.core.runtime.execution import Blocked, InstanceExecution, ReadDecisionInput
from signet.core.runtime.projection import Actor, Step
from signet.core.runtime.tokens import Token, TokenState

DRIFT = "WORKFLOW_VERSION_DRIFT"


@dataclass(frozen=True, slots=True)
class DocumentState:
    """The document as its workflow finds it."""

    version: int
    status: str
    request: TransitionRequest | None = None
    # Who has decided about what is under way, and may not also be who asks for it.
    deciders: Collection[str] = ()


# Why a gate cannot be passed now by whoever asks for it; None when it can.
TryGate = Callable[[str, Actor], str | None]


def apply_document_changes(
    execution: InstanceExecution,
    document_state: DocumentState,
    read_input: ReadDecisionInput,
    try_gate: TryGate,
) -> Step | None:
    """First what was changed, then what is asked for. The answer is the step that refuses it."""
    if execution.is_running and document_state.version != execution.projection.entity_version:
        _take_edit(execution, document_state)
    request = document_state.request
    if not execution.is_running or request is None or request.id == execution.projection.request:
        return None  # nothing is asked for, or it is on its way
    reason = _take_request(execution, document_state, request, read_input, try_gate)
    if reason is None:
        return None
    return execution.control(
        "refused", {"transition": request.transition, "reason": reason}, request=request.id
    )


def _take_edit(execution: InstanceExecution, document_state: DocumentState) -> None:
    """In a stable region nobody can have edited it (WF-05); elsewhere its way begins anew."""
    seen = {"seen": execution.projection.entity_version, "found": document_state.version}
    live = _live_nodes(execution)
    stable = [node_id for node_id in live if node_id in execution.workflow.stable_nodes]
    if stable:
        execution.pause(Blocked(DRIFT, {**seen, "node": stable[0]}))
        return
    execution.control("edited", seen, version_after=document_state.version)
    if execution.workflow.kind == "automation":
        return  # it goes on, and reads the new version
    on_the_way = [node_id for node_id in live if execution.workflow.return_state_of(node_id) != node_id]
    if on_the_way:
        home = execution.workflow.return_state_of(on_the_way[0]) or state_of(document_state.status)
        execution.control("sent_to", {"node": home, "because": "edited"})


def _take_request(
    execution: InstanceExecution,
    document_state: DocumentState,
    request: TransitionRequest,
    read_input: ReadDecisionInput,
    try_gate: TryGate,
) -> str | None:
    """The answer is why it cannot be served."""
    gate = _find_interrupt(execution, document_state.status, request)
    if gate is not None and (reason := try_gate(gate, request.actor)) is not None:
        return reason  # it would only take away what is under way
    for token in execution.find_waiting_states():
        if _leave_state(execution, token, request, read_input(token)):
            return None
    if any(_takes(execution, token, request) for token in execution.projection.position.ready()):
        return None  # the state is about to be entered, and will decide it
    if gate is not None:
        data = {"node": gate, "transition": request.transition}
        execution.control("sent_to", data, request=request.id, actor=request.actor)
        return None
    live = _live_nodes(execution)
    is_on_its_way = bool(live) and all(_serves(execution, node_id, request) for node_id in live)
    if is_on_its_way and request.actor.id not in document_state.deciders:
        data = {"transition": request.transition}
        execution.control("asked_again", data, request=request.id, actor=request.actor)
        return None
    # Another exit than the one that it was on the way to, or asked for by who has decided about it: back to
    # where it began.
    home = (execution.workflow.return_state_of(live[0]) if live else None) or state_of(document_state.status)
    if not execution.workflow.can_leave_by(home, request.transition):
        return f"nothing here leads to '{request.transition}'"
    execution.control("sent_to", {"node": home, "because": "another request"})
    return None


def _serves(execution: InstanceExecution, node_id: str, request: TransitionRequest) -> bool:
    """Whether the node is on the way that the request asks for."""
    workflow = execution.workflow
    node = workflow.nodes[node_id]
    if node.type.name == "lifecycle_gate":
        return bool(node.config["transition"] == request.transition)
    home, slot = workflow.return_state_of(node_id), workflow.content["slot_map"].get(node_id)
    if home is None or slot is None:
        return False
    edges = workflow.nodes[home].edges.get("requested", ())
    return any(edge.transition == request.transition and edge.target == slot_in(slot) for edge in edges)


def state_of(status: str) -> str:
    return f"sys:state:{status}"


def _leave_state(
    execution: InstanceExecution, token: Token, request: TransitionRequest, decision_input: DecisionInput
) -> bool:
    asked = replace(decision_input, requested=request)
    decision = decide(execution.workflow, token, asked)
    if decision.request != request.id:
        return False
    execution.end(execution.open[token.id], decision, has_waited=True)
    return True


def _takes(execution: InstanceExecution, token: Token, request: TransitionRequest) -> bool:
    node = execution.workflow.nodes[token.node]
    return node.type.name in ("start", "state") and (
        node.type.name == "start" or execution.workflow.can_leave_by(node.id, request.transition)
    )


def _find_interrupt(execution: InstanceExecution, status: str, request: TransitionRequest) -> str | None:
    state = execution.workflow.nodes.get(state_of(status))
    edges = state.edges.get("interrupted", ()) if state is not None else ()
    return next((edge.target for edge in edges if edge.transition == request.transition), None)


def _live_nodes(execution: InstanceExecution) -> list[str]:
    live = (TokenState.READY, TokenState.WAITING)
    return [token.node for token in execution.projection.position.tokens.values() if token.state in live]
