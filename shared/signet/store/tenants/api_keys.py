"""Keys of machines; a secret is passed in as its hash."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from psycopg.rows import class_row, scalar_row

from signet.store.database import Connection
from signet.store.statements import Statements

_SQL = Statements(__file__)


@dataclass(frozen=True, slots=True)
class ApiKeyRecord:
    id: UUID
    name: str
    roles: list[str]
    created_by: str
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    revoked_by: str | None
    # To the hour.
    last_used_at: datetime | None


@dataclass(frozen=True, slots=True)
class SecretRow:
    name: str
    created_by: str
    secret_hash: bytes
    roles: list[str]
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
    with connection.cursor(row_factory=scalar_row) as cursor:
        count: int = cursor.execute(_SQL.count_live, {"tenant_id": tenant_id}).fetchone() or 0
    return count


def find_secret(
    connection: Connection, tenant_id: UUID, key_id: UUID, coarse_seconds: int
) -> SecretRow | None:
    values = {"tenant_id": tenant_id, "id": key_id, "coarse_seconds": coarse_seconds}
    with connection.cursor(row_factory=class_row(SecretRow)) as cursor:
        return cursor.execute(_SQL.find_secret, values).fetchone()


def note_use(connection: Connection, tenant_id: UUID, key_id: UUID) -> None:
    connection.execute(_SQL.note_use, {"tenant_id": tenant_id, "id": key_id})


def list_keys(connection: Connection, tenant_id: UUID, after: UUID | None, limit: int) -> list[ApiKeyRecord]:
    values = {"tenant_id": tenant_id, "after": after, "limit": limit}
    with connection.cursor(row_factory=class_row(ApiKeyRecord)) as cursor:
        return cursor.execute(_SQL.list_keys, values).fetchall()


def find_key(connection: Connection, tenant_id: UUID, key_id: UUID) -> ApiKeyRecord | None:
    with connection.cursor(row_factory=class_row(ApiKeyRecord)) as cursor:
        return cursor.execute(_SQL.find_key, {"tenant_id": tenant_id, "id": key_id}).fetchone()


def revoke_key(connection: Connection, tenant_id: UUID, key_id: UUID, revoked_by: str, now: datetime) -> bool:
    """Revoke a key; return False if it is revoked already."""
    values = {"tenant_id": tenant_id, "id": key_id, "revoked_by": revoked_by, "now": now}
    return connection.execute(_SQL.revoke_key, values).rowcount == 1
