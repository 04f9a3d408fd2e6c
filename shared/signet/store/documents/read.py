"""Documents and transition requests as they are shown; nothing is locked."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.rows import class_row, dict_row

from signet.core.approvals.decided_pins import SeenReference, list_seen
from signet.store.approvals.failed_calls import FailedCall, list_failed_calls
from signet.store.database import Connection
from signet.store.statements import Statements

_SQL = Statements(__file__)


@dataclass(frozen=True, slots=True)
class DocumentRecord:
    """A document; its `data` still has references in place of personal values."""

    id: UUID
    entity_type: str
    contract_version: int
    status: str
    version: int
    data: dict[str, Any]
    amended_from_id: UUID | None
    creator_id: str
    created_at: datetime
    updated_at: datetime
    instance_id: UUID | None
    # The number of incidents that hold it; its explanation names them.
    open_incidents: int


@dataclass(frozen=True, slots=True)
class DocumentInLine(DocumentRecord):
    """A document with its place in the line of its amendments.

    They are the amendment that is open, the one that took its place, and the document that is in force.
    """

    amendment_open: UUID | None
    amended_by: UUID | None
    current_id: UUID | None


@dataclass(frozen=True, slots=True)
class TransitionRequestRecord:
    """A request for a transition, with the present state of its document."""

    id: UUID
    document_id: UUID
    document_version: int
    transition: str
    actor_id: str
    reason: str | None
    status: str
    outcome: str | None
    created_at: datetime
    ended_at: datetime | None
    entity_type: str
    document_status: str
    version_now: int
    # Nodes whose call or message the request has withdrawn, and that may have left already.
    may_have_left: list[str]
    # What a request that decides is about of other documents.
    references: Sequence[SeenReference]
    # The calls that failed on the way of its document until it ended.
    failed_calls: Sequence[FailedCall]


@dataclass(frozen=True, slots=True)
class DecidedRequest:
    """A request that decides: what it has pinned, and the data of its document when it was made.

    One of an older release has no pins.
    """

    pins: dict[str, dict[str, Any]] | None
    data: dict[str, Any] | None


def find_document(connection: Connection, tenant_id: UUID, document_id: UUID) -> DocumentInLine | None:
    values = {"tenant_id": tenant_id, "document_id": document_id}
    with connection.cursor(row_factory=class_row(DocumentInLine)) as cursor:
        return cursor.execute(_SQL.find_document, values).fetchone()


def find_transition_request(
    connection: Connection, tenant_id: UUID, request_id: UUID
) -> TransitionRequestRecord | None:
    values = {"tenant_id": tenant_id, "request_id": request_id}
    with connection.cursor(row_factory=dict_row) as cursor:
        row = cursor.execute(_SQL.find_transition_request, values).fetchone()
    if row is None:
        return None
    references = list_seen(row.pop("pins"))
    failed_calls = list_failed_calls(connection, tenant_id, row["document_id"], until=row["ended_at"])
    return TransitionRequestRecord(**row, references=references, failed_calls=failed_calls)


def read_decided(connection: Connection, tenant_id: UUID, request_id: UUID) -> DecidedRequest | None:
    values = {"tenant_id": tenant_id, "request_id": request_id}
    with connection.cursor(row_factory=class_row(DecidedRequest)) as cursor:
        return cursor.execute(_SQL.read_decided, values).fetchone()
