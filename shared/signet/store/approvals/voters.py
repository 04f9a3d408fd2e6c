"""Requests and people as votes would find them, read without a lock for views of many requests."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.rows import class_row, dict_row, scalar_row

from signet.core.approvals.eligibility import Delegation, Seat
from signet.store.approvals.decisions import PersonRow
from signet.store.database import Connection
from signet.store.statements import Statements

_SQL = Statements(__file__)
# At most so many delegations are looked at, and so many members are looked through for additions.
MAX_DELEGATIONS = 1_000
MAX_MEMBERS = 200
# A document that is asked about again and again names at most so many rejections.
MAX_REJECTIONS = 20
# A request shows at most so many answers by hand.
MAX_ANSWERS = 20


@dataclass(frozen=True, slots=True)
class VotedDocumentRow:
    """A document that is voted on, without its content."""

    id: UUID
    entity_type: str
    contract_version: int
    status: str
    version: int
    creator_id: str
    created_at: datetime
    updated_at: datetime
    # The instance that runs for it or is paused.
    instance_id: UUID | None
    snapshot_hash: str | None
    creator_responsible: list[str]
    editor_responsible: list[str]
    requester_responsible: list[str]


@dataclass(frozen=True, slots=True)
class VotedContent:
    """The data of a document, and the personal values that it refers to."""

    data: Mapping[str, Any]
    personal: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RejectionRow:
    """A vote that rejected the document before, or one that it amends."""

    request_id: UUID
    document_id: UUID
    document_version: int
    stage: int
    decided_by: str
    on_behalf_of: str | None
    reason: str | None
    created_at: datetime
    is_same_content: bool
    # Another document says the same but for its number.
    is_look_alike: bool


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """A wait that an operator ended, with the variables that they set."""

    node_id: str
    answered_by: str
    # The person that a command line claimed to be.
    claimed: str | None
    reason: str
    variables: Mapping[str, Any]
    at: datetime


@dataclass(frozen=True, slots=True)
class PinnedVariable:
    """A variable of the workflow that is read behind the approval, as people are asked about it.

    `set_by` is the node that set it, and `set_at_version` the version that the document had then. `is_older`
    says that people are asked about a later version: the variable may not follow from it. `is_changed` says
    that the variable says something else now: then nobody can vote, and people are asked again.
    """

    name: str
    value: Any
    set_by: str | None
    set_at_version: int | None
    is_older: bool
    is_changed: bool


def read_documents(
    connection: Connection, tenant_id: UUID, ids: Collection[UUID]
) -> dict[UUID, VotedDocumentRow]:
    with connection.cursor(row_factory=class_row(VotedDocumentRow)) as cursor:
        rows = cursor.execute(_SQL.read_documents, {"tenant_id": tenant_id, "ids": list(ids)}).fetchall()
    return {row.id: row for row in rows}


def read_contents(connection: Connection, tenant_id: UUID, ids: Collection[UUID]) -> dict[UUID, VotedContent]:
    rows: list[Any] = connection.execute(
        _SQL.read_contents, {"tenant_id": tenant_id, "ids": list(ids)}
    ).fetchall()
    return {document_id: VotedContent(data, personal) for document_id, data, personal in rows}


def list_seats(connection: Connection, tenant_id: UUID, ids: Collection[UUID]) -> dict[UUID, list[Seat]]:
    """List the seats of all stages, by request."""
    seats: dict[UUID, list[Seat]] = defaultdict(list)
    with connection.cursor(row_factory=dict_row) as cursor:
        for row in cursor.execute(_SQL.list_seats, {"tenant_id": tenant_id, "ids": list(ids)}).fetchall():
            seats[row.pop("request_id")].append(Seat(**row))
    return seats


def list_delegations(
    connection: Connection, tenant_id: UUID, people: Collection[str], now: datetime
) -> list[Delegation]:
    """List what these people may rely on now as delegates."""
    values = {"tenant_id": tenant_id, "people": list(people), "now": now, "limit": MAX_DELEGATIONS}
    with connection.cursor(row_factory=class_row(Delegation)) as cursor:
        return cursor.execute(_SQL.list_delegations, values).fetchall()


def read_people(connection: Connection, tenant_id: UUID, people: Collection[str]) -> dict[str, PersonRow]:
    values = {"tenant_id": tenant_id, "people": list(people)}
    with connection.cursor(row_factory=class_row(PersonRow)) as cursor:
        return {row.user_id: row for row in cursor.execute(_SQL.read_people, values).fetchall()}


def list_active_members(connection: Connection, tenant_id: UUID) -> list[str]:
    """List the first active members by id."""
    values = {"tenant_id": tenant_id, "limit": MAX_MEMBERS}
    with connection.cursor(row_factory=scalar_row) as cursor:
        return cursor.execute(_SQL.list_active_members, values).fetchall()


def list_rejected_before(connection: Connection, tenant_id: UUID, request_id: UUID) -> list[RejectionRow]:
    values = {"tenant_id": tenant_id, "id": request_id, "limit": MAX_REJECTIONS}
    with connection.cursor(row_factory=class_row(RejectionRow)) as cursor:
        return cursor.execute(_SQL.list_rejected_before, values).fetchall()


def list_answers_by_hand(connection: Connection, tenant_id: UUID, request_id: UUID) -> list[AnswerRow]:
    values = {"tenant_id": tenant_id, "id": request_id, "limit": MAX_ANSWERS}
    with connection.cursor(row_factory=class_row(AnswerRow)) as cursor:
        return cursor.execute(_SQL.list_answers_by_hand, values).fetchall()


def list_pinned_variables(connection: Connection, tenant_id: UUID, request_id: UUID) -> list[PinnedVariable]:
    values = {"tenant_id": tenant_id, "id": request_id}
    with connection.cursor(row_factory=class_row(PinnedVariable)) as cursor:
        return cursor.execute(_SQL.list_pinned_variables, values).fetchall()
