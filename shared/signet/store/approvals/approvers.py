"""The persons who have approved a document, or one that it comes from."""

from typing import Any
from uuid import UUID

from signet.store.database import Connection
from signet.store.statements import Statements

# Documents of which one was made of the other, or amends it.
MAX_LINE = 1_000
_SQL = Statements(__file__)


def list_approvers(connection: Connection, tenant_id: UUID, document_id: UUID) -> frozenset[str] | None:
    """List who has approved the document, or one that it comes from, and the persons they voted for.

    There is no answer for a document that comes from more others than the limit.
    """
    values = {"tenant_id": tenant_id, "document_id": document_id, "limit": MAX_LINE}
    row: Any = connection.execute(_SQL.list_approvers, values).fetchone()
    length, approvers = row
    return frozenset(approvers) if length <= MAX_LINE else None
