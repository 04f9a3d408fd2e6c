"""Automations by name: their definition in force, what they listen to, and what people have switched."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.rows import class_row

from signet.store.database import Connection
from signet.store.statements import Statements

_SQL = Statements(__file__)


@dataclass(frozen=True, slots=True)
class AutomationRecord:
    """An automation over all of its versions; without a definition it is archived."""

    id: UUID
    name: str
    entity_type: str
    definition_id: UUID | None
    definition_version: int | None
    paused_at: datetime | None
    paused_by: str | None
    pause_note: str | None
    revision: int


@dataclass(frozen=True, slots=True)
class AutomationSwitch:
    stopped_at: datetime | None
    stopped_by: str | None
    stop_note: str | None
    revision: int


@dataclass(frozen=True, slots=True)
class FiringRecord:
    """The outcome of one firing."""

    created_at: datetime
    id: UUID
    entry: str
    actor_id: str
    data: dict[str, Any]
    trace_id: str | None


@dataclass(frozen=True, slots=True)
class NewAutomation:
    """A definition that goes in force, with the signs that it listens to."""

    id: UUID
    name: str
    entity_type: str
    definition_id: UUID
    definition_version: int
    signs: Sequence[str]


def find_automation(connection: Connection, tenant_id: UUID, name: str) -> AutomationRecord | None:
    with connection.cursor(row_factory=class_row(AutomationRecord)) as cursor:
        return cursor.execute(_SQL.find_automation, {"tenant_id": tenant_id, "name": name}).fetchone()


def list_automations(
    connection: Connection, tenant_id: UUID, *, after: str, limit: int
) -> list[AutomationRecord]:
    with connection.cursor(row_factory=class_row(AutomationRecord)) as cursor:
        values = {"tenant_id": tenant_id, "after": after, "limit": limit}
        return cursor.execute(_SQL.list_automations, values).fetchall()


def count_in_force(connection: Connection, tenant_id: UUID, limit: int) -> int:
    return _read_number(connection, _SQL.count_in_force, {"tenant_id": tenant_id, "limit": limit})


def count_listeners(connection: Connection, tenant_id: UUID, new: NewAutomation) -> int:
    """Count who else listens to the same, for the sign that most listen to."""
    values = {
        "tenant_id": tenant_id,
        "entity_type": new.entity_type,
        "signs": list(new.signs),
        "automation_id": new.id,
    }
    return _read_number(connection, _SQL.count_listeners, values)


def list_listeners(
    connection: Connection, tenant_id: UUID, entity_type: str, signs: Sequence[str], limit: int
) -> list[str]:
    """List the automations that listen to one of these signs, by name."""
    values = {"tenant_id": tenant_id, "entity_type": entity_type, "signs": list(signs), "limit": limit}
    rows: list[Any] = connection.execute(_SQL.list_listeners, values).fetchall()
    return [row[0] for row in rows]


def put_in_force(connection: Connection, tenant_id: UUID, new: NewAutomation) -> None:
    """Let a definition take the place of the one before it under its name."""
    connection.execute(_SQL.add_switch, {"tenant_id": tenant_id})
    values: dict[str, Any] = {
        "tenant_id": tenant_id,
        "id": new.id,
        "name": new.name,
        "entity_type": new.entity_type,
        "definition_id": new.definition_id,
        "definition_version": new.definition_version,
    }
    connection.execute(_SQL.put_in_force, values)
    connection.execute(_SQL.delete_triggers, {"tenant_id": tenant_id, "automation_id": new.id})
    connection.execute(_SQL.insert_triggers, {**values, "automation_id": new.id, "signs": list(new.signs)})


def put_out_of_force(connection: Connection, tenant_id: UUID, definition_id: UUID) -> bool:
    """Put a definition out of force; return whether it was in force."""
    values = {"tenant_id": tenant_id, "definition_id": definition_id}
    row = connection.execute(_SQL.put_out_of_force, values).fetchone()
    if row is not None:
        connection.execute(_SQL.delete_triggers, {"tenant_id": tenant_id, "automation_id": row[0]})
    return row is not None


def pause_automation(
    connection: Connection,
    tenant_id: UUID,
    automation_id: UUID,
    *,
    at: datetime | None,
    by: str | None,
    note: str | None,
) -> None:
    values = {"tenant_id": tenant_id, "id": automation_id, "at": at, "by": by, "note": note}
    connection.execute(_SQL.pause_automation, values)


def read_switch(connection: Connection, tenant_id: UUID) -> AutomationSwitch:
    with connection.cursor(row_factory=class_row(AutomationSwitch)) as cursor:
        found = cursor.execute(_SQL.read_switch, {"tenant_id": tenant_id}).fetchone()
        return found or AutomationSwitch(None, None, None, 0)


def switch_all(
    connection: Connection, tenant_id: UUID, *, at: datetime | None, by: str | None, note: str | None
) -> None:
    """Stop all automations of the tenant, or let them start again."""
    connection.execute(_SQL.switch_all, {"tenant_id": tenant_id, "at": at, "by": by, "note": note})


def list_history(
    connection: Connection,
    tenant_id: UUID,
    automation_id: UUID,
    *,
    before: tuple[datetime, UUID],
    document_id: UUID | None,
    limit: int,
) -> list[FiringRecord]:
    with connection.cursor(row_factory=class_row(FiringRecord)) as cursor:
        values = {
            "tenant_id": tenant_id,
            "id": automation_id,
            "before_time": before[0],
            "before_id": before[1],
            "document_id": str(document_id) if document_id is not None else None,
            "limit": limit,
        }
        return cursor.execute(_SQL.list_history, values).fetchall()


def _read_number(connection: Connection, statement: str, values: dict[str, Any]) -> int:
    row: Any = connection.execute(statement, values).fetchone()
    return int(row[0])
