"""People of a tenant as they are shown and changed one by one; `tenants` installs them all."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from psycopg.rows import class_row, scalar_row

from signet.core.explain.instance_record import PermittedRole
from signet.core.tenants.eligibility_changes import ChangeAuthor
from signet.store.database import Connection
from signet.store.statements import Statements
from signet.store.tenants.eligibility import describe_author

# What an explanation names of those who have a permission.
MAX_SHOWN_ROLES, MAX_SHOWN_HOLDERS = 10, 10
_SQL = Statements(__file__)


@dataclass(frozen=True, slots=True)
class MemberRecord:
    user_id: str
    display_name: str
    email: str | None
    phone: str | None
    status: Literal["active", "disabled"]
    roles: list[str]
    manager_id: str | None
    created_at: datetime
    updated_at: datetime
    version: int


@dataclass(frozen=True, slots=True)
class RoleRecord:
    role: str
    permissions: list[str]
    created_at: datetime
    updated_at: datetime
    version: int


@dataclass(frozen=True, slots=True)
class ReportingLine:
    user_id: str
    manager_id: str
    updated_at: datetime
    version: int


def list_members(connection: Connection, tenant_id: UUID, after: str, limit: int) -> list[MemberRecord]:
    with connection.cursor(row_factory=class_row(MemberRecord)) as cursor:
        values = {"tenant_id": tenant_id, "after": after, "limit": limit}
        return cursor.execute(_SQL.list_members, values).fetchall()


def find_member(connection: Connection, tenant_id: UUID, user_id: str) -> MemberRecord | None:
    with connection.cursor(row_factory=class_row(MemberRecord)) as cursor:
        values = {"tenant_id": tenant_id, "user_id": user_id}
        return cursor.execute(_SQL.find_member, values).fetchone()


def read_display_names(connection: Connection, tenant_id: UUID, people: Collection[str]) -> dict[str, str]:
    """Read the names of those who are members, also of disabled ones."""
    if not people:
        return {}
    values = {"tenant_id": tenant_id, "people": sorted(people)}
    rows: list[Any] = connection.execute(_SQL.read_display_names, values).fetchall()
    return dict(rows)


def list_absent(connection: Connection, tenant_id: UUID, actor_ids: Collection[str]) -> frozenset[str]:
    """List those who are no active members any more, and keys whose owner is none."""
    values = {"tenant_id": tenant_id, "actor_ids": sorted(actor_ids)}
    rows: list[Any] = connection.execute(_SQL.list_absent, values).fetchall()
    return frozenset(row[0] for row in rows)


def set_member_status(
    connection: Connection,
    tenant_id: UUID,
    user_id: str,
    status: str,
    now: datetime,
    author: ChangeAuthor,
) -> list[str] | None:
    """Set the status and return the member's roles; None if nothing changed."""
    values = {
        "tenant_id": tenant_id,
        "user_id": user_id,
        "status": status,
        "now": now,
        **describe_author(author),
    }
    with connection.cursor(row_factory=scalar_row) as cursor:
        roles: list[str] | None = cursor.execute(_SQL.set_member_status, values).fetchone()
    return roles


def has_administrator(
    connection: Connection, tenant_id: UUID, permissions: Sequence[str], besides: Collection[str] = ()
) -> bool:
    """Return whether an active member, beside these, has a role with one of these permissions."""
    values = {"tenant_id": tenant_id, "permissions": list(permissions), "besides": list(besides)}
    return _ask(connection, _SQL.has_administrator, values)


def holds_role(connection: Connection, tenant_id: UUID, role: str, user_ids: Collection[str]) -> bool:
    values = {"tenant_id": tenant_id, "role": role, "user_ids": list(user_ids)}
    return _ask(connection, _SQL.holds_role, values)


def list_roles(connection: Connection, tenant_id: UUID, after: str, limit: int) -> list[RoleRecord]:
    with connection.cursor(row_factory=class_row(RoleRecord)) as cursor:
        values = {"tenant_id": tenant_id, "after": after, "limit": limit}
        return cursor.execute(_SQL.list_roles, values).fetchall()


def list_permitted(
    connection: Connection, tenant_id: UUID, permissions: Collection[str]
) -> list[PermittedRole]:
    """List the first roles that have one of these permissions, with their first active holders."""
    values = {
        "tenant_id": tenant_id,
        "permissions": sorted(permissions),
        "shown": MAX_SHOWN_HOLDERS,
        "limit": MAX_SHOWN_ROLES,
    }
    rows: list[Any] = connection.execute(_SQL.list_permitted, values).fetchall()
    return [PermittedRole(role, tuple(people or ()), count) for role, people, count in rows]


def find_roles(connection: Connection, tenant_id: UUID, roles: Sequence[str]) -> list[RoleRecord]:
    with connection.cursor(row_factory=class_row(RoleRecord)) as cursor:
        values = {"tenant_id": tenant_id, "roles": list(roles)}
        return cursor.execute(_SQL.find_roles, values).fetchall()


def count_roles(connection: Connection, tenant_id: UUID) -> int:
    (count,) = connection.execute(_SQL.count_roles, {"tenant_id": tenant_id}).fetchone() or (0,)
    return int(str(count))


def is_role_held(connection: Connection, tenant_id: UUID, role: str) -> bool:
    return _ask(connection, _SQL.is_role_held, {"tenant_id": tenant_id, "role": role})


def delete_role(connection: Connection, tenant_id: UUID, role: str, author: ChangeAuthor) -> None:
    connection.execute(_SQL.delete_role, {"tenant_id": tenant_id, "role": role, **describe_author(author)})


def list_lines(connection: Connection, tenant_id: UUID, after: str, limit: int) -> list[ReportingLine]:
    with connection.cursor(row_factory=class_row(ReportingLine)) as cursor:
        values = {"tenant_id": tenant_id, "after": after, "limit": limit}
        return cursor.execute(_SQL.list_lines, values).fetchall()


def find_line(connection: Connection, tenant_id: UUID, user_id: str) -> ReportingLine | None:
    with connection.cursor(row_factory=class_row(ReportingLine)) as cursor:
        values = {"tenant_id": tenant_id, "user_id": user_id}
        return cursor.execute(_SQL.find_line, values).fetchone()


def is_above(connection: Connection, tenant_id: UUID, user_id: str, below: str) -> bool:
    return _ask(connection, _SQL.is_above, {"tenant_id": tenant_id, "user_id": user_id, "below": below})


def set_manager(
    connection: Connection, tenant_id: UUID, user_id: str, manager_id: str, author: ChangeAuthor
) -> ReportingLine | None:
    with connection.cursor(row_factory=class_row(ReportingLine)) as cursor:
        values = {
            "tenant_id": tenant_id,
            "user_id": user_id,
            "manager_id": manager_id,
            **describe_author(author),
        }
        return cursor.execute(_SQL.set_manager, values).fetchone()


def remove_manager(connection: Connection, tenant_id: UUID, user_id: str, author: ChangeAuthor) -> bool:
    """Remove the manager; return False if there was none."""
    values = {"tenant_id": tenant_id, "user_id": user_id, **describe_author(author)}
    return connection.execute(_SQL.remove_manager, values).rowcount == 1


def _ask(connection: Connection, statement: str, values: dict[str, Any]) -> bool:
    return connection.execute(statement, values).fetchone() == (True,)
