"""The calls that failed on the way of a document, so that it went on by an edge for errors."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from psycopg.rows import class_row

from signet.store.approvals.given_decisions import MAX_LINE
from signet.store.database import Connection
from signet.store.statements import Statements

_SQL = Statements(__file__)

# So many calls are shown, each with so much of what the receiver said.
MAX_FAILED_CALLS, MAX_SAID = 20, 300


@dataclass(frozen=True, slots=True)
class FailedCall:
    """A call or a message that failed, so that the document went on by the edge for errors.

    `document_id` is that document, or one that it was made of or amends. `status` and `said` are the answer
    of the receiver, where there was one; a long answer is cut.
    """

    document_id: UUID
    node_id: str
    reason: str
    status: int | None
    said: str | None
    at: datetime


def list_failed_calls(
    connection: Connection, tenant_id: UUID, document_id: UUID, *, until: datetime | None
) -> list[FailedCall]:
    """List those of all instances of the document, and of what it comes of, until a moment or until now."""
    values = {
        "tenant_id": tenant_id,
        "document_id": document_id,
        "until": until,
        "line": MAX_LINE,
        "limit": MAX_FAILED_CALLS,
        "at_most": MAX_SAID,
    }
    with connection.cursor(row_factory=class_row(FailedCall)) as cursor:
        return cursor.execute(_SQL.list_failed_calls, values).fetchall()
