"""Approval requests as waves open them, take their outcomes, and let gates consume them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from operator import attrgetter
from typing import Any
from uuid import UUID

from psycopg.rows import class_row, scalar_row

from signet.core.approvals.eligibility import Seat
from signet.core.approvals.pins import Pins
from signet.core.approvals.seats.rejecters import RejectedRequest
from signet.core.compiler.node_configurations import Vote
from signet.core.tenants.permissions import OWN_RESOURCES
from signet.core.tenants.responsible import ResponsiblePersons
from signet.core.tenants.tenant_file import MAX_ROLES
from signet.store.approvals.voiding import Voiding, void_requests
from signet.store.database import Connection
from signet.store.integrations.notifications import tell_requesters
from signet.store.json_values import to_json
from signet.store.statements import Statements

_SQL = Statements(__file__)
MEMBERS_IN_A_PAGE = 1_000
# At most so many people are shown as holders of seats.
MAX_HOLDERS = 1_000
# So many holders of a request are asked for their permissions, where it has lost one.
MAX_HOLDERS_ASKED = 3
# So many earlier rejections of a content are looked at.
MAX_REJECTED_ALIKE = 20
Row = Mapping[str, Any]


@dataclass(slots=True)
class LiveRequest:
    """A request that is open, or decided and not yet used by a gate; a wave changes it in memory."""

    id: UUID
    instance_id: UUID
    step_execution_id: UUID
    node_id: str
    document_version: int
    stage: int
    status: str
    applied: bool | None
    policy: str
    policy_hash: str
    requester_id: str
    # The persons behind the requester, and all who asked for the same before or since.
    responsible: ResponsiblePersons
    # Both are None in a request of an older release.
    voter_permissions: list[str] | None
    pins: Pins | None
    pins_hash: str | None
    # The variables that are read behind it, as they were at the end of the wave that asked.
    variables: Mapping[str, Any] | None
    # The pinned refs whose document says something else now.
    changed_pins: list[str]
    # The fields of the document whose personal values were erased since people were asked.
    erased_fields: list[str]
    snapshot_hash: str
    definition_hash: str
    # The document was first asked about then, on its present way.
    asked_since: datetime
    escalate_at: datetime | None
    expire_at: datetime | None
    remind_at: datetime | None
    # Of its stage.
    reminders: int
    outcome: str | None
    seats: list[Seat]

    @property
    def is_unused(self) -> bool:
        """Return whether it is approved, and no gate has used it yet."""
        return self.status == "approved" and not self.applied

    @property
    def is_reopened(self) -> bool:
        return any(seat.status == "lapsed" for seat in self.seats)


@dataclass(frozen=True, slots=True)
class PublishedChainRow:
    version: int
    same_person: str | None
    permission: str | None
    steps: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class CandidateRow:
    user_id: str
    roles: list[str]
    permissions: list[str]
    # The document was first asked about then, and eligibility has changed since.
    changed_since: datetime | None


@dataclass(frozen=True, slots=True)
class ApprovingInstance:
    """An instance whose gate has used an approval, and the definition that asked for it."""

    instance_id: UUID
    definition_id: UUID
    definition_version: int


@dataclass(frozen=True, slots=True)
class VoteRow:
    """A decision, with its row of the audit trail, and its voters who are active members."""

    id: str
    request_id: UUID
    stage: int
    position: int
    decision: Vote
    decided_by: str
    on_behalf_of: str | None
    document_version: int
    snapshot_hash: str
    definition_hash: str
    policy_hash: str
    pins_hash: str | None
    audited: dict[str, Any] | None
    # As JSON: the delegation that it was given by.
    delegation: dict[str, Any] | None
    voters: list[dict[str, Any]] | None
    # As JSON: the changes of eligibility that may bar it.
    changes: list[dict[str, Any]] | None
    # The person who asked, or the owner of the key that did, is no active member any more.
    has_requester_left: bool


@dataclass(frozen=True, slots=True)
class AskingRow:
    id: UUID
    instance_id: UUID
    # A few who may vote, as far as seats and parts tell; and the permissions that a voter needs besides.
    holders: list[str]
    needed: list[str]
    entity_type: str
    contract_version: int
    # Since then a grant may bar a vote; the document's people may have given nothing.
    since: datetime
    barred: list[str]


@dataclass(slots=True)
class ApprovalRows:
    """Rows about approvals that a wave writes at its end."""

    # New ones; at the end of the wave each is given the variables that it pins.
    requests: list[dict[str, Any]] = field(default_factory=list)
    seats: list[Row] = field(default_factory=list)
    lapsed_seats: list[Row] = field(default_factory=list)
    opened_seats: list[Row] = field(default_factory=list)
    changed: dict[UUID, Row] = field(default_factory=dict)
    ended: list[UUID] = field(default_factory=list)
    voided: list[Voiding] = field(default_factory=list)
    applied: dict[UUID, UUID] = field(default_factory=dict)  # by request, its instance
    turns: dict[str, int] = field(default_factory=dict)
    document_turns: list[Row] = field(default_factory=list)
    notifications: list[Row] = field(default_factory=list)
    # What was done to instances: those that they act for are told.
    told: list[Row] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        return not any(_read_rows(self))


_read_rows = attrgetter(*(each.name for each in fields(ApprovalRows)))


def read_of_instances(
    connection: Connection, tenant_id: UUID, instance_ids: Sequence[UUID]
) -> list[LiveRequest]:
    values = {"tenant_id": tenant_id, "instance_ids": list(instance_ids)}
    with connection.cursor(row_factory=class_row(LiveRequest)) as cursor:
        requests = cursor.execute(_SQL.read_of_instances, values).fetchall()
    for request in requests:
        request.seats = [Seat(**seat) for seat in request.seats]  # type: ignore[arg-type]  # as JSON
        request.responsible = frozenset(request.responsible)
    return requests


def read_published_chain(connection: Connection, tenant_id: UUID, name: str) -> PublishedChainRow | None:
    with connection.cursor(row_factory=class_row(PublishedChainRow)) as cursor:
        return cursor.execute(_SQL.read_chain, {"tenant_id": tenant_id, "name": name}).fetchone()


def read_last_requester(
    connection: Connection, tenant_id: UUID, document_id: UUID
) -> tuple[str, ResponsiblePersons] | None:
    """Return who requested the last transition that was performed, with the persons behind them."""
    values = {"tenant_id": tenant_id, "document_id": document_id}
    row: Any = connection.execute(_SQL.read_last_requester, values).fetchone()
    return (row[0], frozenset(row[1] or ())) if row else None


def find_approving_instance(
    connection: Connection, tenant_id: UUID, document_id: UUID
) -> ApprovingInstance | None:
    """Find the instance whose gate has used an approval of the document last."""
    values = {"tenant_id": tenant_id, "document_id": document_id}
    with connection.cursor(row_factory=class_row(ApprovingInstance)) as cursor:
        return cursor.execute(_SQL.find_approving_instance, values).fetchone()


def list_earlier_requesters(connection: Connection, document_id: UUID) -> ResponsiblePersons:
    row: Any = connection.execute(_SQL.list_earlier_requesters, {"document_id": document_id}).fetchone()
    return frozenset(row[0])


def list_rejected_alike(
    connection: Connection,
    tenant_id: UUID,
    document_id: UUID,
    node_id: str,
    content_hash: str,
    data: Mapping[str, Any],
) -> list[RejectedRequest]:
    """List the newest rejected requests of a node about a content, whichever document has it."""
    values = {
        "tenant_id": tenant_id,
        "document_id": document_id,
        "node_id": node_id,
        "content_hash": content_hash,
        "data": to_json([data]),
        "limit": MAX_REJECTED_ALIKE,
    }
    rows: list[Any] = connection.execute(_SQL.list_rejected_alike, values).fetchall()
    return [RejectedRequest(request_id, [Seat(**seat) for seat in seats]) for request_id, seats in rows]


def find_first_asked(connection: Connection, document_id: UUID) -> datetime | None:
    """Return when the document was first asked about on its present way; None if it was not."""
    row: Any = connection.execute(_SQL.find_first_asked, {"document_id": document_id}).fetchone()
    first_asked: datetime | None = row[0]
    return first_asked


def lock_roles_shared(connection: Connection, tenant_id: UUID) -> None:
    """Keep everyone's roles until the transaction ends: changes of members wait."""
    connection.execute(_SQL.lock_roles_shared, {"tenant_id": tenant_id})


