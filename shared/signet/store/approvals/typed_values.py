"""The values that people have typed over what an action gave a document."""

from collections.abc import Collection
from typing import Any
from uuid import UUID

from psycopg.rows import scalar_row

from signet.store.approvals.given_decisions import MAX_LINE
from signet.store.database import Connection
from signet.store.statements import Statements

_SQL = Statements(__file__)


def list_typed_over(
    connection: Connection, tenant_id: UUID, document_id: UUID, *, since: int, accepted: Collection[str] = ()
) -> frozenset[str]:
    """List the fields that say something else now than before people edited them.

    `since` is the first version whose edit counts. An edit in an `accepted` status does not.
    """
    values = {
        "tenant_id": tenant_id,
        "document_id": document_id,
        "since": since,
        "accepted": list(accepted),
    }
    rows: Any = connection.execute(_SQL.list_typed_over, values)
    return frozenset(name for (name,) in rows)


def find_first_original(connection: Connection, tenant_id: UUID, document_id: UUID) -> UUID:
    """Find the document that the first of a line of amendments was made of."""
    values = {"tenant_id": tenant_id, "document_id": document_id, "limit": MAX_LINE}
    with connection.cursor(row_factory=scalar_row) as cursor:
        found: UUID | None = cursor.execute(_SQL.find_first_original, values).fetchone()
    return found or document_id
