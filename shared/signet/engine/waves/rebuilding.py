"""An instance made anew from its steps (WF-15): the same functions as live, over the whole history."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any
from uuid import UUID

from signet.core.errors import Defect, Rejected
from signet.core.projection import Actor, Projection, Step, project
from signet.core.workflow import Workflow
from signet.engine.compiled import CompiledCache
from signet.engine.waves.rows import describe_projection
from signet.store.database import Connection, Database
from signet.store.documents import lock_and_read
from signet.store.instances import (
    StepRow,
    find_entity,
    lock_instances,
    read_beginning,
    read_instance,
    read_steps,
    write_projection,
)

MAX_STEPS_OF_INSTANCE = 100_000


def rebuild_instance(database: Database, compiled: CompiledCache, tenant_id: UUID, instance_id: UUID) -> bool:
    """Whether its row said anything else than its steps do."""
    with database.exchange(tenant_id, find_entity(tenant_id, instance_id)) as exchange:
        if exchange.opening_row is None:
            raise instance_not_found(instance_id)
        (entity_id,) = exchange.opening_row
        opening = lock_and_read([entity_id] if entity_id is not None else [], [])
        exchange.connection.execute(opening.text, opening.values)
        lock_instances(exchange.connection, tenant_id, [instance_id])
        return rebuild_locked(exchange.connection, compiled, tenant_id, instance_id)


def rebuild_locked(
    connection: Connection, compiled: CompiledCache, tenant_id: UUID, instance_id: UUID
) -> bool:
    """For who has locked it, after its document."""
    found = read_instance(connection, tenant_id, instance_id)
    if found is None:
        raise instance_not_found(instance_id)
    row, _ = found
    workflow = compiled.read(connection, tenant_id, row.definition_id, row.definition_version)
    projection, steps = project_instance(connection, tenant_id, instance_id, workflow)
    written = {**describe_projection(projection, workflow), **_describe_rows(projection, steps)}
    return write_projection(connection, tenant_id, instance_id, written)


def project_instance(
    connection: Connection, tenant_id: UUID, instance_id: UUID, workflow: Workflow
) -> tuple[Projection, list[StepRow]]:
    beginning = read_beginning(connection, tenant_id, instance_id)
    rows = read_steps(connection, tenant_id, instance_id, limit=MAX_STEPS_OF_INSTANCE + 1)
    if beginning is None:
        raise instance_not_found(instance_id)
    if len(rows) > MAX_STEPS_OF_INSTANCE:
        raise Defect("TOO_MANY_STEPS", f"an instance has more than {MAX_STEPS_OF_INSTANCE} steps")
    actor = Actor(beginning.begin_actor_id, tuple(beginning.begin_actor_roles))
    steps = [read_step(row) for row in rows]
    return project(workflow, beginning.begin_node, beginning.begin_version, steps, actor), rows


def read_step(row: StepRow) -> Step:
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
    if row.status in ("completed", "failed"):
        step.read_output(row.output_json or {})
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
