"""Changes of a document since its instance last moved, an edit and a request, and their effect on it."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from enum import Enum, auto

from signet.core.compiler.slot_graph import slot_in
from signet.core.runtime.decisions import Decision, TransitionRequest, decide
from signet.core.runtime.execution import Blocked, InstanceExecution, ReadDecisionInput
from signet.core.runtime.go_to_targets import find_undecided
from signet.core.runtime.position import Token
from signet.core.runtime.projection import CONTROL, DRIFT, INHERITED, Actor, Step
from signet.core.runtime.resting_states import find_resting_state, state_node
from signet.core.runtime.workflow import Workflow

# Why an instance is sent back to where its way began.
EDITED, REFERENCES_CHANGED, VALUES_ERASED = "edited", "references_changed", "values_erased"
ANOTHER_REQUEST, SENT_BY_OPERATOR = "another request", "sent by an operator"
CORRECTED = "the document was corrected"
REQUEST_WITHDRAWN = "the request was withdrawn"
PAUSED_FIRST = "INSTANCE_PAUSED: the workflow is paused"
BEGUN_FOR_NOTHING = "the request that it began for came to nothing"
_SENDS = frozenset({f"{CONTROL}sent_to", f"{CONTROL}gone_to"})


@dataclass(frozen=True, slots=True)
class DocumentState:
    """The document as a wave finds it."""

    version: int
    status: str
    request: TransitionRequest | None = None
    # People who have decided about what is under way: they may not also be its requester.
    deciders: Collection[str] = ()
    # Refs and variables that say something else than people are asked about, or have approved.
    changed_refs: Collection[str] = ()
    # Its fields whose personal values were erased since people were asked.
    erased_fields: Collection[str] = ()
    # Refs that lead where they led when a gate used an approval.
    unchanged_refs: Collection[str] = ()
    # The instance has begun for a request, and not gone a step yet.
    begins_for_request: bool = False
    # A person has paused the instance; nothing is served before they, or another person, resume it.
    is_paused_by_person: bool = False
    # A person has withdrawn the request that they asked for since the instance last moved.
    is_withdrawn: bool = False
    # It amends another document: it has a beginning of its own.
    is_amendment: bool = False


@dataclass(frozen=True, slots=True)
class SendingBack:
    """The reason for which an instance begins its way again, and the node where."""

    because: str
    node: str


class RequestAction(Enum):
    """The answer of an instance to a transition request."""

    REFUSE = auto()
    # A waiting state has an edge for the request: the token leaves by it.
    LEAVE_STATE = auto()
    # A token is about to enter a state that has an edge for it, and leaves by that.
    LEAVE_TO_STATE = auto()
    # All tokens are withdrawn; one begins at the interrupting gate.
    INTERRUPT = auto()
    # The tokens go on, and serve this request from here on. What is held is tried again for it.
    ASK_AGAIN = auto()
    # All tokens are withdrawn; one begins at the state that the request leaves.
    SEND_BACK = auto()


# Returns why a gate cannot be passed for the actor; None when it can.
TryGate = Callable[[str, Actor], str | None]


def apply_document_changes(
    execution: InstanceExecution,
    document_state: DocumentState,
    read_input: ReadDecisionInput,
    try_gate: TryGate,
) -> Step | None:
    """Apply the edit, then the request. Return the step that refuses the request, if it is refused."""
    if execution.takes_changes and document_state.version != execution.projection.entity_version:
        _take_edit(execution, document_state)
    elif execution.takes_changes and (document_state.changed_refs or document_state.erased_fields):
        erased = {"erased": sorted(document_state.erased_fields)} if document_state.erased_fields else {}
        execution.control("references_changed", {"refs": sorted(document_state.changed_refs), **erased})
        because = REFERENCES_CHANGED if document_state.changed_refs else VALUES_ERASED
        _send_back(execution, document_state, because)
    request = document_state.request
    reason, refusal = None, None
    if request is None:
        _leave_withdrawn(execution, document_state)
    # A request that is served already wants nothing more.
    elif execution.is_live and request.id != execution.projection.request:
        take = _take_request if execution.takes_changes else _take_while_paused
        reason = take(execution, document_state, request, read_input, try_gate)
    if request is not None and reason is not None:
        said = {"transition": request.transition, "reason": reason}
        refusal = execution.control("refused", said, request=request.id)
    if document_state.begins_for_request and (refusal is not None or request is None):
        _end_what_nobody_wants(execution)
    return refusal


def _leave_withdrawn(execution: InstanceExecution, document_state: DocumentState) -> None:
    """Send the instance back where its requester has withdrawn what it is on the way to."""
    if not document_state.is_withdrawn or not execution.is_live:
        return
    if any(_is_asked_for(execution.workflow, node_id) for node_id in _list_live_nodes(execution)):
        _send_back(execution, document_state, REQUEST_WITHDRAWN)


def _is_asked_for(workflow: Workflow, node_id: str) -> bool:
    """Return whether the node lies between a state and a gate that is only passed on request."""
    gate = workflow.nodes[node_id]
    if gate.type.name != "lifecycle_gate":
        found = workflow.exit_gate_of(node_id)
        if found is None:
            return False
        gate = found
    return bool(gate.config["kind"] == "requested")


def _take_while_paused(
    execution: InstanceExecution,
    document_state: DocumentState,
    request: TransitionRequest,
    read_input: ReadDecisionInput,
    try_gate: TryGate,
) -> str | None:
    """Serve an interrupt of what the engine has paused, or say why the request cannot be served now."""
    gate = _find_interrupt(execution.workflow, document_state.status, request)
    if gate is None or document_state.is_paused_by_person:
        return f"{PAUSED_FIRST}: {execution.projection.reason}"
    reason = try_gate(gate, request.actor)
    if reason is None:
        data = {"node": gate, "transition": request.transition}
        execution.control("resumed", {"transition": request.transition}, actor=request.actor)
        execution.control("sent_to", data, request=request.id, actor=request.actor)
    return reason


def _end_what_nobody_wants(execution: InstanceExecution) -> None:
    """End an instance whose request came to nothing, where it would go an automatic way by accident."""
    nodes = [execution.workflow.nodes[node_id] for node_id in _list_live_nodes(execution)]
    if any("automatic" in node.edges for node in nodes):
        execution.leave_document("cancelled", {"reason": BEGUN_FOR_NOTHING})


def find_sending_back(execution: InstanceExecution) -> SendingBack | None:
    """Return why and where the instance begins its way again: what people have approved on it counts no more.

    None is answered where it does not. An interrupt is another matter. Its gate uses no approval.
    """
    sendings = (
        SendingBack(str(step.data.get("because", SENT_BY_OPERATOR)), step.data["node"])
        for step in execution.changed.values()
        if step.node in _SENDS and execution.workflow.nodes[step.data["node"]].type.name != "lifecycle_gate"
    )
    return next(sendings, None)


def choose_request_action(
    *,
    can_pass_gate: bool | None,
    can_leave_state: bool,
    is_entering: bool,
    is_under_way: bool,
    can_return: bool,
) -> RequestAction:
    """Return what becomes of a request: the first line that fits decides.

    `can_pass_gate` is None where the request does not interrupt. An interrupt that cannot pass is refused
    before all else, because it would only withdraw what is under way. A request for what is under way by a
    person who has decided about it begins again, like a request for another exit.
    """
    match can_pass_gate, can_leave_state, is_entering, is_under_way, can_return:
        case False, _, _, _, _:
            return RequestAction.REFUSE
        case _, True, _, _, _:
            return RequestAction.LEAVE_STATE
        case _, _, True, _, _:
            return RequestAction.LEAVE_TO_STATE
        case True, _, _, _, _:
            return RequestAction.INTERRUPT
        case _, _, _, True, _:
            return RequestAction.ASK_AGAIN
        case _, _, _, _, True:
            return RequestAction.SEND_BACK
        case _:
            return RequestAction.REFUSE


def _take_edit(execution: InstanceExecution, document_state: DocumentState) -> None:
    """Pause in a stable region, where nobody can have edited (WF-05); elsewhere send the token back."""
    seen = {"seen": execution.projection.entity_version, "found": document_state.version}
    live = _list_live_nodes(execution)
    stable = [node_id for node_id in live if node_id in execution.workflow.stable_nodes]
    if stable:
        execution.pause(Blocked(DRIFT, {**seen, "node": stable[0]}))
        return
    kept = {"keeps": refs} if (refs := _list_kept_refs(execution, document_state)) else {}
    execution.control("edited", {**seen, **kept}, version_after=document_state.version)
    if execution.workflow.kind == "automation":
        return  # it goes on, and reads the new version
    _send_back(execution, document_state, EDITED)


def take_correction(
    execution: InstanceExecution, document_state: DocumentState, reason: str, actor: Actor
) -> str | None:
    """Take in what an operator has corrected, also in a stable region. Return where the way begins again.

    In front of a gate it does, so that people are asked about what the document says now. Behind it, what is
    held is tried again where it is.
    """
    seen = {"seen": execution.projection.entity_version, "found": document_state.version}
    kept = {"keeps": refs} if (refs := _list_kept_refs(execution, document_state)) else {}
    said = {**seen, **kept, "reason": reason}
    execution.control("edited", said, version_after=document_state.version, actor=actor)
    states = map(execution.workflow.return_state_of, _list_live_nodes(execution))
    again = None
    if any(state is not None and execution.workflow.nodes[state].type.name == "state" for state in states):
        again = _send_back(execution, document_state, CORRECTED)
    if held := execution.projection.position.held():
        execution.resume("retried", held, reason, actor)
    return again


def take_drift(
    execution: InstanceExecution, document_state: DocumentState, node: str, reason: str, actor: Actor
) -> None:
    """Take in what was changed where nobody may change it, and begin again at the state before that.

    What people approved on the way was about other content, and counts no more.
    """
    seen = {"seen": execution.projection.entity_version, "found": document_state.version}
    kept = {"keeps": refs} if (refs := _list_kept_refs(execution, document_state)) else {}
    execution.resume("resumed", (), reason, actor)
    execution.control("edited", {**seen, **kept}, version_after=document_state.version, actor=actor)
    execution.go_to(node, reason, actor)


def _list_kept_refs(execution: InstanceExecution, document_state: DocumentState) -> list[str]:
    """List the refs that steps go on to read as they were approved: the edit has not changed them.

    Where it leads people to be asked again, their answer decides. What the document was made with is kept.
    """
    is_graph_behind = execution.workflow.is_behind_approvals(document_state.status)
    pins, is_approved = execution.projection.pins, execution.is_decided or is_graph_behind
    return sorted(ref for ref in document_state.unchanged_refs if is_approved or INHERITED in pins[ref])


def _send_back(execution: InstanceExecution, document_state: DocumentState, because: str) -> str | None:
    """Send what is under way back to the state that it came from, and return that."""
    live = _list_live_nodes(execution)
    under_way = [node_id for node_id in live if execution.workflow.return_state_of(node_id) != node_id]
    if not under_way:
        return None
    state = _find_return_state(execution, document_state, under_way[0])
    execution.control("sent_to", {"node": state, "because": because})
    return state


def _take_request(
    execution: InstanceExecution,
    document_state: DocumentState,
    request: TransitionRequest,
    read_input: ReadDecisionInput,
    try_gate: TryGate,
) -> str | None:
    """Serve the request, or return why it cannot be served."""
    workflow = execution.workflow
    gate = _find_interrupt(workflow, document_state.status, request)
    gate_reason = None if gate is None else try_gate(gate, request.actor)
    ending = _find_ending(execution, request, read_input)
    live = next(iter(_list_live_nodes(execution)), None)
    return_state = _find_return_state(execution, document_state, live)
    action = choose_request_action(
        can_pass_gate=None if gate is None else gate_reason is None,
        can_leave_state=ending is not None,
        is_entering=any(_will_take(workflow, t, request) for t in execution.projection.position.ready()),
        is_under_way=request.actor.responsible.isdisjoint(document_state.deciders)
        and _is_under_way(execution, request),
        can_return=workflow.can_leave_by(return_state, request.transition),
    )
    match action:
        case RequestAction.LEAVE_STATE if ending is not None:
            step, decision = ending
            execution.end(step, decision, has_waited=True)
        case RequestAction.INTERRUPT:
            data = {"node": gate, "transition": request.transition}
            execution.control("sent_to", data, request=request.id, actor=request.actor)
        case RequestAction.ASK_AGAIN:
            data = {"transition": request.transition}
            execution.control("asked_again", data, request=request.id, actor=request.actor)
            held = execution.projection.position.held()
            if held:
                execution.resume("retried", held, None, request.actor)
        case RequestAction.SEND_BACK:
            execution.control("sent_to", {"node": return_state, "because": ANOTHER_REQUEST})
        case RequestAction.REFUSE:
            return _say_why_not(execution, request) if gate_reason is None else gate_reason
        case _:  # RequestAction.LEAVE_TO_STATE: the state is about to be entered, and will decide it
            pass
    return None


def _say_why_not(execution: InstanceExecution, request: TransitionRequest) -> str:
    """Say why nothing leads to what is asked for, and what to do where steps behind a gate are not done."""
    undecided, sentence = find_undecided(execution), f"nothing here leads to '{request.transition}'"
    if undecided is not None:
        return f"{sentence} before the approval {undecided} is decided"
    unfinished = execution.workflow.list_behind_gates(execution.projection.position.current_nodes())
    if not unfinished:
        return sentence
    what = "Have an operator retry or skip them" if execution.projection.position.held() else "Let them end"
    return (
        f"steps behind the last transition are not finished: {', '.join(unfinished)}. {what}, then ask again"
    )


def _find_interrupt(workflow: Workflow, status: str, request: TransitionRequest) -> str | None:
    state = workflow.nodes.get(state_node(status))
    edges = state.edges.get("interrupted", ()) if state is not None else ()
    return next((edge.target for edge in edges if edge.transition == request.transition), None)


def _find_ending(
    execution: InstanceExecution, request: TransitionRequest, read_input: ReadDecisionInput
) -> tuple[Step, Decision] | None:
    """Return the open step of the first state that the request leaves, and how it ends."""
    for token in execution.find_waiting_states():
        decision_input = replace(read_input(token), requested=request)
        decision = decide(execution.workflow, token, decision_input)
        if decision.request == request.id:
            return execution.open[token.id], decision
    return None


def _will_take(workflow: Workflow, token: Token, request: TransitionRequest) -> bool:
    node_type = workflow.nodes[token.node].type.name
    return node_type == "start" or (
        node_type == "state" and workflow.can_leave_by(token.node, request.transition)
    )


def _is_under_way(execution: InstanceExecution, request: TransitionRequest) -> bool:
    """Return whether every token is between the state and the gate of the transition."""
    live = _list_live_nodes(execution)
    return bool(live) and all(_leads_to(execution.workflow, node_id, request) for node_id in live)


def _leads_to(workflow: Workflow, node_id: str, request: TransitionRequest) -> bool:
    node = workflow.nodes[node_id]
    if node.type.name == "lifecycle_gate":
        return bool(node.config["transition"] == request.transition)
    state, slot = workflow.return_state_of(node_id), workflow.content["slot_map"].get(node_id)
    if state is None or slot is None:
        return False
    edges = workflow.nodes[state].edges.get("requested", ())
    return any(edge.transition == request.transition and edge.target == slot_in(slot) for edge in edges)


def _find_return_state(execution: InstanceExecution, document_state: DocumentState, live: str | None) -> str:
    """Return the state that a token came from; where it does not say, the one that the document rests at."""
    workflow = execution.workflow
    state = workflow.return_state_of(live) if live is not None else None
    return state or find_resting_state(
        workflow, document_state.status, is_amendment=document_state.is_amendment
    )


def _list_live_nodes(execution: InstanceExecution) -> list[str]:
    return [token.node for token in execution.projection.position.at_work()]
