"""Single instances, for operators; waves have statements of their own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from psycopg.rows import class_row, scalar_row

from signet.core.tenants.principal import SYSTEM_SUBJECT
from signet.ids import created_at_of
from signet.store.database import Connection
from signet.store.instances.waves import InstanceRow, OpenStepRow
from signet.store.json_values import to_json
from signet.store.outbox.given_back import GAP_SECONDS
from signet.store.pipeline import DeferredStatement
from signet.store.statements import Statements

_SQL = Statements(__file__)


@dataclass(frozen=True, slots=True)
class Beginning:
    """The beginning of an instance: with the steps, all that its row is rebuilt from."""

    begin_node: str
    begin_version: int
    begin_actor_id: str
    begin_actor_roles: list[str]
    begin_responsible: list[str] | None
    begin_pins: dict[str, Any]
    begin_context: dict[str, Any]


@dataclass(frozen=True, slots=True)
class StepRow:
    id: UUID
    seq: int
    end_seq: int | None
    node_id: str
    node_type: str
    token_id: str
    status: str
    run_as: str
    actor_user_id: str
    entity_version: int
    version_after: int
    output_json: dict[str, Any] | None
    error: str | None
    started_at: datetime
    completed_at: datetime | None
    resume_at: datetime | None
    waiting_for_event_key: str | None
    trace_id: str | None


@dataclass(frozen=True, slots=True)
class Pause:
    """The last cause of a pause; the trigger that became a dead letter, if there was one."""

    is_by_person: bool
    trigger_id: UUID | None


@dataclass(frozen=True, slots=True)
class DeadTrigger:
    id: UUID
    instance_id: UUID
    has_instance: bool
    entity_id: UUID | None


@dataclass(frozen=True, slots=True)
class StuckRow:
    id: UUID
    entity_type: str | None
    entity_id: UUID | None
    current_nodes: list[str]
    version: int
    updated_at: datetime
    why: str
    # Where outages give its trigger back: how often, since when, and why the last time.
    given_back: int | None
    given_back_since: datetime | None
    given_back_code: str | None


def find_entity(tenant_id: UUID, instance_id: UUID) -> DeferredStatement:
    return DeferredStatement(_SQL.find_entity, {"tenant_id": tenant_id, "id": instance_id})


def lock_instances(connection: Connection, tenant_id: UUID, instance_ids: Sequence[UUID]) -> None:
    connection.execute(_SQL.lock_instances, {"tenant_id": tenant_id, "ids": list(instance_ids)})


def read_instance(
    connection: Connection, tenant_id: UUID, instance_id: UUID
) -> tuple[InstanceRow, list[OpenStepRow]] | None:
    key = {"tenant_id": tenant_id, "id": instance_id}
    with connection.cursor(row_factory=class_row(InstanceRow)) as cursor:
        instance = cursor.execute(_SQL.read_instance, key).fetchone()
    if instance is None:
        return None
    with connection.cursor(row_factory=class_row(OpenStepRow)) as cursor:
        return instance, cursor.execute(_SQL.read_open_steps, key).fetchall()


def read_beginning(connection: Connection, tenant_id: UUID, instance_id: UUID) -> Beginning | None:
    with connection.cursor(row_factory=class_row(Beginning)) as cursor:
        return cursor.execute(_SQL.read_beginning, {"tenant_id": tenant_id, "id": instance_id}).fetchone()


def read_steps(connection: Connection, tenant_id: UUID, instance_id: UUID, *, limit: int) -> list[StepRow]:
    values = {"tenant_id": tenant_id, "id": instance_id, "limit": limit}
    with connection.cursor(row_factory=class_row(StepRow)) as cursor:
        return cursor.execute(_SQL.read_steps, values).fetchall()


def read_last_seq(connection: Connection, tenant_id: UUID, instance_id: UUID) -> int:
    row = connection.execute(_SQL.read_last_seq, {"tenant_id": tenant_id, "id": instance_id}).fetchone()
    assert row is not None
    return int(str(row[0]))


def has_answered(
    connection: Connection, tenant_id: UUID, instance_id: UUID, document_id: UUID, person: str
) -> bool:
    values = {"tenant_id": tenant_id, "id": instance_id, "document_id": document_id, "person": person}
    row: Any = connection.execute(_SQL.has_answered, values).fetchone()
    return bool(row[0])


def read_pause(connection: Connection, tenant_id: UUID, instance_id: UUID) -> Pause | None:
    with connection.cursor(row_factory=class_row(Pause)) as cursor:
        return cursor.execute(_SQL.read_pause, {"tenant_id": tenant_id, "id": instance_id}).fetchone()


def find_dead_of_instance(
    connection: Connection, tenant_id: UUID, instance_id: UUID, *, limit: int
) -> list[UUID]:
    values = {"tenant_id": tenant_id, "id": instance_id, "limit": limit}
    with connection.cursor(row_factory=scalar_row) as cursor:
        return cursor.execute(_SQL.find_dead_of_instance, values).fetchall()


def write_projection(
    connection: Connection, tenant_id: UUID, instance_id: UUID, row: Mapping[str, Any]
) -> bool:
    """Write a rebuilt row; return whether it differed from the stored one."""
    values = {"tenant_id": tenant_id, "id": instance_id, "row": orjson.dumps(row).decode()}
    return connection.execute(_SQL.write_projection, values).rowcount == 1


def differs_from(connection: Connection, tenant_id: UUID, instance_id: UUID, row: Mapping[str, Any]) -> bool:
    """Return whether the stored row differs from a rebuilt one."""
    values = {"tenant_id": tenant_id, "id": instance_id, "row": orjson.dumps(row).decode()}
    return connection.execute(_SQL.find_difference, values).fetchone() is not None


def pause_instances(connection: Connection, tenant_id: UUID, rows: Sequence[Mapping[str, Any]]) -> None:
    values = {"tenant_id": tenant_id, "actor_id": SYSTEM_SUBJECT, "rows": orjson.dumps(rows).decode()}
    connection.execute(_SQL.pause_instances, values)


def end_steps(
    connection: Connection, tenant_id: UUID, steps: Sequence[Mapping[str, Any]], now: datetime
) -> None:
    connection.execute(_SQL.end_steps, {"tenant_id": tenant_id, "steps": to_json(steps), "now": now})


def insert_history(connection: Connection, tenant_id: UUID, rows: Sequence[Mapping[str, Any]]) -> None:
    connection.execute(_SQL.insert_history, {"tenant_id": tenant_id, "rows": to_json(rows)})


def find_dead_triggers(
    connection: Connection, tenant_id: UUID, trigger_ids: Sequence[UUID]
) -> list[DeadTrigger]:
    values = {
        "tenant_id": tenant_id,
        "created_ats": [created_at_of(trigger_id) for trigger_id in trigger_ids],
        "ids": list(trigger_ids),
    }
    with connection.cursor(row_factory=class_row(DeadTrigger)) as cursor:
        return cursor.execute(_SQL.find_dead_triggers, values).fetchall()


def list_stuck(
    connection: Connection,
    tenant_id: UUID,
    *,
    idle_seconds: float,
    limit: int,
    after: tuple[datetime, UUID] | None = None,
) -> list[StuckRow]:
    connection.execute(_SQL.plan_by_instance)
    after_at, after_id = after or (None, None)
    values = {
        "tenant_id": tenant_id,
        "idle_seconds": idle_seconds,
        "gap_seconds": GAP_SECONDS,
        "limit": limit,
        "after_at": after_at,
        "after_id": after_id,
    }
    with connection.cursor(row_factory=class_row(StuckRow)) as cursor:
        return cursor.execute(_SQL.list_stuck, values).fetchall()
