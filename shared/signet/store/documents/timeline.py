"""A document's audit trail and timeline, which are there after its deletion too."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypeVar
from uuid import UUID

from psycopg.rows import class_row

from signet.store.database import Connection
from signet.store.statements import Statements

_SQL = Statements(__file__)
_Row = TypeVar("_Row")
# A time and an id: the next page has what is older.
Before = tuple[datetime, UUID]
_NEWEST: Mapping[str, Any] = {"before": "infinity", "before_id": UUID(int=2**128 - 1)}

TimelineKind = Literal["mutation", "request", "history", "step", "decision"]


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """A row of the document's chain; `hash` is the SHA-256 of `content`, which names the row before."""

    seq: int
    id: UUID
    action: str
    actor_id: str
    created_at: datetime
    previous_hash: str | None
    hash: str
    content: str


@dataclass(frozen=True, slots=True)
class TimelineRow:
    at: datetime
    id: UUID
    kind: TimelineKind
    what: str
    actor_id: str
    on_behalf_of: str | None
    reason: str | None
    version: int | None
    instance_id: UUID | None
    node_id: str | None
    outcome: str | None
    # The audit row of a mutation.
    content: str | None


def find_document_type(connection: Connection, tenant_id: UUID, document_id: UUID) -> str | None:
    """Return the entity type; None if there never was such a document."""
    values = {"tenant_id": tenant_id, "document_id": document_id}
    row: Any = connection.execute(_SQL.find_document_type, values).fetchone()
    return None if row is None else str(row[0])


def list_audit(
    connection: Connection, tenant_id: UUID, document_id: UUID, after: int, limit: int
) -> list[AuditRecord]:
    values = {"tenant_id": tenant_id, "document_id": document_id, "after": after, "limit": limit}
    return _fetch(connection, AuditRecord, _SQL.list_audit, values)


def list_timeline(
    connection: Connection,
    tenant_id: UUID,
    entity_type: str,
    document_id: UUID,
    before: Before | None,
    limit: int,
) -> list[TimelineRow]:
    values = {
        "tenant_id": tenant_id,
        "entity_type": entity_type,
        "document_id": document_id,
        "limit": limit,
        **_write_before(before),
    }
    return _fetch(connection, TimelineRow, _SQL.list_timeline, values)


def find_newest_instance(
    connection: Connection, tenant_id: UUID, entity_type: str, document_id: UUID
) -> UUID | None:
    values = {"tenant_id": tenant_id, "entity_type": entity_type, "document_id": document_id}
    row: Any = connection.execute(_SQL.find_newest_instance, values).fetchone()
    return None if row is None else UUID(str(row[0]))


def _write_before(before: Before | None) -> Mapping[str, Any]:
    return _NEWEST if before is None else {"before": before[0], "before_id": before[1]}


def _fetch(connection: Connection, row: type[_Row], statement: str, values: Mapping[str, Any]) -> list[_Row]:
    with connection.cursor(row_factory=class_row(row)) as cursor:
        return cursor.execute(statement, values).fetchall()
