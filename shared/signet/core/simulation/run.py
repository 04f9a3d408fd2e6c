"""Running a compiled workflow in memory over one document, with scripted people, events and effects.

Not a second engine: every decision, token move and projection is core's own, applied to plain objects.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from signet.core.compiler.envelope import START
from signet.core.runtime.decisions import Decision, Request
from signet.core.runtime.document_changes import Observed, react
from signet.core.runtime.execution import Journey
from signet.core.runtime.projection import Actor, Projection, Step, start_projection
from signet.core.runtime.tokens import Token
from signet.core.runtime.workflow import Workflow, WorkflowNode
from signet.core.simulation.nodes import act, prepare, resolve_wait, try_gate
from signet.core.simulation.world import Asked, Script, SimulatedStep, Waiting, World

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
    workflow: Workflow,
    document: Mapping[str, Any],
    script: Script,
    now: datetime,
    *,
    node: str = START,
    max_steps: int = MAX_STEPS,
) -> Simulation:
    """Until nothing is left to do, or everything waits for what the script does not say.

    At a `node` other than the start, a state, the script's first request is what began the instance.
    """
    status = workflow.nodes[node].config.get("state") or workflow.content.get("initial_state", "")
    actor = Actor(script.actor["user_id"], tuple(script.actor.get("roles", ())))
    journey = Journey(workflow, start_projection(node, 1, actor))
    world = World(workflow, script, dict(document), status, now, journey)
    requests = list(script.requests)
    if node != START and requests:
        world.request = Request("request 0", requests.pop(0), actor)
    while len(journey.recorded) < max_steps and journey.is_running:
        if journey.projection.position.ready():
            _go_round(world)
        elif not (_pass_wait(world) or _request_next(world, requests) or _pass_time(world)):
            break
    return _sum_up(world, max_steps)


def _go_round(world: World) -> None:
    """Pure nodes first; then what acts, in order, unless what ran beside it has withdrawn it."""
    journey = world.journey
    intents = journey.run_chains(lambda _token: world.situation(), lambda n, token: prepare(world, n, token))
    for intent in intents:
        if not journey.is_due(intent):
            continue
        decision, wait = act(world, intent)
        if wait is None:
            journey.end_open(intent.step, decision, world.version)
        else:
            world.waits[intent.step.token] = wait
            world.shown[intent.step.seq] = wait.shown
    journey.end_round()


def _pass_wait(world: World) -> bool:
    """The first wait, in order of birth, that the script has an answer for."""
    for token in _waiting(world):
        decision = resolve_wait(world, world.workflow.nodes[token.node], world.waits[token.id])
        if decision is not None:
            _end_wait(world, token, decision)
            return True
    return False


def _waiting(world: World) -> list[Token]:
    open_steps = world.journey.open
    return [t for t in world.projection.tokens() if t.id in open_steps and t.id in world.waits]


def _end_wait(world: World, token: Token, decision: Decision) -> None:
    del world.waits[token.id]
    world.journey.end_open(world.journey.open[token.id], decision, world.version, has_waited=True)


def _pass_time(world: World) -> bool:
    """Nothing else can happen: let the clock run to the earliest timer or deadline."""
    due = [(wait.due, token.id) for token in _waiting(world) if (wait := world.waits[token.id]).due]
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
    """A person asks for a transition: where the token waits, or out of a slot, or as an interrupt."""
    if not requests:
        return False
    transition = requests.pop(0)
    request = Request(f"request {world.projection.version}", transition, world.projection.actor)
    world.request = request
    observed = Observed(world.projection.entity_version, world.status, request)
    if react(world.journey, observed, lambda _token: world.situation(), partial(try_gate, world)):
        world.request = None
        world.refused.append(transition)
    return True


def _sum_up(world: World, max_steps: int) -> Simulation:
    journey = world.journey
    is_cut_short = len(journey.recorded) >= max_steps and journey.is_running
    steps = sorted(journey.recorded, key=lambda step: step.seq)
    waiting = [
        Waiting(token.node, world.shown.get(journey.open[token.id].seq, _show_state(world, token)))
        for token in journey.projection.tokens()
        if token.id in journey.open
    ]
    reason = f"stopped after {max_steps} steps" if is_cut_short else journey.projection.reason
    return Simulation(
        status=journey.projection.status,
        document_status=world.status,
        document=world.document,
        steps=[_show_step(world, step) for step in steps],
        projection=journey.projection,
        asked=world.asked,
        waiting=waiting,
        refused=world.refused,
        reason=reason,
    )


def _show_step(world: World, step: Step) -> SimulatedStep:
    node = world.workflow.nodes.get(step.node)
    shown = world.shown.get(step.seq, "")
    if node is not None and node.type.name == "state" and step.end_seq != step.seq:
        shown = _show_state_node(node)
    return SimulatedStep(step, step.outcome, step.data if step.is_control else step.evidence, shown)


def _show_state(world: World, token: Token) -> str:
    return _show_state_node(world.workflow.nodes[token.node])


def _show_state_node(node: WorkflowNode) -> str:
    return f"a request in state '{node.config.get('state')}'"
