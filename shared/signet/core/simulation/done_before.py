"""The things that a simulated node has done behind an approval: they are done once, as by the engine."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from signet.core.approvals.decided_way import StatusRun, read_way
from signet.core.runtime.decisions import Decision
from signet.core.runtime.done_before import EarlierStep, Resent, find_done
from signet.core.runtime.execution import Blocked
from signet.core.runtime.go_to_targets import has_lasting_effect, is_behind_gate
from signet.core.runtime.position import Token
from signet.core.runtime.projection import Step
from signet.core.runtime.tokens import ROOT, is_item, root_of
from signet.core.runtime.workflow import WorkflowNode
from signet.core.simulation.world import SimulatedWorld


def find_done_before(
    world: SimulatedWorld, node: WorkflowNode, token: Token, said: str | None
) -> EarlierStep | Resent | Blocked | None:
    """Find the step whose answer the token takes, or why it is held; None where nothing was done."""
    if said is None or root_of(token.id) == ROOT or not has_lasting_effect(world.workflow, node.id):
        return None
    way = read_way(world.runs, world.workflow.is_behind_approvals)
    if not is_behind_gate(world.workflow, (token,), world.status, is_decided=way.is_decided):
        return None
    since_gate = 0
    if not is_behind_gate(world.workflow, (), world.status, is_decided=way.is_decided):
        since_gate = world.execution.find_passed_gate()
    return find_done(node, token, said, _list_earlier(world, node, way.since, since_gate))


def note_gate(world: SimulatedWorld, node: WorkflowNode, decision: Decision, status: str | None) -> None:
    """Note on the way of the document that a gate has passed; an interrupt uses no approval."""
    is_used = decision.outcome == "passed" and node.config["kind"] != "interrupting" and world.has_approved
    if is_used:
        world.has_approved = False
        run = world.runs[-1]
        world.runs[-1] = replace(run, decided_at=(*run.decided_at, world.version - 1))
    if status is not None and status != world.runs[-1].status:
        world.runs.append(StatusRun(world.version, status))


def _list_earlier(
    world: SimulatedWorld, node: WorkflowNode, since: int, since_gate: int
) -> Iterator[EarlierStep]:
    """List what the node has done since people decided, the newest first."""
    ended = world.execution.find_passed_gate(world.workflow.list_gates_of_slot(node.id))
    for step in reversed(world.execution.changed.values()):
        is_own = step.node == node.id and not is_item(step.token)
        if is_own and step.version >= since and step.seq >= since_gate and _has_ended(step):
            yield EarlierStep(
                id=str(step.seq),
                token=step.token,
                is_own=True,
                may_have_acted=True,
                has_answer=True,
                is_finished=step.seq < ended,
                content=_read_said(step.given),
                variables=step.variables,
                error=step.error if step.status == "failed" else None,
            )


def _has_ended(step: Step) -> bool:
    """Return whether the step has ended with an answer, or by its edge for errors."""
    return step.status == "completed" or (step.status == "failed" and bool(step.chosen_edge_ids))


def _read_said(given: Any) -> str:
    return str((given or {}).get("said"))
