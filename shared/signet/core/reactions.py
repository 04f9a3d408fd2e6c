"""How an instance takes what people did to its document since it last moved: an edit, a request."""

from dataclasses import dataclass

from signet.core.decisions import Request, Situation, decide
from signet.core.journey import Hold, Journey, Look
from signet.core.routing import Token, TokenState

DRIFT = "WORKFLOW_VERSION_DRIFT"


@dataclass(frozen=True, slots=True)
class Observed:
    """The document as its workflow finds it."""

    version: int
    status: str
    request: Request | None = None


def react(journey: Journey, observed: Observed, look: Look) -> None:
    """First what was changed, then what is asked for: a request is about the version that it names."""
    if journey.is_running and observed.version != journey.projection.entity_version:
        _take_edit(journey, observed)
    if journey.is_running and observed.request is not None:
        _take_request(journey, observed, observed.request, look)


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


def _take_request(journey: Journey, observed: Observed, request: Request, look: Look) -> None:
    if request.id == journey.projection.request:
        return  # it is on its way
    for token in journey.find_waiting_states():
        if _leave_state(journey, token, request, look(token)):
            return
    if any(_takes(journey, token, request) for token in journey.projection.position.ready()):
        return  # the state is about to be entered, and will decide it
    target = _find_interrupt(journey, observed.status, request)
    if target is not None:
        data = {"node": target, "transition": request.transition}
        journey.control("sent_to", data, request=request.id, actor=request.actor)
        return
    # Another exit than the one that it was on the way to: back to where it began.
    live = _live_nodes(journey)
    home = (journey.workflow.home_of(live[0]) if live else None) or state_of(observed.status)
    if journey.workflow.leads_out(home, request.transition):
        journey.control("sent_to", {"node": home, "because": "another request"})


def state_of(status: str) -> str:
    return f"sys:state:{status}"


def _leave_state(journey: Journey, token: Token, request: Request, situation: Situation) -> bool:
    asked = Situation(situation.env, request, situation.birth, situation.permissions, situation.ask_rules)
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