def read_candidates(
    connection: Connection,
    tenant_id: UUID,
    user_ids: Collection[str],
    roles: Collection[str],
    *,
    at_most: int,
    document_id: UUID | None = None,
) -> dict[str, CandidateRow]:
    """Read active members with all of their roles: the named people, and at most so many of each role."""
    values = {
        "tenant_id": tenant_id,
        "user_ids": list(user_ids),
        "roles": list(roles),
        "at_most": at_most,
        "document_id": document_id,
    }
    with connection.cursor(row_factory=class_row(CandidateRow)) as cursor:
        return {row.user_id: row for row in cursor.execute(_SQL.read_candidates, values).fetchall()}


def read_members(connection: Connection, tenant_id: UUID, role: str) -> list[str]:
    """Read every active member who holds the role, page by page."""
    members: list[str] = []
    while True:
        values = {
            "tenant_id": tenant_id,
            "role": role,
            "after": members[-1] if members else "",
            "limit": MEMBERS_IN_A_PAGE,
        }
        page = [str(row[0]) for row in connection.execute(_SQL.read_members, values).fetchall()]
        members += page
        if len(page) < MEMBERS_IN_A_PAGE:
            return members


def list_asking(
    connection: Connection, tenant_id: UUID, role: str | None, user_id: str | None, *, after: UUID, limit: int
) -> list[AskingRow]:
    """List open seats of the role or of the person, by request.

    A request is listed once for each of its seats. `limit` counts seats.
    """
    values = {
        "tenant_id": tenant_id,
        "role": role,
        "user_id": user_id,
        "after": after,
        "limit": limit,
        "holders": MAX_HOLDERS_ASKED,
    }
    with connection.cursor(row_factory=class_row(AskingRow)) as cursor:
        return cursor.execute(_SQL.list_asking, values).fetchall()


