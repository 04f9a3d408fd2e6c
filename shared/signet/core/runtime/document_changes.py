"""How an instance takes what people did to its document since it last moved: an edit, a request."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from signet.core.compiler.slot_graph import slot_in
from signet.core.runtime.decisions import Request, Situation, decide
from signet.core.runtime.execution import Hold, Journey, Look
from signet.core.runtime.projection import Actor, Step
from signet.core.runtime.tokens import Token, TokenState

DRIFT = "WORKFLOW_VERSION_DRIFT"


@dataclass(frozen=True, slots=True)
class Observed:
    """The document as its workflow finds it."""

    version: int
    status: str
    request: Request | None = None
    # Who has decided about what is under way, and may not also be who asks for it.
    deciders: Collection[str] = ()


# Why a gate cannot be passed now by whoever asks for it; None when it can.
TryGate = Callable[[str, Actor], str | None]


def react(journey: Journey, observed: Observed, look: Look, try_gate: TryGate) -> Step | None:
    """First what was changed, then what is asked for. The answer is the step that refuses it."""
    if journey.is_running and observed.version != journey.projection.entity_version:
        _take_edit(journey, observed)
    request = observed.request
    if not journey.is_running or request is None or request.id == journey.projection.request:
        return None  # nothing is asked for, or it is on its way
    reason = _take_request(journey, observed, request, look, try_gate)
    if reason is None:
        return None
    return journey.control(
        "refused", {"transition": request.transition, "reason": reason}, request=request.id
    )


def _take_edit(journey: Journey, observed: Observed) -> None:
    """In a stable region nobody can have edited it (WF-05); elsewhere its way begins anew."""
    seen = {"seen": journey.projection.entity_version, "found": observed.version}
    live = _live_nodes(journey)
    stable = [node_id for node_id in live if node_id in journey.workflow.stable_nodes]
    if stable:
        journey.pause(Hold(DRIFT, {**seen, "node": stable[0]}))
        return
    journey.control("edited", seen, version_after=observed.version)
    if journey.workflow.kind == "automation":
        return  # it goes on, and reads the new version
    on_the_way = [node_id for node_id in live if journey.workflow.home_of(node_id) != node_id]
    if on_the_way:
        home = journey.workflow.home_of(on_the_way[0]) or state_of(observed.status)
        journey.control("sent_to", {"node": home, "because": "edited"})


def _take_request(
    journey: Journey, observed: Observed, request: Request, look: Look, try_gate: TryGate
) -> str | None:
    """The answer is why it cannot be served."""
    gate = _find_interrupt(journey, observed.status, request)
    if gate is not None and (reason := try_gate(gate, request.actor)) is not None:
        return reason  # it would only take away what is under way
    for token in journey.find_waiting_states():
        if _leave_state(journey, token, request, look(token)):
            return None
    if any(_takes(journey, token, request) for token in journey.projection.position.ready()):
        return None  # the state is about to be entered, and will decide it
    if gate is not None:
        data = {"node": gate, "transition": request.transition}
        journey.control("sent_to", data, request=request.id, actor=request.actor)
        return None
    live = _live_nodes(journey)
    is_on_its_way = bool(live) and all(_serves(journey, node_id, request) for node_id in live)
    if is_on_its_way and request.actor.id not in observed.deciders:
        data = {"transition": request.transition}
        journey.control("asked_again", data, request=request.id, actor=request.actor)
        return None
    # Another exit than the one that it was on the way to, or asked for by who has decided about it: back to
    # where it began.
    home = (journey.workflow.home_of(live[0]) if live else None) or state_of(observed.status)
    if not journey.workflow.leads_out(home, request.transition):
        return f"nothing here leads to '{request.transition}'"
    journey.control("sent_to", {"node": home, "because": "another request"})
    return None


def _serves(journey: Journey, node_id: str, request: Request) -> bool:
    """Whether the node is on the way that the request asks for."""
    workflow = journey.workflow
    node = workflow.nodes[node_id]
    if node.type.name == "lifecycle_gate":
        return bool(node.config["transition"] == request.transition)
    home, slot = workflow.home_of(node_id), workflow.content["slot_map"].get(node_id)
    if home is None or slot is None:
        return False
    ways = workflow.nodes[home].ways.get("requested", ())
    return any(way.transition == request.transition and way.target == slot_in(slot) for way in ways)


def state_of(status: str) -> str:
    return f"sys:state:{status}"


def _leave_state(journey: Journey, token: Token, request: Request, situation: Situation) -> bool:
    asked = replace(situation, requested=request)
    decision = decide(journey.workflow, token, asked)
    if decision.request != request.id:
        return False
    journey.end_open(journey.open[token.id], decision, journey.projection.entity_version, has_waited=True)
    return True


def _takes(journey: Journey, token: Token, request: Request) -> bool:
    node = journey.workflow.nodes[token.node]
    return node.type.name in ("start", "state") and (
        node.type.name == "start" or journey.workflow.leads_out(node.id, request.transition)
    )


def _find_interrupt(journey: Journey, status: str, request: Request) -> str | None:
    state = journey.workflow.nodes.get(state_of(status))
    ways = state.ways.get("interrupted", ()) if state is not None else ()
    return next((way.target for way in ways if way.transition == request.transition), None)


def _live_nodes(journey: Journey) -> list[str]:
    live = (TokenState.READY, TokenState.WAITING)
    return [token.node for token in journey.projection.position.tokens.values() if token.state in live]
