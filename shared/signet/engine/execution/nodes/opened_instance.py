"""An instance as its rows say: where it stands, and what its open steps wait for."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from signet.core.runtime.execution import InstanceExecution
from signet.core.runtime.position import parse_position
from signet.core.runtime.projection import Actor, Projection, Step
from signet.core.runtime.workflow import Workflow
from signet.store.instances.waves import InstanceRow, OpenStepRow


@dataclass(frozen=True, slots=True)
class StepWait:
    """The moment and the event of one open step."""

    resume_at: datetime | None = None
    waiting_for_event_key: str | None = None


def make_waits(open_steps: Sequence[OpenStepRow]) -> dict[str, StepWait]:
    """Return what each step waits for, by its token."""
    return {step.token_id: StepWait(step.resume_at, step.waiting_for_event_key) for step in open_steps}


def make_execution(workflow: Workflow, row: InstanceRow, steps: Sequence[OpenStepRow]) -> InstanceExecution:
    projection = Projection(
        status=row.status,
        version=row.version,
        entity_version=row.entity_version,
        position=parse_position(row.active_tokens),
        context=dict(row.context_json),
        actor=Actor(row.actor_id, tuple(row.actor_roles), frozenset(row.responsible or ())),
        request=row.request_id,
        pins=row.pins,
        reason=row.reason,
    )
    return InstanceExecution(workflow, projection, {step.token_id: _make_open_step(step) for step in steps})


def _make_open_step(row: OpenStepRow) -> Step:
    version, after = row.entity_version, row.version_after
    return Step(row.seq, None, row.node_id, row.token_id, "running", version, after, id=row.id)
