"""Measures of the queues: depths of a tenant, its recent pace, and figures over all tenants."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar, cast
from uuid import UUID

from psycopg.rows import class_row, scalar_row

from signet.core.errors import Defect
from signet.store.database import Connection
from signet.store.outbox.queue import EVER, Queue, fill
from signet.store.statements import Statements

COUNTED_AT_MOST = 10_000
_SQL = Statements(__file__)
_Counted = TypeVar("_Counted")


@dataclass(frozen=True, slots=True)
class QueueDepth:
    """Counts of a tenant's rows by status, each at most COUNTED_AT_MOST, and the lateness of the oldest."""

    pending: int
    processing: int
    failed: int
    dead_letter: int
    oldest_due_seconds: float | None


@dataclass(frozen=True, slots=True)
class Pace:
    """Recent throughput of a tenant's queue, at most COUNTED_AT_MOST, and how long rows waited when due."""

    done: int
    retried: int
    p50_seconds: float | None
    p95_seconds: float | None
    p99_seconds: float | None
    # Rows at work for longer than their lease: their worker is lost.
    expired: int


@dataclass(frozen=True, slots=True)
class QueueFigures:
    """Counts of one queue over all tenants, each up to a limit of the counting function."""

    pending: int
    failed: int
    processing: int
    expired: int
    dead_letter: int
    oldest_due_seconds: float | None


def find_oldest(connection: Connection, queue: Queue[Any], tenant_id: UUID | None) -> datetime:
    """Find since when the oldest row waits or has lost its worker: of a tenant, or with None of all."""
    statement = fill(_SQL.find_oldest, queue) if tenant_id is not None else _SQL.find_oldest_of_all
    with connection.cursor(row_factory=scalar_row) as cursor:
        values = {"tenant_id": tenant_id, "queue": queue.name}
        return cast(datetime, cursor.execute(statement, values).fetchone())


def depth_of(
    connection: Connection, queue: Queue[Any], tenant_id: UUID, since: datetime = EVER
) -> QueueDepth:
    values = {"tenant_id": tenant_id, "limit": COUNTED_AT_MOST, "since": since}
    with connection.cursor(row_factory=class_row(QueueDepth)) as cursor:
        return _require(cursor.execute(fill(_SQL.depth_of, queue), values).fetchone())


def read_pace(
    connection: Connection,
    queue: Queue[Any],
    tenant_id: UUID,
    *,
    since_seconds: float,
    since: datetime = EVER,
) -> Pace:
    values = {
        "tenant_id": tenant_id,
        "limit": COUNTED_AT_MOST,
        "since_seconds": since_seconds,
        "since": since,
    }
    with connection.cursor(row_factory=class_row(Pace)) as cursor:
        return _require(cursor.execute(fill(_SQL.read_pace, queue), values).fetchone())


def measure_queue(connection: Connection, queue: Queue[Any], since: datetime = EVER) -> QueueFigures:
    """Measure a queue over all tenants; this needs no tenant and names none."""
    with connection.cursor(row_factory=class_row(QueueFigures)) as cursor:
        return _require(cursor.execute(_SQL.measure_queue, {"queue": queue.name, "since": since}).fetchone())


def _require(counted: _Counted | None) -> _Counted:
    if counted is None:
        raise Defect("QUEUE_UNCOUNTED", "an aggregate answered no row")
    return counted
