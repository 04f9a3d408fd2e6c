"""The file of a tenant as it was last installed, and the members that it names."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from signet.store.database import Connection
from signet.store.statements import Statements
from signet.store.tenants.people import MemberRecord

_SQL = Statements(__file__)


def find_installed(connection: Connection, tenant_id: UUID) -> dict[str, Any] | None:
    row: Any = connection.execute(_SQL.find_installed, {"tenant_id": tenant_id}).fetchone()
    return None if row is None else dict(row[0])


def save_installed(connection: Connection, tenant_id: UUID, content: dict[str, Any]) -> None:
    """Save what was installed; the same again changes nothing."""
    connection.execute(_SQL.save_installed, {"tenant_id": tenant_id, "content": Jsonb(content)})


def find_named_members(
    connection: Connection, tenant_id: UUID, user_ids: Sequence[str]
) -> list[MemberRecord]:
    with connection.cursor(row_factory=class_row(MemberRecord)) as cursor:
        values = {"tenant_id": tenant_id, "user_ids": list(user_ids)}
        return cursor.execute(_SQL.find_named_members, values).fetchall()
