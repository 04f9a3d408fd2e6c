"""Delegations: the right to decide for another person for a time."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from psycopg.rows import class_row

from signet.core.approvals.eligibility import Delegation
from signet.core.tenants.eligibility_changes import ChangeAuthor
from signet.store.database import Connection
from signet.store.statements import Statements
from signet.store.tenants.eligibility import describe_author

_SQL = Statements(__file__)


@dataclass(frozen=True, slots=True)
class DelegationRecord:
    id: UUID
    user_id: str
    delegate_id: str
    entity_type: str | None
    from_time: datetime
    to_time: datetime
    reason: str | None
    created_by: str
    created_at: datetime


def are_active(connection: Connection, tenant_id: UUID, user_ids: set[str]) -> bool:
    values = {"tenant_id": tenant_id, "user_ids": sorted(user_ids)}
    return connection.execute(_SQL.count_active_members, values).fetchone() == (len(user_ids),)


def count_open(
    connection: Connection, tenant_id: UUID, user_id: str, delegate_id: str, now: datetime
) -> tuple[int, int]:
    """Count the delegations that one person gave and the other received, and that may still be in force."""
    values = {"tenant_id": tenant_id, "user_id": user_id, "delegate_id": delegate_id, "now": now}
    row: Any = connection.execute(_SQL.count_open, values).fetchone()
    return row[0], row[1]


def find_overlapping(
    connection: Connection, tenant_id: UUID, new: Delegation, *, only_own: bool
) -> Delegation | None:
    """Find another delegation that allows the same for a part of the time; perhaps only one of their own."""
    values = {
        "tenant_id": tenant_id,
        "user_id": new.user_id,
        "delegate_id": new.delegate_id,
        "entity_type": new.entity_type,
        "from_time": new.from_time,
        "to_time": new.to_time,
        "only_own": only_own,
    }
    with connection.cursor(row_factory=class_row(Delegation)) as cursor:
        return cursor.execute(_SQL.find_overlapping, values).fetchone()


def list_linked(connection: Connection, tenant_id: UUID, new: Delegation, *, limit: int) -> list[Delegation]:
    values = {
        "tenant_id": tenant_id,
        "delegate_id": new.delegate_id,
        "entity_type": new.entity_type,
        "from_time": new.from_time,
        "to_time": new.to_time,
        "limit": limit,
    }
    with connection.cursor(row_factory=class_row(Delegation)) as cursor:
        return cursor.execute(_SQL.list_linked, values).fetchall()


def insert_delegation(
    connection: Connection,
    tenant_id: UUID,
    new: Delegation,
    *,
    reason: str | None,
    author: ChangeAuthor,
    now: datetime,
) -> None:
    values = {
        "tenant_id": tenant_id,
        "id": new.id,
        "user_id": new.user_id,
        "delegate_id": new.delegate_id,
        "entity_type": new.entity_type,
        "from_time": new.from_time,
        "to_time": new.to_time,
        "reason": reason,
        "now": now,
        **describe_author(author),
    }
    connection.execute(_SQL.insert_delegation, values)


def find_delegation(connection: Connection, tenant_id: UUID, delegation_id: UUID) -> Delegation | None:
    with connection.cursor(row_factory=class_row(Delegation)) as cursor:
        return cursor.execute(_SQL.find_delegation, {"tenant_id": tenant_id, "id": delegation_id}).fetchone()


def revoke_delegation(
    connection: Connection, tenant_id: UUID, delegation_id: UUID, author: ChangeAuthor, now: datetime
) -> bool:
    """Revoke a delegation; return False if it is revoked already.

    This waits for decisions in progress that the delegation allows.
    """
    values = {"tenant_id": tenant_id, "id": delegation_id, "now": now, **describe_author(author)}
    return connection.execute(_SQL.revoke_delegation, values).rowcount == 1


def list_page(
    connection: Connection,
    tenant_id: UUID,
    user_id: str,
    side: Literal["given", "taken"],
    *,
    before: UUID,
    limit: int,
) -> list[DelegationRecord]:
    values = {"tenant_id": tenant_id, "user_id": user_id, "before": before, "limit": limit}
    text = _SQL.list_given if side == "given" else _SQL.list_taken
    with connection.cursor(row_factory=class_row(DelegationRecord)) as cursor:
        return cursor.execute(text, values).fetchall()
