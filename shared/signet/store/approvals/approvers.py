"""The persons who have approved a document, in all of its instances."""

from uuid import UUID

from psycopg.rows import scalar_row

from signet.store.database import Connection
from signet.store.statements import Statements

_SQL = Statements(__file__)


def list_approvers(connection: Connection, tenant_id: UUID, document_id: UUID) -> frozenset[str]:
    """List who has approved the document, and the persons they voted for."""
    with connection.cursor(row_factory=scalar_row) as cursor:
        values = {"tenant_id": tenant_id, "document_id": document_id}
        return frozenset(cursor.execute(_SQL.list_approvers, values))
