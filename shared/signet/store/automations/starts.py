"""Starts of automations: what is locked and read for them, and the rows that they write."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from signet.core.automations.start_decision import (
    TENANT_OPEN_INSTANCES,
    OpenCounts,
    StartMeter,
)
from signet.store.database import Connection
from signet.store.json_values import to_json
from signet.store.pipeline import DeferredStatement
from signet.store.statements import Statements

_SQL = Statements(__file__)


@dataclass(frozen=True, slots=True)
class LockedAutomation:
    id: UUID
    name: str
    definition_id: UUID | None
    pause_note: str | None
    started_minute: datetime | None
    started_count: int

    @property
    def meter(self) -> StartMeter:
        return StartMeter(self.started_minute, self.started_count)


@dataclass(frozen=True, slots=True)
class LockedSwitch:
    stop_note: str | None
    meter: StartMeter


@dataclass(frozen=True, slots=True)
class DefinitionPersons:
    """A definition, with everybody who wrote or published it."""

    id: UUID
    version: int
    persons: list[str]


@dataclass(frozen=True, slots=True)
class InstanceCause:
    """The cause of an instance, and the automations that have acted before."""

    cause: Mapping[str, Any]
    chain: Sequence[Any]


NO_CAUSE = InstanceCause({}, ())


@dataclass(frozen=True, slots=True)
class StartDocument:
    """A document on both sides of a change."""

    creator_id: str
    created_at: datetime
    deleted_at: datetime | None
    versions: list[dict[str, Any]] | None
    personal: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class NewInstance:
    id: UUID
    automation_id: UUID
    definition_id: UUID
    definition_version: int
    entity_type: str | None
    entity_id: UUID | None
    entity_version: int
    subject_id: str
    overlap_key: str
    begin_node: str
    actor_id: str
    actor_roles: Sequence[str]
    responsible: str
    active_tokens: Sequence[Mapping[str, Any]]
    trace_id: str | None
    cause: Mapping[str, Any]
    chain: Sequence[Any]


def lock_switch(connection: Connection, tenant_id: UUID) -> LockedSwitch:
    row: Any = connection.execute(_SQL.lock_switch, {"tenant_id": tenant_id}).fetchone()
    note, minute, count = row or (None, None, 0)
    return LockedSwitch(note, StartMeter(minute, count))


def lock_automations(
    connection: Connection, tenant_id: UUID, ids: Sequence[UUID]
) -> dict[UUID, LockedAutomation]:
    with connection.cursor(row_factory=class_row(LockedAutomation)) as cursor:
        rows = cursor.execute(_SQL.lock_automations, {"tenant_id": tenant_id, "ids": list(ids)}).fetchall()
    return {row.id: row for row in rows}


def read_persons(
    connection: Connection, tenant_id: UUID, ids: Sequence[UUID]
) -> dict[UUID, DefinitionPersons]:
    with connection.cursor(row_factory=class_row(DefinitionPersons)) as cursor:
        rows = cursor.execute(_SQL.read_persons, {"tenant_id": tenant_id, "ids": list(ids)}).fetchall()
    return {row.id: row for row in rows}


def read_document(
    connection: Connection, tenant_id: UUID, document_id: UUID, version: int
) -> StartDocument | None:
    values = {"tenant_id": tenant_id, "document_id": document_id, "version": version}
    with connection.cursor(row_factory=class_row(StartDocument)) as cursor:
        return cursor.execute(_SQL.read_document, values).fetchone()


def count_open(
    connection: Connection, tenant_id: UUID, automation_id: UUID, key: str, limit: int, with_key: int
) -> OpenCounts:
    values = {
        "tenant_id": tenant_id,
        "automation_id": str(automation_id),
        "key": key,
        "limit": limit,
        "tenant_limit": TENANT_OPEN_INSTANCES,
    }
    row: Any = connection.execute(_SQL.count_open, values).fetchone()
    of_tenant, of_automation, queued = row
    return OpenCounts(of_tenant, of_automation, with_key, queued)


def lock_open(connection: Connection, tenant_id: UUID, key: str) -> list[UUID]:
    """Lock the open instance with a key: its wave ends it before this, or after this has committed."""
    rows: list[Any] = connection.execute(_SQL.lock_open, {"tenant_id": tenant_id, "key": key}).fetchall()
    return [row[0] for row in rows]


def drop_queued(connection: Connection, tenant_id: UUID, key: str) -> list[tuple[UUID, Any, str | None]]:
    """Drop the starts that wait with a key; return the id, the payload and the trace of each."""
    rows: list[Any] = connection.execute(_SQL.drop_queued, {"tenant_id": tenant_id, "key": key}).fetchall()
    return rows


def release_next(connection: Connection, key: str) -> None:
    """Make the next start due that waits with a key."""
    connection.execute(_SQL.release_next, {"key": key})


def insert_instance(connection: Connection, tenant_id: UUID, new: NewInstance, now: datetime) -> bool:
    """Write an instance with its cause; return False where it is there already."""
    values = {
        "tenant_id": tenant_id,
        "id": new.id,
        "definition_id": new.definition_id,
        "definition_version": new.definition_version,
        "entity_type": new.entity_type,
        "entity_id": new.entity_id,
        "entity_version": new.entity_version,
        "subject_id": new.subject_id,
        "overlap_key": new.overlap_key,
        "begin_node": new.begin_node,
        "actor_id": new.actor_id,
        "actor_roles": list(new.actor_roles),
        "responsible": bytes.fromhex(new.responsible[2:]),
        "active_tokens": Jsonb(list(new.active_tokens)),
        "depth": len(new.chain),
        "trace_id": new.trace_id,
        "now": now,
    }
    if connection.execute(_SQL.insert_instance, values).fetchone() is None:
        return False
    cause = {
        "tenant_id": tenant_id,
        "instance_id": new.id,
        "automation_id": new.automation_id,
        "cause": Jsonb(dict(new.cause)),
        "chain": Jsonb(list(new.chain)),
    }
    connection.execute(_SQL.insert_cause, cause)
    return True


def count_start(
    connection: Connection, tenant_id: UUID, automation_id: UUID, own: StartMeter, of_tenant: StartMeter
) -> None:
    values = {
        "tenant_id": tenant_id,
        "automation_id": automation_id,
        "own_minute": own.minute,
        "own_count": own.count,
        "tenant_minute": of_tenant.minute,
        "tenant_count": of_tenant.count,
    }
    connection.execute(_SQL.count_start, values)


def queue_start(
    connection: Connection,
    tenant_id: UUID,
    key: str,
    *,
    start_id: UUID,
    automation_id: UUID,
    payload: Mapping[str, Any],
    version: int,
    trace_id: str | None,
) -> None:
    values = {
        "tenant_id": tenant_id,
        "key": key,
        "id": start_id,
        "automation_id": automation_id,
        "payload": Jsonb(dict(payload)),
        "entity_version": version,
        "trace_id": trace_id,
    }
    connection.execute(_SQL.queue_start, values)


def insert_history(connection: Connection, tenant_id: UUID, rows: Sequence[Mapping[str, Any]]) -> None:
    if rows:
        connection.execute(_SQL.insert_history, {"tenant_id": tenant_id, "rows": to_json(rows)})


def keep_chains(tenant_id: UUID, rows: Sequence[Mapping[str, Any]]) -> DeferredStatement:
    """Make the statement that keeps by which chain instances go on."""
    return DeferredStatement(_SQL.keep_chains, {"tenant_id": tenant_id, "rows": to_json(rows)})


def read_cause(connection: Connection, tenant_id: UUID, instance_id: UUID) -> InstanceCause:
    """Read why an instance of an automation is there."""
    values = {"tenant_id": tenant_id, "instance_id": instance_id}
    row: Any = connection.execute(_SQL.read_cause, values).fetchone()
    return InstanceCause(*row)
