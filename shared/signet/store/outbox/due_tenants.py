"""Tenants with due work: the look of dispatch across tenants, which tells nothing else of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.rows import class_row

from signet.store.database import Connection
from signet.store.outbox.queue import Queue, check_count
from signet.store.statements import Statements

MAX_TENANTS = 1000
_SQL = Statements(__file__)


@dataclass(frozen=True, slots=True)
class DueTenant:
    tenant_id: UUID
    due_count: int
    oldest_due_at: datetime


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
