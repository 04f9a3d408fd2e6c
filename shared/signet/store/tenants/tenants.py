"""Tenants, and their members, roles and reporting lines as a tenant file installs them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from psycopg.rows import class_row, scalar_row
from psycopg.types.json import Jsonb

from signet.core.errors import Defect
from signet.core.tenants.eligibility_changes import ChangeAuthor
from signet.core.tenants.skeleton import write_skeleton
from signet.core.tenants.tenant_file import Member, Role, TenantFile, TenantSettings
from signet.store.database import Connection
from signet.store.statements import Statements
from signet.store.tenants.eligibility import describe_author

_SQL = Statements(__file__)


@dataclass(frozen=True)
class TenantRow:
    tenant_id: UUID
    name: str
    status: str
    settings: dict[str, object]
    version: int


@dataclass(frozen=True, slots=True)
class TenantRecord:
    """A tenant as it is shown."""

    tenant_id: UUID
    name: str
    status: Literal["active", "suspended"]
    settings: dict[str, Any]
    version: int
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True)
class MemberRow:
    user_id: str
    display_name: str
    email: str | None
    status: str
    roles: list[str]
    manager_id: str | None


def save_tenant(connection: Connection, tenant: TenantFile) -> None:
    values = {
        "tenant_id": tenant.tenant_id,
        "name": tenant.name,
        "settings": Jsonb(tenant.settings.model_dump(mode="json")),
        "says_four_eyes": "four_eyes" in tenant.settings.model_fields_set,
    }
    connection.execute(_SQL.upsert_tenant, values)


def save_roles(
    connection: Connection, tenant_id: UUID, roles: tuple[Role, ...], author: ChangeAuthor
) -> set[str]:
    """Save roles with exactly these permissions. Return those that lost any."""
    items = Jsonb([role.model_dump(mode="json") for role in roles])
    values = {"tenant_id": tenant_id, "roles": items, **describe_author(author)}
    rows: list[Any] = connection.execute(_SQL.upsert_roles, values).fetchall()
    return {role for kind, role in rows if kind == "role_permissions_changed"}


def save_members(
    connection: Connection, tenant_id: UUID, members: tuple[Member, ...], author: ChangeAuthor
) -> set[tuple[str, str]]:
    """Save these members with exactly these roles and managers; others stay as they are.

    Return who lost which role: what asks them must be checked again.
    """
    pairs = [(member.user_id, role) for member in members for role in member.roles]
    lines = [(member.user_id, member.manager) for member in members if member.manager is not None]
    values = {
        "tenant_id": tenant_id,
        "members": Jsonb([_write_member(member) for member in members]),
        "user_ids": [member.user_id for member in members],
        "pair_user_ids": [user_id for user_id, _ in pairs],
        "pair_roles": [role for _, role in pairs],
        "managed_user_ids": [user_id for user_id, _ in lines],
        "manager_ids": [manager_id for _, manager_id in lines],
        **describe_author(author),
    }
    lock_roles(connection, tenant_id)
    connection.execute(_SQL.upsert_members, values)
    rows: list[Any] = connection.execute(_SQL.delete_other_member_roles, values).fetchall()
    connection.execute(_SQL.insert_member_roles, values)
    connection.execute(_SQL.delete_other_managers, values)
    connection.execute(_SQL.upsert_managers, values)
    return {(user_id, role) for user_id, role in rows}


def lock_roles(connection: Connection, tenant_id: UUID) -> None:
    connection.execute(_SQL.lock_roles, {"tenant_id": tenant_id})


def _write_member(member: Member) -> dict[str, Any]:
    return {**member.model_dump(mode="json"), "skeleton": write_skeleton(member.user_id)}


def find_tenant(connection: Connection, tenant_id: UUID) -> TenantRow | None:
    with connection.cursor(row_factory=class_row(TenantRow)) as cursor:
        return cursor.execute(_SQL.find_tenant, {"tenant_id": tenant_id}).fetchone()


def list_tenant_ids(connection: Connection, after: UUID, limit: int) -> list[UUID]:
    """List ids of tenants, in a transaction that is of none: its user must be an admin of the database."""
    connection.execute(_SQL.act_as_dispatch)
    cursor = connection.cursor(row_factory=scalar_row)
    return cursor.execute(_SQL.list_tenant_ids, {"after": after, "limit": limit}).fetchall()


def find_tenant_record(connection: Connection, tenant_id: UUID) -> TenantRecord | None:
    with connection.cursor(row_factory=class_row(TenantRecord)) as cursor:
        return cursor.execute(_SQL.find_tenant_record, {"tenant_id": tenant_id}).fetchone()


def change_tenant(
    connection: Connection, tenant_id: UUID, name: str, settings: TenantSettings, now: datetime
) -> None:
    """Write the tenant's next version; the caller holds its row."""
    content = Jsonb(settings.model_dump(mode="json"))
    values = {"tenant_id": tenant_id, "name": name, "settings": content, "now": now}
    connection.execute(_SQL.change_tenant, values)


def set_tenant_status(connection: Connection, tenant_id: UUID, status: str, now: datetime) -> bool:
    """Set the status; return False if it was the same already."""
    values = {"tenant_id": tenant_id, "status": status, "now": now}
    return connection.execute(_SQL.set_tenant_status, values).rowcount == 1


def read_now(connection: Connection) -> datetime:
    """Return the transaction's time, which is the same for all that it writes."""
    row = connection.execute(_SQL.read_now, {}).fetchone()
    if row is None or not isinstance(row[0], datetime):
        raise Defect("NO_TIME", "the server did not tell its time")
    return row[0]


def read_session(connection: Connection) -> tuple[str, str]:
    """Return the user who opened the session, and their address."""
    user, address = connection.execute(_SQL.read_session, {}).fetchone() or ("", "")
    return str(user), str(address)


def list_members(connection: Connection, tenant_id: UUID, limit: int) -> list[MemberRow]:
    with connection.cursor(row_factory=class_row(MemberRow)) as cursor:
        return cursor.execute(_SQL.list_members, {"tenant_id": tenant_id, "limit": limit}).fetchall()


def find_member_roles(connection: Connection, tenant_id: UUID, user_id: str) -> list[str] | None:
    """Return the roles of an active member; None if there is no such member."""
    values = {"tenant_id": tenant_id, "user_id": user_id}
    with connection.cursor(row_factory=scalar_row) as cursor:
        roles: list[str] | None = cursor.execute(_SQL.find_member_roles, values).fetchone()
    return roles
