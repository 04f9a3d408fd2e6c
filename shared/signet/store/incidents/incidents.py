"""Incidents: the rows that waves and operators write of what is held, and the lists that people read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.rows import class_row, scalar_row

from signet.store.database import Connection
from signet.store.json_values import to_json
from signet.store.pipeline import DeferredStatement
from signet.store.statements import Statements

_SQL = Statements(__file__)
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class IncidentFilter:
    """A filter of incidents; all that it names must be true."""

    is_open: bool = True
    code: str | None = None
    kind: str | None = None
    node: str | None = None
    endpoint: str | None = None
    entity_type: str | None = None
    document_id: UUID | None = None
    instance_id: UUID | None = None
    assignee: str | None = None


@dataclass(frozen=True, slots=True)
class IncidentRow:
    id: UUID
    instance_id: UUID
    entity_type: str | None
    document_id: UUID | None
    token: str | None
    node: str | None
    endpoint: str | None
    code: str
    kind: str
    message: str
    attempts: int
    opened_at: datetime
    acknowledged_by: str | None
    acknowledged_at: datetime | None
    assignee: str | None
    note: str | None
    closed_at: datetime | None
    closing: str | None
    closed_by: str | None


@dataclass(frozen=True, slots=True)
class IncidentGroupRow:
    """Open incidents with one cause: a code, at a node, with an endpoint."""

    code: str
    kind: str
    entity_type: str | None
    node: str | None
    endpoint: str | None
    count: int
    oldest_at: datetime
    newest_at: datetime
    message: str


@dataclass(frozen=True, slots=True)
class HeldInstanceRow:
    """The columns of an instance that say which acts it accepts."""

    id: UUID
    status: str
    reason: str | None
    version: int
    definition_id: UUID
    definition_version: int
    active_tokens: list[dict[str, Any]]
    document_id: UUID | None
    document_status: str | None
    is_amendment: bool
    # The transitions whose requests decide, by the contract of the document.
    deciding: list[str]
    # The document was edited, and the instance has not taken that in yet.
    is_behind: bool
    is_paused_by_person: bool


def write_incidents(
    tenant_id: UUID, opened: Sequence[Row], closed: Sequence[Row], now: datetime
) -> DeferredStatement:
    values = {"tenant_id": tenant_id, "opened": to_json(opened), "closed": to_json(closed), "now": now}
    return DeferredStatement(_SQL.write_incidents, values)


def list_incidents(
    connection: Connection, tenant_id: UUID, filters: IncidentFilter, *, before: UUID, limit: int
) -> list[IncidentRow]:
    """List incidents, the newest first."""
    values = {**_describe_filter(tenant_id, filters), "before": before, "limit": limit}
    statement = _SQL.list_open_incidents if filters.is_open else _SQL.list_closed_incidents
    with connection.cursor(row_factory=class_row(IncidentRow)) as cursor:
        return cursor.execute(statement, values).fetchall()


def list_oldest_open(
    connection: Connection, tenant_id: UUID, filters: IncidentFilter, *, limit: int
) -> list[UUID]:
    """List the instances of the oldest open incidents, each once, in the order of those."""
    values = {**_describe_filter(tenant_id, filters), "limit": limit}
    with connection.cursor(row_factory=scalar_row) as cursor:
        return list(dict.fromkeys(cursor.execute(_SQL.list_oldest_open, values)))


def _describe_filter(tenant_id: UUID, filters: IncidentFilter) -> dict[str, Any]:
    return {
        "tenant_id": tenant_id,
        "code": filters.code,
        "kind": filters.kind,
        "node": filters.node,
        "endpoint": filters.endpoint,
        "entity_type": filters.entity_type,
        "document_id": filters.document_id,
        "instance_id": filters.instance_id,
        "assignee": filters.assignee,
    }


def find_incident(connection: Connection, tenant_id: UUID, incident_id: UUID) -> IncidentRow | None:
    values = {"tenant_id": tenant_id, "id": incident_id}
    with connection.cursor(row_factory=class_row(IncidentRow)) as cursor:
        return cursor.execute(_SQL.find_incident, values).fetchone()


def group_incidents(connection: Connection, tenant_id: UUID, *, limit: int) -> list[IncidentGroupRow]:
    """Group open incidents by their cause, the largest group first."""
    values = {"tenant_id": tenant_id, "limit": limit}
    with connection.cursor(row_factory=class_row(IncidentGroupRow)) as cursor:
        return cursor.execute(_SQL.group_incidents, values).fetchall()


def read_held_instances(
    connection: Connection, tenant_id: UUID, instance_ids: Sequence[UUID]
) -> list[HeldInstanceRow]:
    values = {"tenant_id": tenant_id, "ids": list(instance_ids)}
    with connection.cursor(row_factory=class_row(HeldInstanceRow)) as cursor:
        return cursor.execute(_SQL.read_held_instances, values).fetchall()


def acknowledge_incident(connection: Connection, tenant_id: UUID, incident_id: UUID, actor_id: str) -> bool:
    """Keep who knows of an open incident; return whether it was open."""
    values = {"tenant_id": tenant_id, "id": incident_id, "actor_id": actor_id}
    return connection.execute(_SQL.acknowledge_incident, values).rowcount > 0


def care_for_incident(
    connection: Connection, tenant_id: UUID, incident_id: UUID, assignee: str | None, note: str | None
) -> bool:
    """Write who looks after an open incident, and their note; return whether it was open."""
    values = {"tenant_id": tenant_id, "id": incident_id, "assignee": assignee, "note": note}
    return connection.execute(_SQL.care_for_incident, values).rowcount > 0


def has_open_incident(connection: Connection, tenant_id: UUID, document_id: UUID) -> bool:
    values = {"tenant_id": tenant_id, "document_id": document_id}
    row: Any = connection.execute(_SQL.has_open_incident, values).fetchone()
    return bool(row[0])