def list_asked_roles_of_tenant(connection: Connection, tenant_id: UUID) -> list[str]:
    values = {"tenant_id": tenant_id, "limit": MAX_ROLES}
    with connection.cursor(row_factory=scalar_row) as cursor:
        return cursor.execute(_SQL.list_asked_roles_of_tenant, values).fetchall()


def list_holders_asked(
    connection: Connection, tenant_id: UUID, role: str, *, after: str, limit: int
) -> list[tuple[str, bool]]:
    """List a page of the members who hold the role, each with whether they are asked by name."""
    values = {"tenant_id": tenant_id, "role": role, "after": after, "limit": limit}
    rows: list[Any] = connection.execute(_SQL.list_holders_asked, values).fetchall()
    return rows


def read_holders(
    connection: Connection, tenant_id: UUID, user_ids: Collection[str], roles: Collection[str], now: datetime
) -> dict[str, list[str]]:
    """Read people to be shown: the named ones, holders of the roles, and their present delegates."""
    values = {
        "tenant_id": tenant_id,
        "user_ids": list(user_ids),
        "roles": list(roles),
        "now": now,
        "limit": MAX_HOLDERS,
    }
    return {str(row[0]): list(row[1]) for row in connection.execute(_SQL.read_holders, values).fetchall()}  # type: ignore[call-overload]


def read_managers(
    connection: Connection, tenant_id: UUID, user_ids: Collection[str], levels: int
) -> tuple[dict[str, str], dict[str, str]]:
    """Read who manages these people and the people above them, and of keys whose line they have."""
    values = {"tenant_id": tenant_id, "user_ids": list(user_ids), "levels": levels}
    rows: list[Any] = connection.execute(_SQL.read_managers, values).fetchall()
    owners = {user_id: owner_id for user_id, _, owner_id in rows if user_id != owner_id}
    return {user_id: manager_id for user_id, manager_id, _ in rows}, owners


def read_turns(
    connection: Connection, tenant_id: UUID, document_id: UUID, roles: Collection[str]
) -> dict[str, tuple[int, bool]]:
    """Read the turn of each role, and whether the document has taken it before."""
    values = {"tenant_id": tenant_id, "document_id": document_id, "roles": list(roles)}
    rows: list[Any] = connection.execute(_SQL.read_turns, values).fetchall()
    return {role: (turn, is_own) for role, turn, is_own in rows}


def read_votes(connection: Connection, tenant_id: UUID, request_ids: Collection[UUID]) -> list[VoteRow]:
    values = {
        "tenant_id": tenant_id,
        "request_ids": list(request_ids),
        "own_resources": sorted(OWN_RESOURCES),
    }
    with connection.cursor(row_factory=class_row(VoteRow)) as cursor:
        return cursor.execute(_SQL.read_votes, values).fetchall()


def write_approvals(connection: Connection, tenant_id: UUID, rows: ApprovalRows, now: datetime) -> None:
    fixed: dict[str, Any] = {"tenant_id": tenant_id, "now": now}
    with connection.pipeline():
        if rows.turns:
            turns = {"roles": list(rows.turns), "counts": list(rows.turns.values())}
            connection.execute(_SQL.take_turns, {**fixed, **turns})
        for text, listed in (
            (_SQL.keep_turns, rows.document_turns),
            (_SQL.insert_requests, rows.requests),
            (_SQL.lapse_seats, rows.lapsed_seats),
            (_SQL.move_requests, list(rows.changed.values())),
            (_SQL.insert_seats, rows.seats),
            (_SQL.open_closed_seats, rows.opened_seats),
            (_SQL.insert_notifications, rows.notifications),
        ):
            if listed:
                connection.execute(text, {**fixed, "rows": to_json(listed)})
        if rows.ended:
            connection.execute(_SQL.close_seats, {**fixed, "request_ids": rows.ended})
        if rows.applied:
            applied = {"instance_ids": list(rows.applied.values()), "request_ids": list(rows.applied)}
            connection.execute(_SQL.mark_applied, {**fixed, **applied})
        if rows.told:
            tell_requesters(connection, tenant_id, rows.told, now)
        void_requests(connection, tenant_id, rows.voided, now)
