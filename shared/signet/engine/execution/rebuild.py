"""The rebuild of an instance from its steps (WF-15), by the functions that move a live one."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from signet.core.errors import Defect, Rejected
from signet.core.runtime.position import Token
from signet.core.runtime.projection import MOVED, Actor, Projection, Step, project
from signet.core.runtime.workflow import Workflow
from signet.engine.cache import CompiledCache
from signet.engine.documents.rules import KeepResponsible
from signet.engine.execution.rows import describe_projection
from signet.store.database import Connection, Database
from signet.store.documents.write import lock_statement
from signet.store.instances.write import (
    Beginning,
    StepRow,
    differs_from,
    find_entity,
    lock_instances,
    read_beginning,
    read_instance,
    read_steps,
    write_projection,
)
from signet.store.responsible_sets import keep_responsible, name_responsible

MAX_STEPS_OF_INSTANCE = 100_000
# A definition's id and version.
_Pin = tuple[UUID, int]


def rebuild_instance(database: Database, compiled: CompiledCache, tenant_id: UUID, instance_id: UUID) -> bool:
    """Rebuild the row. Return whether it differed from its steps."""
    with database.pipelined(tenant_id, find_entity(tenant_id, instance_id)) as pipeline:
        if pipeline.first_row is None:
            raise instance_not_found(instance_id)
        (entity_id,) = pipeline.first_row
        opening = lock_statement([entity_id] if entity_id is not None else [], [])
        pipeline.connection.execute(opening.text, opening.values)
        lock_instances(pipeline.connection, tenant_id, [instance_id])
        return rebuild_locked(pipeline.connection, compiled, tenant_id, instance_id)


def rebuild_locked(
    connection: Connection, compiled: CompiledCache, tenant_id: UUID, instance_id: UUID
) -> bool:
    """Rebuild the row of an instance that the caller has locked, after its document."""
    history = _read_history(connection, compiled, tenant_id, instance_id)
    written = history.describe(partial(keep_responsible, connection, tenant_id))
    return write_projection(connection, tenant_id, instance_id, written)


def differs_from_steps(
    connection: Connection, compiled: CompiledCache, tenant_id: UUID, instance_id: UUID
) -> bool:
    """Return whether a rebuild would change the row. Nothing is written."""
    history = _read_history(connection, compiled, tenant_id, instance_id)
    return differs_from(connection, tenant_id, instance_id, history.describe(name_responsible))


def read_last_place(
    connection: Connection, compiled: CompiledCache, tenant_id: UUID, instance_id: UUID
) -> list[Token]:
    """Read where the tokens of an instance stood before it ended; its steps say it."""
    places: list[list[Token]] = [[]]

    def watch(projection: Projection) -> None:
        if projection.status in ("running", "paused"):
            places[0] = projection.position.at_work()

    _read_history(connection, compiled, tenant_id, instance_id).project(watch)
    return places[0]


@dataclass(frozen=True, slots=True)
class _History:
    """The steps of an instance, with the definitions that it ran under and its beginning."""

    rows: Sequence[StepRow]
    # The definitions, each with the number of the step that moved the instance there.
    pins: Sequence[tuple[int, _Pin]]
    workflows: Sequence[Workflow]
    beginning: Beginning

    def describe(self, keep: KeepResponsible) -> dict[str, Any]:
        """Return the columns that follow from the steps."""
        projection = self.project()
        definition_id, definition_version = self.pins[-1][1]
        return {
            **describe_projection(projection, self.workflows[-1], keep),
            **_describe_rows(projection, self.rows),
            "definition_id": definition_id,
            "definition_version": definition_version,
        }

    def project(self, watch: Callable[[Projection], None] | None = None) -> Projection:
        beginning = self.beginning
        moves = zip(self.pins[1:], self.workflows[1:], strict=True)
        return project(
            self.workflows[0],
            beginning.begin_node,
            beginning.begin_version,
            [parse_step(row) for row in self.rows],
            _parse_first_actor(beginning),
            {seq: workflow for (seq, _), workflow in moves},
            beginning.begin_pins,
            watch,
            beginning.begin_context,
        )


def _read_history(
    connection: Connection, compiled: CompiledCache, tenant_id: UUID, instance_id: UUID
) -> _History:
    stored = read_instance(connection, tenant_id, instance_id)
    if stored is None:
        raise instance_not_found(instance_id)
    row, _ = stored
    rows = read_steps(connection, tenant_id, instance_id, limit=MAX_STEPS_OF_INSTANCE + 1)
    if len(rows) > MAX_STEPS_OF_INSTANCE:
        raise Defect("TOO_MANY_STEPS", f"an instance has more than {MAX_STEPS_OF_INSTANCE} steps")
    pins = _parse_pins(rows, (row.definition_id, row.definition_version))
    workflows = [compiled.read(connection, tenant_id, *pin) for _, pin in pins]
    beginning = read_beginning(connection, tenant_id, instance_id)
    assert beginning is not None
    return _History(rows, pins, workflows, beginning)


def _parse_first_actor(beginning: Beginning) -> Actor:
    roles, behind = tuple(beginning.begin_actor_roles), frozenset(beginning.begin_responsible or ())
    return Actor(beginning.begin_actor_id, roles, behind)


def _parse_pins(rows: Sequence[StepRow], pinned: _Pin) -> list[tuple[int, _Pin]]:
    """Return the definitions that it ran under, each with the number of the step that moved it there."""
    moves = [(row.seq, row.output_json or {}) for row in rows if row.node_id == MOVED]
    if not moves:
        return [(0, pinned)]
    return [(0, _parse_pin(moves[0][1]["from"])), *((seq, _parse_pin(output["to"])) for seq, output in moves)]


def _parse_pin(definition: Mapping[str, Any]) -> _Pin:
    return UUID(definition["id"]), int(definition["version"])


def parse_step(row: StepRow) -> Step:
    step = Step(
        row.seq,
        row.end_seq,
        row.node_id,
        row.token_id,
        row.status,
        row.entity_version,
        row.version_after,
        error=row.error,
        id=row.id,
    )
    if row.status in ("completed", "failed", "skipped"):
        step.parse_output(row.output_json or {})
    return step


def _describe_rows(projection: Projection, rows: Iterable[StepRow]) -> dict[str, Any]:
    listed = sorted(rows, key=lambda row: (max(row.seq, row.end_seq or 0), row.seq))
    is_live = projection.status in ("running", "paused")
    deadlines = [row.resume_at for row in listed if row.end_seq is None and row.resume_at is not None]
    ended: list[datetime] = [row.completed_at for row in listed if row.completed_at is not None]
    return {
        "timeout_at": min(deadlines, default=None) if is_live else None,
        "last_step_id": listed[-1].id if listed else None,
        "completed_at": None if is_live else max(ended),
    }


def instance_not_found(instance_id: UUID) -> Rejected:
    return Rejected("INSTANCE_NOT_FOUND", f"there is no instance {instance_id}")
