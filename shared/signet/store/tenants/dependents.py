"""Everything that depends on a member: keys, service accounts, delegations, seats by name, and reports."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.rows import class_row, scalar_row

from signet.core.errors import Defect
from signet.core.tenants.eligibility_changes import ChangeAuthor
from signet.store.database import Connection
from signet.store.statements import Statements
from signet.store.tenants.eligibility import describe_author

_SQL = Statements(__file__)


@dataclass(frozen=True, slots=True)
class DependentCounts:
    """The numbers of what depends on a member; each ends at a limit."""

    keys: int
    service_accounts: int
    delegations: int
    seats: int
    reports: int
    requests: int


@dataclass(frozen=True, slots=True)
class DependentKey:
    """A live key that the member owns."""

    id: UUID
    name: str
    roles: list[str]
    created_at: datetime
    expires_at: datetime | None


@dataclass(frozen=True, slots=True)
class DependentAccount:
    """An active service account that the member owns."""

    id: str
    label: str
    roles: list[str]


@dataclass(frozen=True, slots=True)
class DependentDelegation:
    """A delegation that the member has given or taken."""

    id: UUID
    user_id: str
    delegate_id: str
    entity_type: str | None
    from_time: datetime
    to_time: datetime


@dataclass(frozen=True, slots=True)
class DependentSeat:
    """An open seat that the member holds by name."""

    request_id: UUID
    stage: int
    position: int
    document_id: UUID
    node_id: str
    expire_at: datetime | None


@dataclass(frozen=True, slots=True)
class DependentRequest:
    """A request of the member, or of a key of theirs; without a transition its way is automatic."""

    document_id: UUID
    entity_type: str
    transition: str | None
    asked_by: str
    asked_at: datetime


@dataclass(frozen=True, slots=True)
class SeatKey:
    request_id: UUID
    stage: int
    position: int


@dataclass(frozen=True, slots=True)
class EndedDelegation:
    id: UUID
    user_id: str
    delegate_id: str


def count_dependents(connection: Connection, tenant_id: UUID, user_id: str, limit: int) -> DependentCounts:
    with connection.cursor(row_factory=class_row(DependentCounts)) as cursor:
        found = cursor.execute(_SQL.count_dependents, _values(tenant_id, user_id, limit)).fetchone()
    if found is None:
        raise Defect("COUNT_LOST", "a count gave no row")
    return found


def list_keys(connection: Connection, tenant_id: UUID, user_id: str, limit: int) -> list[DependentKey]:
    with connection.cursor(row_factory=class_row(DependentKey)) as cursor:
        return cursor.execute(_SQL.list_keys, _values(tenant_id, user_id, limit)).fetchall()


def list_accounts(
    connection: Connection, tenant_id: UUID, user_id: str, limit: int
) -> list[DependentAccount]:
    with connection.cursor(row_factory=class_row(DependentAccount)) as cursor:
        return cursor.execute(_SQL.list_accounts, _values(tenant_id, user_id, limit)).fetchall()


def list_delegations(
    connection: Connection, tenant_id: UUID, user_id: str, limit: int
) -> list[DependentDelegation]:
    with connection.cursor(row_factory=class_row(DependentDelegation)) as cursor:
        return cursor.execute(_SQL.list_delegations, _values(tenant_id, user_id, limit)).fetchall()


def list_seats(connection: Connection, tenant_id: UUID, user_id: str, limit: int) -> list[DependentSeat]:
    with connection.cursor(row_factory=class_row(DependentSeat)) as cursor:
        return cursor.execute(_SQL.list_seats, _values(tenant_id, user_id, limit)).fetchall()


def list_requests(
    connection: Connection, tenant_id: UUID, user_id: str, limit: int
) -> list[DependentRequest]:
    with connection.cursor(row_factory=class_row(DependentRequest)) as cursor:
        return cursor.execute(_SQL.list_requests, _values(tenant_id, user_id, limit)).fetchall()


def list_reports(connection: Connection, tenant_id: UUID, user_id: str, limit: int) -> list[str]:
    return _scalars(connection, _SQL.list_reports, _values(tenant_id, user_id, limit))


def revoke_keys(
    connection: Connection, tenant_id: UUID, user_id: str, author: ChangeAuthor, now: datetime
) -> list[UUID]:
    """Revoke the member's live keys; return their ids."""
    return _scalars(connection, _SQL.revoke_keys, _change(tenant_id, user_id, author, now=now))


