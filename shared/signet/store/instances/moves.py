"""Targets of moves: the newer definition, instances under older ones, and their finished steps."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from psycopg.rows import class_row, scalar_row

from signet.store.database import Connection
from signet.store.pipeline import DeferredStatement
from signet.store.statements import Statements

_SQL = Statements(__file__)
# At most so many older definitions of one subject. Instances under still older ones are moved by id.
MAX_OLDER = 1_000
# Requests of one document that came to nothing, one after the other.
MAX_LEFT = 1_000


@dataclass(frozen=True, slots=True)
class TargetRow:
    id: UUID
    entity_type: str
    name: str
    version: int
    published_at: datetime


@dataclass(frozen=True, slots=True)
class ExpectedInstance:
    """An instance, and the version at which it was seen."""

    id: UUID
    version: int


def find_target(
    connection: Connection, tenant_id: UUID, entity_type: str, name: str, version: int, kind: str
) -> TargetRow | None:
    values = {
        "tenant_id": tenant_id,
        "entity_type": entity_type,
        "name": name,
        "version": version,
        "kind": kind,
    }
    with connection.cursor(row_factory=class_row(TargetRow)) as cursor:
        return cursor.execute(_SQL.find_target, values).fetchone()


def list_older(connection: Connection, tenant_id: UUID, definition_id: UUID) -> list[UUID]:
    values = {"tenant_id": tenant_id, "id": definition_id, "limit": MAX_OLDER}
    return [UUID(str(row[0])) for row in connection.execute(_SQL.list_older, values).fetchall()]


def list_live_under(
    connection: Connection, tenant_id: UUID, definition_ids: Sequence[UUID], *, after: UUID, limit: int
) -> list[ExpectedInstance]:
    values = {
        "tenant_id": tenant_id,
        "definition_ids": list(definition_ids),
        "after": after,
        "limit": limit,
    }
    with connection.cursor(row_factory=class_row(ExpectedInstance)) as cursor:
        return cursor.execute(_SQL.list_live_under, values).fetchall()


def list_done(connection: Connection, tenant_id: UUID, instance_id: UUID) -> list[tuple[str, str]]:
    """List finished steps as (token, node)."""
    values = {"tenant_id": tenant_id, "id": instance_id}
    return [(str(row[0]), str(row[1])) for row in connection.execute(_SQL.list_done, values).fetchall()]


def lock_unsent(connection: Connection, tenant_id: UUID, instance_id: UUID) -> None:
    """Lock the effects that wait to be sent, so that none leaves while an act judges what has left."""
    connection.execute(_SQL.lock_unsent, {"tenant_id": tenant_id, "id": instance_id})


def find_last_instance(tenant_id: UUID, document_id: UUID) -> DeferredStatement:
    """Make the statement that finds the newest instance of a document, and the document."""
    return DeferredStatement(_SQL.find_last_instance, {"tenant_id": tenant_id, "document_id": document_id})


def list_begun_over_left(
    connection: Connection, tenant_id: UUID, instance_ids: Sequence[UUID]
) -> frozenset[UUID]:
    """List which of these began for a request where an operator had left the document, and passed no gate."""
    values = {"tenant_id": tenant_id, "ids": list(instance_ids)}
    with connection.cursor(row_factory=scalar_row) as cursor:
        return frozenset(cursor.execute(_SQL.list_begun_over_left, values).fetchall())


def find_left_instance(connection: Connection, tenant_id: UUID, instance_id: UUID) -> UUID:
    """Find the instance that left its document undone, before the requests that came to nothing."""
    values = {"tenant_id": tenant_id, "id": instance_id, "limit": MAX_LEFT}
    with connection.cursor(row_factory=scalar_row) as cursor:
        found = cursor.execute(_SQL.find_left_instance, values).fetchone()
    return UUID(str(found))
