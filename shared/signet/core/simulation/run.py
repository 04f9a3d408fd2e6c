"""The run of a compiled workflow over one document in memory, with scripted people, events and effects.

This is no second engine: decisions, tokens and projection are those of the runtime, applied to plain objects.
No person edits the document on the way, so no variable is ever outdated.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from signet.core.approvals.decided_way import StatusRun
from signet.core.compiler.artifact import Artifact
from signet.core.compiler.envelope import START
from signet.core.errors import FieldError
from signet.core.runtime.decisions import Decision, TransitionRequest
from signet.core.runtime.document_changes import DocumentState, apply_document_changes
from signet.core.runtime.execution import InstanceExecution
from signet.core.runtime.position import Token
from signet.core.runtime.projection import Actor, Projection, Step, start_projection
from signet.core.runtime.workflow import Workflow, WorkflowNode
from signet.core.simulation.nodes import act, prepare, resolve_wait, try_gate
from signet.core.simulation.script_check import find_script_mistakes
from signet.core.simulation.world import (
    SimulatedRequest,
    SimulatedStep,
    SimulatedWorld,
    SimulationRest,
    WorldScript,
)

MAX_STEPS = 10_000
# Of what all templates of a simulation give.
MAX_RENDERED_BYTES = 16 * 1_048_576


@dataclass(frozen=True)
class Simulation:
    status: str
    document_status: str
    document: Mapping[str, Any]
    steps: Sequence[SimulatedStep]
    projection: Projection
    asked: Sequence[SimulatedRequest]
    waiting: Sequence[SimulationRest]
    refused: Sequence[str]
    reason: str | None


def simulate(
    workflow: Workflow,
    document: Mapping[str, Any],
    script: WorldScript,
    now: datetime,
    *,
    node: str = START,
    max_steps: int = MAX_STEPS,
) -> Simulation:
    """Run until nothing is left to do, or all tokens wait for what the script does not say.

    A `node` other than the start is a state; the script's first request is then what began the instance.
    """
    status = workflow.nodes[node].config.get("state") or workflow.content.get("initial_state", "")
    actor = Actor(script.actor["user_id"], tuple(script.actor.get("roles", ())))
    execution = InstanceExecution(workflow, start_projection(node, 1, actor))
    world = SimulatedWorld(workflow, script, dict(document), status, now, execution)
    world.runs.append(StatusRun(world.version, status))
    requests = list(script.requests)
    if node != START and requests:
        world.request = TransitionRequest("request 0", requests.pop(0), actor)
    while _find_end(world, max_steps) is None and execution.is_running:
        if execution.projection.position.ready():
            _run_round(world)
        elif not (_pass_wait(world) or _request_next(world, requests) or _pass_time(world)):
            break
    return _sum_up(world, max_steps)


def simulate_artifact(
    artifact: Artifact, document: Mapping[str, Any], script: WorldScript, now: datetime, max_steps: int
) -> Simulation | list[FieldError]:
    """Load the workflow and run it, or return what the script says that does not fit it."""
    workflow = Workflow(artifact)
    mistakes = find_script_mistakes(workflow, script)
    return mistakes or simulate(workflow, document, script, now, max_steps=max_steps)


def _find_end(world: SimulatedWorld, max_steps: int) -> str | None:
    """Return why the simulation goes no further, although it could."""
    if len(world.execution.changed) >= max_steps:
        return f"stopped after {max_steps} steps"
    if world.rendered_bytes > MAX_RENDERED_BYTES:
        return f"stopped after {world.rendered_bytes} bytes of rendered templates"
    return None


def _run_round(world: SimulatedWorld) -> None:
    """Run the pure nodes first, then those that act, unless a parallel token has withdrawn them."""
    execution = world.execution
    pending_actions = execution.run_pure_nodes(
        world.decision_input, lambda n, token: prepare(world, n, token)
    )
    for pending in pending_actions:
        if not execution.is_due(pending):
            continue
        decision, wait = act(world, pending)
        if wait is None:
            execution.end(pending.step, decision, world.version)
        else:
            world.waits[pending.step.token] = wait
            world.shown[pending.step.seq] = wait.shown
    execution.end_round()


def _pass_wait(world: SimulatedWorld) -> bool:
    """End the first wait, in order of birth, that the script has an answer for."""
    for token in _list_waiting(world):
        decision = resolve_wait(world, world.workflow.nodes[token.node], world.waits[token.id])
        if decision is not None:
            _end_wait(world, token, decision)
            return True
    return False


def _list_waiting(world: SimulatedWorld) -> list[Token]:
    open_steps = world.execution.open
    return [t for t in world.projection.tokens() if t.id in open_steps and t.id in world.waits]


def _end_wait(world: SimulatedWorld, token: Token, decision: Decision) -> None:
    del world.waits[token.id]
    world.execution.end(world.execution.open[token.id], decision, world.version, has_waited=True)


def _pass_time(world: SimulatedWorld) -> bool:
    """Move the clock to the earliest timer or deadline, when nothing else can happen."""
    due = [(wait.due, token.id) for token in _list_waiting(world) if (wait := world.waits[token.id]).due]
    if not due:
        return False
    moment, token_id = min(due)
    world.now = max(world.now, moment)
    token, wait = world.projection.position.tokens[token_id], world.waits[token_id]
    node = world.workflow.nodes[token.node]
    edges = world.workflow.choose(node, wait.due_outcome, world.env()).edges
    _end_wait(world, token, Decision(wait.due_outcome, edges, {"due": moment.isoformat()}))
    return True


def _request_next(world: SimulatedWorld, requests: list[str]) -> bool:
    """Apply the next request of the script."""
    if not requests:
        return False
    transition = requests.pop(0)
    request = TransitionRequest(f"request {world.projection.version}", transition, world.projection.actor)
    world.request = request
    document_state = DocumentState(world.projection.entity_version, world.status, request)
    if apply_document_changes(
        world.execution, document_state, world.decision_input, partial(try_gate, world)
    ):
        world.request = None
        world.refused.append(transition)
    return True


def _sum_up(world: SimulatedWorld, max_steps: int) -> Simulation:
    execution = world.execution
    cut_short = _find_end(world, max_steps) if execution.is_running else None
    steps = [execution.changed[seq] for seq in sorted(execution.changed)]
    waiting = [
        SimulationRest(token.node, world.shown.get(execution.open[token.id].seq, _show_state(world, token)))
        for token in execution.projection.tokens()
        if token.id in execution.open
    ]
    return Simulation(
        status=execution.projection.status,
        document_status=world.status,
        document=world.document,
        steps=[_show_step(world, step) for step in steps],
        projection=execution.projection,
        asked=world.asked,
        waiting=waiting,
        refused=world.refused,
        reason=cut_short or execution.projection.reason,
    )


def _show_step(world: SimulatedWorld, step: Step) -> SimulatedStep:
    node = world.workflow.nodes.get(step.node)
    shown = world.shown.get(step.seq, "")
    if node is not None and node.type.name == "state" and step.end_seq != step.seq:
        shown = _show_state_node(node)
    return SimulatedStep(step, step.outcome, step.data if step.is_control else step.evidence, shown)


def _show_state(world: SimulatedWorld, token: Token) -> str:
    return _show_state_node(world.workflow.nodes[token.node])


def _show_state_node(node: WorkflowNode) -> str:
    return f"a request in state '{node.config.get('state')}'"
