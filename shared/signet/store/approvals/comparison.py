"""The last approved version of a document, for comparison with the one to be approved."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from psycopg.rows import class_row

from signet.core.approvals.pins import Pins
from signet.store.database import Connection
from signet.store.statements import Statements

_SQL = Statements(__file__)


@dataclass(frozen=True, slots=True)
class ApprovedVersion:
    """A version that a request approved; `snapshot` is its text as it was hashed."""

    request_id: UUID
    document_id: UUID
    document_version: int
    approved_at: datetime | None
    snapshot: str
    # None in a request of an older release.
    pins: Pins | None


def find_last_approved(
    connection: Connection, tenant_id: UUID, document_id: UUID, request_id: UUID
) -> ApprovedVersion | None:
    values = {"tenant_id": tenant_id, "document_id": document_id, "request_id": request_id}
    with connection.cursor(row_factory=class_row(ApprovedVersion)) as cursor:
        return cursor.execute(_SQL.find_last_approved, values).fetchone()


@dataclass(frozen=True, slots=True)
class AskedVersion:
    """A version that people were asked about before; `snapshot` is its text as it was hashed."""

    request_id: UUID
    document_id: UUID
    document_version: int
    asked_at: datetime
    status: str
    # The reason why it was voided.
    outcome: str | None
    snapshot: str
    pins: Pins | None


def find_last_asked(connection: Connection, tenant_id: UUID, request_id: UUID) -> AskedVersion | None:
    values = {"tenant_id": tenant_id, "request_id": request_id}
    with connection.cursor(row_factory=class_row(AskedVersion)) as cursor:
        return cursor.execute(_SQL.find_last_asked, values).fetchone()
