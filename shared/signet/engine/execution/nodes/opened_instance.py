"""An instance as its rows say: where it stands, for which person it acts, what its open steps wait for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from signet.core.runtime.execution import InstanceExecution
from signet.core.runtime.position import parse_position
from signet.core.runtime.projection import Actor, Projection, Step
from signet.core.runtime.workflow import Workflow
from signet.core.tenants.principal import SYSTEM_SUBJECT
from signet.store.instances.waves import InstanceRow, OpenStepRow


@dataclass(frozen=True, slots=True)
class StepWait:
    """The moment and the event of one open step."""

    resume_at: datetime | None = None
    # The first of its keys: of a step that is read again, the others stand in the rows of its waits.
    waiting_for_event_key: str | None = None
    # The keys of a step that has just begun to wait.
    new_keys: Sequence[str] = ()


def make_waits(open_steps: Sequence[OpenStepRow]) -> dict[str, StepWait]:
    """Return what each step waits for, by its token."""
    return {step.token_id: StepWait(step.resume_at, step.waiting_for_event_key) for step in open_steps}


@dataclass(frozen=True, slots=True)
class ActorNow:
    """An actor as they asked, and with the roles that they have now."""

    asked: Actor
    present: Actor
    # A step that runs as the system, in their name.
    system: Actor
    has_left: bool


def make_actor_now(actor: Actor, member: Mapping[str, Any] | None) -> ActorNow:
    """Give a member the roles that they have now. A key keeps those that are left; who is no member, all."""
    system = Actor(SYSTEM_SUBJECT, (), actor.responsible)
    if member is None:
        return ActorNow(actor, actor, system, has_left=False)
    is_active = member["status"] == "active"
    held = member["roles"] if is_active else ()
    kept = tuple(role for role in actor.roles if role in held)
    # A person who was given a role since may have what a retry wants.
    roles = kept if actor.is_key else (*kept, *sorted(set(held) - set(kept)))
    present = actor if roles == actor.roles else replace(actor, roles=roles)
    return ActorNow(actor, present, system, has_left=not is_active)


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
