"""What an event from outside is offered to as it comes: the waits that are open for its key."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from psycopg.rows import scalar_row

from signet.store.database import Connection
from signet.store.statements import Statements

_SQL = Statements(__file__)


def lock_key(connection: Connection, key: str) -> None:
    """Lock a key until the transaction ends: a wait that begins meanwhile is seen, or sees what is written."""
    connection.execute(_SQL.lock_key, {"key": key})


def list_schemas(
    connection: Connection, tenant_id: UUID, key: str, at_most: int
) -> list[Mapping[str, Any] | None]:
    """List the schemas of the waits that are open for a key; None is of a wait that takes anything."""
    values = {"tenant_id": tenant_id, "key": key, "at_most": at_most}
    with connection.cursor(row_factory=scalar_row) as cursor:
        return cursor.execute(_SQL.list_schemas, values).fetchall()


def offer_event(
    connection: Connection, tenant_id: UUID, event_id: UUID, key: str, *, is_alone: bool, at_most: int
) -> list[UUID]:
    """Offer an event to the waits of its key. Return their instances, the oldest first, and one too many."""
    values = {
        "tenant_id": tenant_id,
        "id": event_id,
        "key": key,
        "is_alone": is_alone,
        "at_most": at_most,
    }
    with connection.cursor(row_factory=scalar_row) as cursor:
        return cursor.execute(_SQL.offer_event, values).fetchall()
