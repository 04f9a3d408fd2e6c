"""Running a compiled workflow in memory over one document, with scripted people, events and effects.

Not a second engine: every decision, token move and projection is core's own, applied to plain objects.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from signet.core.decisions import Decision
from signet.core.envelope import START
from signet.core.projection import CONTROL, Projection, Step, apply_begun, apply_ended, start_projection
from signet.core.routing import Moves, Token, TokenState
from signet.core.simulation.nodes import perform, resolve_wait
from signet.core.simulation.world import Asked, Script, SimulatedStep, Waiting, World
from signet.core.workflow import Workflow, WorkflowNode

MAX_STEPS = 10_000


@dataclass(frozen=True)
class Simulation:
    status: str
    document_status: str
    document: Mapping[str, Any]
    steps: Sequence[SimulatedStep]
    projection: Projection
    asked: Sequence[Asked]
    waiting: Sequence[Waiting]
    refused: Sequence[str]
    reason: str | None


def simulate(
    workflow: Workflow, document: Mapping[str, Any], script: Script, now: datetime, *, node: str = "sys:start"
) -> Simulation:
    """Until nothing is left to do, or everything waits for what the script does not say.

    At a `node` other than the start, a state, the script's first request is what began the instance.
    """
    status = workflow.nodes[node].config.get("state") or workflow.content.get("initial_state", "")
    world = World(workflow, script, dict(document), status, now, start_projection(node, 1))
    requests = list(script.requests)
    if node != START and requests:
        _execute(world, world.projection.tokens()[0], requests.pop(0))
    while len(world.steps) < MAX_STEPS and world.projection.status == "running":
        ready = world.projection.position.ready()
        if ready:
            for token in ready:
                if _may_go_on(world, token):
                    _execute(world, token)
        elif not (_pass_wait(world) or _request_next(world, requests) or _pass_time(world)):
            break
    else:
        if world.projection.status == "running":
            world.reason = f"stopped after {MAX_STEPS} steps"
    return _sum_up(world)


def _may_go_on(world: World, token: Token) -> bool:
    """Another token of the same round may have withdrawn it, or stopped the instance."""
    return world.projection.status == "running" and world.projection.position.tokens.get(token.id) == token


def _execute(world: World, token: Token, requested: str | None = None) -> None:
    node = world.workflow.nodes[token.node]
    decision, wait = perform(world, node, token, requested)
    seq = world.next_seq()
    if wait is not None:
        world.waits[token.id] = wait
        _record(
            world,
            node,
            token,
            Step(seq, None, node.id, token.id, "running", token.version, token.version),
            decision,
            wait.shown,
        )
        apply_begun(world.projection, world.steps[-1].step)
    elif decision.outcome is None:
        _pause(world, decision.reason or "nothing says how to go on")
    else:
        _end(world, node, token, seq, seq, decision)


def _end(world: World, node: WorkflowNode, token: Token, seq: int, end_seq: int, decision: Decision) -> None:
    status = "failed" if decision.outcome in ("error", "denied") else "completed"
    step = Step(
        seq,
        end_seq,
        node.id,
        token.id,
        status,
        token.version,
        world.projection.entity_version,
        tuple(way.id for way in decision.ways),
        decision.variables,
    )
    _record(world, node, token, step, decision, "")
    _end_cancelled(world, apply_ended(world.workflow, world.projection, step, end_seq), end_seq)


def _record(
    world: World, node: WorkflowNode, token: Token, step: Step, decision: Decision, shown: str
) -> None:
    world.steps.append(SimulatedStep(step, decision.outcome, decision.evidence, shown))


def _end_cancelled(world: World, moves: Moves, seq: int) -> None:
    """Waiting steps of withdrawn tokens end with what withdrew them."""
    for token in moves.cancelled:
        if world.waits.pop(token.id, None) is not None:
            begun = _find_begun(world, token)
            begun.step = replace(begun.step, status="cancelled", end_seq=seq)


def _control(world: World, name: str, data: Mapping[str, Any]) -> None:
    seq, version = world.next_seq(), world.projection.entity_version
    step = Step(seq, seq, f"{CONTROL}{name}", "", "completed", version, version, data=data)
    world.steps.append(SimulatedStep(step, name, data))
    _end_cancelled(world, apply_ended(world.workflow, world.projection, step, seq), seq)


def _pause(world: World, reason: str) -> None:
    world.reason = reason
    _control(world, "paused", {"reason": reason})


def _pass_wait(world: World) -> bool:
    """The first wait, in order of birth, that the script has an answer for."""
    for token in world.projection.position.tokens.values():
        wait = world.waits.get(token.id)
        if wait is None or token.state is not TokenState.WAITING:
            continue
        decision = resolve_wait(world, world.workflow.nodes[token.node], wait)
        if decision is not None:
            _end_wait(world, token, decision)
            return True
    return False


def _end_wait(world: World, token: Token, decision: Decision) -> None:
    del world.waits[token.id]
    begun = _find_begun(world, token)
    world.steps.remove(begun)
    _end(world, world.workflow.nodes[token.node], token, begun.step.seq, world.next_seq(), decision)
    world.steps[-1].shown = begun.shown


def _find_begun(world: World, token: Token) -> SimulatedStep:
    return next(s for s in reversed(world.steps) if s.step.token == token.id and s.step.end_seq is None)


def _pass_time(world: World) -> bool:
    """Nothing else can happen: let the clock run to the earliest timer or deadline."""
    due = [(wait.due, token_id) for token_id, wait in world.waits.items() if wait.due is not None]
    if not due:
        return False
    moment, token_id = min(due)
    world.now = max(world.now, moment)
    token, wait = world.projection.position.tokens[token_id], world.waits[token_id]
    node = world.workflow.nodes[token.node]
    ways = world.workflow.choose(node, wait.due_outcome, world.env()).ways
    _end_wait(world, token, Decision(wait.due_outcome, ways, {"due": moment.isoformat()}))
    return True


def _request_next(world: World, requests: list[str]) -> bool:
    """A person asks for a transition: where the token waits, or as an interrupt from anywhere."""
    if not requests:
        return False
    requested = requests.pop(0)
    for token in world.projection.tokens():
        node = world.workflow.nodes[token.node]
        if node.type.name == "state" and token.id in world.waits:
            decision, wait = perform(world, node, token, requested)
            if wait is None:
                _end_wait(world, token, decision)
                return True
    gate = _find_interrupt(world, requested)
    if gate is None:
        world.refused.append(requested)
    else:
        _control(world, "sent_to", {"node": gate, "request": requested})
    return True


def _find_interrupt(world: World, requested: str) -> str | None:
    state = world.workflow.nodes.get(f"sys:state:{world.status}")
    ways = state.ways.get("interrupted", ()) if state is not None else ()
    return next((way.target for way in ways if way.transition == requested), None)


def _sum_up(world: World) -> Simulation:
    waiting = [
        Waiting(token.node, world.waits[token.id].shown)
        for token in world.projection.tokens()
        if token.id in world.waits
    ]
    return Simulation(
        status=world.projection.status,
        document_status=world.status,
        document=world.document,
        steps=sorted(world.steps, key=lambda s: s.step.seq),
        projection=world.projection,
        asked=world.asked,
        waiting=waiting,
        refused=world.refused,
        reason=world.reason,
    )
