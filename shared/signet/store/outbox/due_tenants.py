"""Tenants with due work: the look of dispatch across tenants, which tells nothing else of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.rows import class_row, scalar_row

from signet.store.database import Connection
from signet.store.outbox.queue import Queue, check_count
from signet.store.statements import Statements

MAX_TENANTS = 1000
MAX_COMING = 10_000
_SQL = Statements(__file__)


@dataclass(frozen=True, slots=True)
class DueTenant:
    tenant_id: UUID
    due_count: int
    oldest_due_at: datetime


@dataclass(frozen=True, slots=True)
class ComingTenant:
    tenant_id: UUID
    due_at: datetime


def due_tenants(connection: Connection, queue: Queue[Any], *, at_most: int) -> list[DueTenant]:
    """List tenants with work, the longest waiting first; this needs no tenant, and tells nothing else."""
    check_count(at_most, MAX_TENANTS)
    with connection.cursor(row_factory=class_row(DueTenant)) as cursor:
        return cursor.execute(_SQL.due_tenants, {"queue": queue.name, "at_most": at_most}).fetchall()


def due_tenants_since(
    connection: Connection,
    queue: Queue[Any],
    *,
    since: datetime,
    known: Mapping[UUID, datetime],
    at_most: int,
) -> list[DueTenant]:
    """List tenants with work that is due since then, or since another moment for each that is known."""
    check_count(at_most, MAX_TENANTS)
    values = {
        "queue": queue.name,
        "at_most": at_most,
        "since": since,
        "known": list(known),
        "known_since": list(known.values()),
    }
    with connection.cursor(row_factory=class_row(DueTenant)) as cursor:
        return cursor.execute(_SQL.due_tenants_since, values).fetchall()


def coming_tenants(
    connection: Connection, queue: Queue[Any], *, ahead_seconds: float, at_most: int
) -> list[ComingTenant]:
    """List tenants with the moments, to the second, at which work of theirs comes due within so long."""
    check_count(at_most, MAX_COMING)
    values = {"queue": queue.name, "ahead_seconds": ahead_seconds, "at_most": at_most}
    with connection.cursor(row_factory=class_row(ComingTenant)) as cursor:
        return cursor.execute(_SQL.coming_tenants, values).fetchall()


def seconds_to_next(connection: Connection, queue: Queue[Any], *, within_seconds: float) -> float | None:
    """Return how soon work of any tenant comes due, or a lease ends; None if nothing does within so long."""
    values = {"queue": queue.name, "within_seconds": within_seconds}
    with connection.cursor(row_factory=scalar_row) as cursor:
        return cursor.execute(_SQL.seconds_to_next, values).fetchone()
