"""Changes of the control that wait for another person."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.rows import class_row, scalar_row
from psycopg.types.json import Jsonb

from signet.core.control.change import KEPT_DAYS, ChangeStatus
from signet.store.database import Connection
from signet.store.statements import Statements

_SQL = Statements(__file__)


@dataclass(frozen=True, slots=True)
class ControlChangeRow:
    id: UUID
    kind: str
    name: str
    act: str
    # Canonical JSON, as it was hashed.
    body: str
    base_version: int
    hash: str
    proposed_by: str
    responsible: list[str]
    reason: str | None
    status: ChangeStatus
    created_at: datetime
    expires_at: datetime
    ended_at: datetime | None
    ended_by: str | None


def read_four_eyes(connection: Connection, tenant_id: UUID) -> bool:
    with connection.cursor(row_factory=scalar_row) as cursor:
        return bool(cursor.execute(_SQL.read_four_eyes, {"tenant_id": tenant_id}).fetchone())


def expire_changes(connection: Connection, tenant_id: UUID) -> None:
    connection.execute(_SQL.expire_changes, {"tenant_id": tenant_id})


def count_open(connection: Connection, tenant_id: UUID, persons: Collection[str]) -> tuple[int, int]:
    """Count the open changes, and the most of them behind which one of these persons stands."""
    values = {"tenant_id": tenant_id, "persons": list(persons)}
    row: Any = connection.execute(_SQL.count_open, values).fetchone()
    return row[0], row[1]


def insert_change(
    connection: Connection,
    tenant_id: UUID,
    change_id: UUID,
    *,
    kind: str,
    name: str,
    act: str,
    body: str,
    base_version: int,
    digest: str,
    proposed_by: str,
    responsible: Collection[str],
    reason: str | None,
) -> None:
    values = {
        "tenant_id": tenant_id,
        "id": change_id,
        "kind": kind,
        "name": name,
        "act": act,
        "body": body,
        "base_version": base_version,
        "hash": digest,
        "proposed_by": proposed_by,
        "responsible": sorted(responsible),
        "reason": reason,
        "kept_days": KEPT_DAYS,
    }
    connection.execute(_SQL.insert_change, values)


def find_change(connection: Connection, tenant_id: UUID, change_id: UUID) -> ControlChangeRow | None:
    with connection.cursor(row_factory=class_row(ControlChangeRow)) as cursor:
        return cursor.execute(_SQL.find_change, {"tenant_id": tenant_id, "id": change_id}).fetchone()


def list_changes(
    connection: Connection,
    tenant_id: UUID,
    kinds: Collection[str],
    status: ChangeStatus | None,
    *,
    before: UUID,
    limit: int,
) -> list[ControlChangeRow]:
    values = {
        "tenant_id": tenant_id,
        "kinds": sorted(kinds),
        "status": status,
        "before": before,
        "limit": limit,
    }
    with connection.cursor(row_factory=class_row(ControlChangeRow)) as cursor:
        return cursor.execute(_SQL.list_changes, values).fetchall()


def end_change(
    connection: Connection, tenant_id: UUID, change_id: UUID, status: ChangeStatus, ended_by: str
) -> bool:
    values = {"tenant_id": tenant_id, "id": change_id, "status": status, "ended_by": ended_by}
    return connection.execute(_SQL.end_change, values).rowcount == 1


def supersede_changes(connection: Connection, tenant_id: UUID, kind: str, name: str) -> None:
    connection.execute(_SQL.supersede_changes, {"tenant_id": tenant_id, "kind": kind, "name": name})


def list_holders(
    connection: Connection,
    tenant_id: UUID,
    granting: Collection[str],
    *,
    other_than: Collection[str],
    limit: int,
) -> list[str]:
    """List active members whose roles have one of these permissions."""
    values = {
        "tenant_id": tenant_id,
        "granting": sorted(granting),
        "persons": sorted(other_than),
        "limit": limit,
    }
    with connection.cursor(row_factory=scalar_row) as cursor:
        return cursor.execute(_SQL.list_holders, values).fetchall()


def find_holders_among(
    connection: Connection, tenant_id: UUID, persons: Collection[str], granting: Collection[str]
) -> frozenset[str]:
    """Find the active members among these people whose roles have one of these permissions."""
    values = {"tenant_id": tenant_id, "persons": sorted(persons), "granting": sorted(granting)}
    with connection.cursor(row_factory=scalar_row) as cursor:
        return frozenset(cursor.execute(_SQL.find_holders_among, values).fetchall())


def tell_holders(
    connection: Connection,
    tenant_id: UUID,
    ids: Sequence[UUID],
    user_ids: Sequence[str],
    data: Mapping[str, Any],
) -> None:
    values = {"tenant_id": tenant_id, "ids": list(ids), "user_ids": list(user_ids), "data": Jsonb(dict(data))}
    connection.execute(_SQL.tell_holders, values)
