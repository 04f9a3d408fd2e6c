"""Keys of machines, with their owners; a secret is passed in as its hash."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.rows import class_row, scalar_row

from signet.store.database import Connection
from signet.store.statements import Statements

_SQL = Statements(__file__)


@dataclass(frozen=True, slots=True)
class ApiKeyRow:
    id: UUID
    name: str
    roles: list[str]
    created_by: str
    owner_id: str
    proposed_owner_id: str | None
    proposed_by: str | None
    created_at: datetime
    expires_at: datetime | None
    is_expired: bool | None
    revoked_at: datetime | None
    revoked_by: str | None
    # To the hour.
    last_used_at: datetime | None


@dataclass(frozen=True, slots=True)
class KeyOwnerRow:
    """A member who owns a key, with the permissions that the tables of members give them now."""

    user_id: str
    status: str
    permissions: list[str]


@dataclass(frozen=True, slots=True)
class RunningKeyRow:
    """A key that has asked for something, with its owner as a member now; no status where they are none."""

    roles: list[str]
    owner_status: str | None
    owner_permissions: list[str]
    # By role, of the key's roles that the tenant has.
    permissions: dict[str, list[str]]


@dataclass(frozen=True, slots=True)
class SecretRow:
    name: str
    secret_hash: bytes
    created_by: str
    owner_id: str
    # None where the owner is no member.
    owner_status: str | None
    owner_permissions: list[str]
    # Every owner that the key has had.
    owners: list[str]
    roles: list[str]
    # By role, of the key's roles that the tenant has.
    permissions: dict[str, list[str]]
    expires_at: datetime | None
    is_expired: bool | None
    is_revoked: bool
    # Whether the use should be written down.
    is_due: bool


def insert_key(
    connection: Connection,
    tenant_id: UUID,
    key_id: UUID,
    *,
    name: str,
    secret_hash: bytes,
    roles: Sequence[str],
    created_by: str,
    expires_at: datetime | None,
    now: datetime,
) -> None:
    """Write a key that belongs to its maker."""
    values = {
        "tenant_id": tenant_id,
        "id": key_id,
        "name": name,
        "secret_hash": secret_hash,
        "roles": list(roles),
        "created_by": created_by,
        "expires_at": expires_at,
        "now": now,
    }
    connection.execute(_SQL.insert_key, values)


def count_live(connection: Connection, tenant_id: UUID) -> int:
    return _count(connection, _SQL.count_live, {"tenant_id": tenant_id})


def find_secret(
    connection: Connection, tenant_id: UUID, key_id: UUID, coarse_seconds: int
) -> SecretRow | None:
    values = {"tenant_id": tenant_id, "id": key_id, "coarse_seconds": coarse_seconds}
    with connection.cursor(row_factory=class_row(SecretRow)) as cursor:
        return cursor.execute(_SQL.find_secret, values).fetchone()


def read_running_key(connection: Connection, tenant_id: UUID, key_id: UUID) -> RunningKeyRow | None:
    with connection.cursor(row_factory=class_row(RunningKeyRow)) as cursor:
        return cursor.execute(_SQL.read_running_key, {"tenant_id": tenant_id, "id": key_id}).fetchone()


def note_use(connection: Connection, tenant_id: UUID, key_id: UUID) -> None:
    connection.execute(_SQL.note_use, {"tenant_id": tenant_id, "id": key_id})


def list_keys(
    connection: Connection, tenant_id: UUID, person: str | None, after: UUID | None, limit: int
) -> list[ApiKeyRow]:
    """List all keys, or those that the person owns or is asked to take over."""
    values = {"tenant_id": tenant_id, "person": person, "after": after, "limit": limit}
    with connection.cursor(row_factory=class_row(ApiKeyRow)) as cursor:
        return cursor.execute(_SQL.list_keys, values).fetchall()


def find_key(connection: Connection, tenant_id: UUID, key_id: UUID) -> ApiKeyRow | None:
    with connection.cursor(row_factory=class_row(ApiKeyRow)) as cursor:
        return cursor.execute(_SQL.find_key, {"tenant_id": tenant_id, "id": key_id}).fetchone()


def read_owners(connection: Connection, tenant_id: UUID, user_ids: Collection[str]) -> dict[str, KeyOwnerRow]:
    """Read these members with their permissions; of a person who is no member there is none."""
    values = {"tenant_id": tenant_id, "user_ids": sorted(user_ids)}
    with connection.cursor(row_factory=class_row(KeyOwnerRow)) as cursor:
        rows = cursor.execute(_SQL.read_owners, values).fetchall()
    return {row.user_id: row for row in rows}


def count_other_owners(connection: Connection, tenant_id: UUID, key_id: UUID, user_id: str) -> int:
    """Count the owners that a key has had, without this person."""
    values = {"tenant_id": tenant_id, "id": key_id, "user_id": user_id}
    return _count(connection, _SQL.count_other_owners, values)


def set_proposed_owner(
    connection: Connection, tenant_id: UUID, key_id: UUID, owner_id: str | None, proposed_by: str | None
) -> None:
    """Write who is asked to take the key over, or that nobody is."""
    values = {"tenant_id": tenant_id, "id": key_id, "owner_id": owner_id, "proposed_by": proposed_by}
    connection.execute(_SQL.set_proposed_owner, values)


def accept_key(connection: Connection, tenant_id: UUID, key_id: UUID, owner_id: str) -> bool:
    """Give the key to the person who was asked; return False if they are not asked any more."""
    values = {"tenant_id": tenant_id, "id": key_id, "owner_id": owner_id}
    return connection.execute(_SQL.accept_key, values).rowcount == 1


def revoke_key(connection: Connection, tenant_id: UUID, key_id: UUID, revoked_by: str, now: datetime) -> bool:
    """Revoke a key; return False if it is revoked already."""
    values = {"tenant_id": tenant_id, "id": key_id, "revoked_by": revoked_by, "now": now}
    return connection.execute(_SQL.revoke_key, values).rowcount == 1


def _count(connection: Connection, statement: str, values: dict[str, Any]) -> int:
    with connection.cursor(row_factory=scalar_row) as cursor:
        count: int = cursor.execute(statement, values).fetchone() or 0
    return count
