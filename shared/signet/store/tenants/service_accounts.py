"""Service accounts: rows that steps of definitions run as. They have no secret."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from psycopg.rows import class_row, scalar_row
from psycopg.types.json import Jsonb

from signet.core.tenants.service_accounts import find_account_problem
from signet.core.tenants.tenant_file import ServiceAccount
from signet.store.database import Connection
from signet.store.statements import Statements

_SQL = Statements(__file__)
AccountStatus = Literal["active", "disabled"]


@dataclass(frozen=True, slots=True)
class ServiceAccountRecord:
    """A service account; its steps pause while it is disabled, or its owner is."""

    id: str
    label: str
    roles: list[str]
    owner_id: str
    owner_is_active: bool
    status: AccountStatus
    version: int
    created_by: str
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class RunningAccountRow:
    id: str
    label: str
    roles: list[str]
    owner_id: str
    status: AccountStatus
    owner_status: str
    # By role.
    permissions: dict[str, list[str]]


def list_accounts(
    connection: Connection, tenant_id: UUID, after: str, limit: int
) -> list[ServiceAccountRecord]:
    values = {"tenant_id": tenant_id, "after": after, "limit": limit}
    with connection.cursor(row_factory=class_row(ServiceAccountRecord)) as cursor:
        return cursor.execute(_SQL.list_accounts, values).fetchall()


def find_account(connection: Connection, tenant_id: UUID, account_id: str) -> ServiceAccountRecord | None:
    values = {"tenant_id": tenant_id, "id": account_id}
    with connection.cursor(row_factory=class_row(ServiceAccountRecord)) as cursor:
        return cursor.execute(_SQL.find_account, values).fetchone()


def count_accounts(connection: Connection, tenant_id: UUID) -> int:
    with connection.cursor(row_factory=scalar_row) as cursor:
        count: int = cursor.execute(_SQL.count_accounts, {"tenant_id": tenant_id}).fetchone() or 0
    return count


def is_role_of_running_account(connection: Connection, tenant_id: UUID, role: str) -> bool:
    """Return whether an active account has the role."""
    values = {"tenant_id": tenant_id, "role": role}
    return connection.execute(_SQL.is_role_of_running_account, values).fetchone() == (True,)


def save_account(
    connection: Connection,
    tenant_id: UUID,
    account: ServiceAccount,
    status: AccountStatus,
    saved_by: str,
    now: datetime,
) -> None:
    values = {
        "tenant_id": tenant_id,
        "id": account.id,
        "label": account.label,
        "roles": list(account.roles),
        "owner_id": account.owner,
        "status": status,
        "saved_by": saved_by,
        "now": now,
    }
    connection.execute(_SQL.save_account, values)


def install_accounts(
    connection: Connection, tenant_id: UUID, accounts: Sequence[ServiceAccount], saved_by: str
) -> None:
    """Write the accounts of a tenant's file; others stay as they are."""
    items = Jsonb([account.model_dump(mode="json") for account in accounts])
    values = {"tenant_id": tenant_id, "accounts": items, "saved_by": saved_by}
    connection.execute(_SQL.install_accounts, values)


def read_running_accounts(
    connection: Connection, tenant_id: UUID, account_ids: Collection[str]
) -> dict[str, RunningAccountRow]:
    """Read these accounts in one statement; an account that does not exist is not there."""
    values = {"tenant_id": tenant_id, "ids": sorted(account_ids)}
    with connection.cursor(row_factory=class_row(RunningAccountRow)) as cursor:
        rows = cursor.execute(_SQL.read_running_accounts, values).fetchall()
    return {row.id: row for row in rows}


def find_running_problem(account_id: str, row: RunningAccountRow | None) -> str | None:
    """Return why nothing can run as the account that was read, or was not there."""
    if row is None:
        return find_account_problem(account_id, None, None, None)
    return find_account_problem(account_id, row.status, row.owner_id, row.owner_status)