def offer_keys(
    connection: Connection, tenant_id: UUID, user_id: str, to_user_id: str, author: ChangeAuthor
) -> dict[UUID, str]:
    """Ask another member to take the live keys over; return their names by id."""
    values = _change(tenant_id, user_id, author, to_user_id=to_user_id)
    rows: list[Any] = connection.execute(_SQL.offer_keys, values).fetchall()
    return dict(rows)


def disable_accounts(
    connection: Connection, tenant_id: UUID, user_id: str, author: ChangeAuthor, now: datetime
) -> list[str]:
    """Disable the member's service accounts; return their ids."""
    return _scalars(connection, _SQL.disable_accounts, _change(tenant_id, user_id, author, now=now))


def hand_over_accounts(
    connection: Connection,
    tenant_id: UUID,
    user_id: str,
    to_user_id: str,
    author: ChangeAuthor,
    now: datetime,
) -> list[str]:
    """Give the member's service accounts to another; return their ids."""
    values = _change(tenant_id, user_id, author, to_user_id=to_user_id, now=now)
    return _scalars(connection, _SQL.hand_over_accounts, values)


def revoke_delegations(
    connection: Connection, tenant_id: UUID, user_id: str, author: ChangeAuthor, now: datetime
) -> list[EndedDelegation]:
    """Revoke what the member has given and taken.

    This waits for decisions in progress that a delegation allows.
    """
    with connection.cursor(row_factory=class_row(EndedDelegation)) as cursor:
        values = _change(tenant_id, user_id, author, now=now)
        return cursor.execute(_SQL.revoke_delegations, values).fetchall()


def end_reports(connection: Connection, tenant_id: UUID, user_id: str, author: ChangeAuthor) -> list[str]:
    """Take the manager from those who report to the member; return who they are."""
    return _scalars(connection, _SQL.end_reports, _change(tenant_id, user_id, author))


def hand_over_reports(
    connection: Connection, tenant_id: UUID, user_id: str, to_user_id: str, author: ChangeAuthor
) -> dict[str, str | None]:
    """Give those who report to the member another manager; return each with the new one."""
    values = _change(tenant_id, user_id, author, to_user_id=to_user_id)
    rows: list[Any] = connection.execute(_SQL.hand_over_reports, values).fetchall()
    return dict(rows)


def hand_over_seats(
    connection: Connection,
    tenant_id: UUID,
    user_id: str,
    to_user_id: str,
    author: ChangeAuthor,
    *,
    now: datetime,
    limit: int,
) -> list[SeatKey]:
    """Hand the open seats of a disabled member over; a stage in which the other has a seat keeps its own."""
    values = _change(tenant_id, user_id, author, to_user_id=to_user_id, now=now, limit=limit)
    with connection.cursor(row_factory=class_row(SeatKey)) as cursor:
        return cursor.execute(_SQL.hand_over_seats, values).fetchall()


def _values(tenant_id: UUID, user_id: str, limit: int) -> dict[str, Any]:
    return {"tenant_id": tenant_id, "user_id": user_id, "limit": limit}


def _change(tenant_id: UUID, user_id: str, author: ChangeAuthor, **more: Any) -> dict[str, Any]:
    return {"tenant_id": tenant_id, "user_id": user_id, **describe_author(author), **more}


def _scalars(connection: Connection, statement: str, values: dict[str, Any]) -> list[Any]:
    with connection.cursor(row_factory=scalar_row) as cursor:
        return cursor.execute(statement, values).fetchall()
