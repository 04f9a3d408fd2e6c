"""Business calendars of a tenant, with their versions."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.rows import class_row

from signet.core.tenants.responsible import ResponsiblePersons
from signet.store.database import Connection
from signet.store.responsible_sets import keep_responsible
from signet.store.statements import Statements

_SQL = Statements(__file__)
MAX_CALENDARS = 100


@dataclass(frozen=True, slots=True)
class CalendarSummary:
    """A version of a calendar, without its content."""

    name: str
    version: int
    hash: str
    created_by: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class CalendarRow:
    """A version of a calendar; `body` is canonical JSON."""

    name: str
    version: int
    hash: str
    body: str
    created_by: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class CalendarInForce:
    """The calendar that a name leads to: without a version there is none, without a name none is meant."""

    name: str | None
    version: int | None
    body: str | None


def list_calendars(connection: Connection, tenant_id: UUID, after: str, limit: int) -> list[CalendarSummary]:
    values = {"tenant_id": tenant_id, "after": after, "limit": limit}
    with connection.cursor(row_factory=class_row(CalendarSummary)) as cursor:
        return cursor.execute(_SQL.list_calendars, values).fetchall()


def list_versions(
    connection: Connection, tenant_id: UUID, name: str, before: int, limit: int
) -> list[CalendarSummary]:
    values = {"tenant_id": tenant_id, "name": name, "before": before, "limit": limit}
    with connection.cursor(row_factory=class_row(CalendarSummary)) as cursor:
        return cursor.execute(_SQL.list_versions, values).fetchall()


def find_calendar(
    connection: Connection, tenant_id: UUID, name: str, version: int | None = None
) -> CalendarRow | None:
    """Find the version in force, or the one that is named."""
    values = {"tenant_id": tenant_id, "name": name, "version": version}
    with connection.cursor(row_factory=class_row(CalendarRow)) as cursor:
        return cursor.execute(_SQL.find_calendar, values).fetchone()


def find_in_force(connection: Connection, tenant_id: UUID, name: str | None) -> CalendarInForce:
    """Find the calendar of a name; without a name, that of the tenant's settings."""
    with connection.cursor(row_factory=class_row(CalendarInForce)) as cursor:
        found = cursor.execute(_SQL.find_in_force, {"tenant_id": tenant_id, "name": name}).fetchone()
    return found or CalendarInForce(name, None, None)


def count_calendars(connection: Connection, tenant_id: UUID) -> int:
    row: Any = connection.execute(_SQL.count_calendars, {"tenant_id": tenant_id}).fetchone()
    return int(row[0])


def save_version(
    connection: Connection,
    tenant_id: UUID,
    *,
    name: str,
    version: int,
    body: str,
    digest: str,
    created_by: str,
    responsible: ResponsiblePersons,
    now: datetime,
) -> None:
    """Write a version, and put it in force."""
    values = {
        "tenant_id": tenant_id,
        "name": name,
        "version": version,
        "body": body,
        "hash": digest,
        "created_by": created_by,
        "responsible": bytes.fromhex(keep_responsible(connection, tenant_id, responsible)[2:]),
        "now": now,
    }
    connection.execute(_SQL.put_in_force, values)
    connection.execute(_SQL.insert_version, values)
