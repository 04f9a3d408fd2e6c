"""Housekeeping: tasks with their claims and cursors, and a function for each kind of pruning.

A task is claimed like a row of a queue. Later calls pass the claim, and change nothing if another run has
claimed the task since. Pruning runs in the transaction of one tenant, and returns how many rows it deleted.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from psycopg.rows import class_row, scalar_row
from psycopg.types.json import Jsonb

from signet.core.errors import Defect
from signet.store.database import Connection
from signet.store.statements import Statements
from signet.store.wake_ups import QueueName

_SQL = Statements(__file__)
MAX_ERROR_CHARACTERS = 2_000
# So often a task that looks for what is new looks at everything.
RUNS_TO_LOOK_AT_ALL = 10
Outcome = Literal["done", "more", "failed"]
# Subjects that housekeeping_tenants() can be asked about.
About = Literal[
    "done_events",
    "done_effects",
    "receipts",
    "idempotency_keys",
    "inbound_events",
    "notifications",
    "closed_incidents",
    "quota_meters",
    "eligibility_changes",
    "deleted_documents",
    "unsealed",
    "unanchored",
    "running",
    "overdue",
]


@dataclass(frozen=True, slots=True)
class ClaimedTask:
    task: str
    claim_id: UUID
    # Where the last run stopped; None begins again.
    cursor: Mapping[str, Any] | None
    # The last run was interrupted.
    is_after_failure: bool
    lag_seconds: float
    # When the last run began. None: it has not ended well, or this one is to look at everything.
    looked_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class PrunedReceipts:
    # None after the last instance.
    looked_to: UUID | None
    pruned: int


@dataclass(frozen=True, slots=True)
class PurgedDocument:
    document_id: UUID
    purged_at: datetime
    # For each personal value its id and its field.
    erased: Sequence[Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class SleepingInstance:
    """An instance that should be woken."""

    id: UUID
    trace_id: str | None


def ensure_tasks(connection: Connection, tasks: Sequence[str]) -> None:
    connection.execute(_SQL.ensure_tasks, {"tasks": list(tasks)})


def claim_task(
    connection: Connection, tasks: Sequence[str], *, claim_id: UUID, lease_seconds: float
) -> ClaimedTask | None:
    values = {
        "tasks": list(tasks),
        "claim_id": claim_id,
        "lease_seconds": lease_seconds,
        "runs_to_look_at_all": RUNS_TO_LOOK_AT_ALL,
    }
    with connection.cursor(row_factory=class_row(ClaimedTask)) as cursor:
        return cursor.execute(_SQL.claim_task, values).fetchone()


def hold_task(connection: Connection, claimed: ClaimedTask, lease_seconds: float) -> bool:
    """Extend the lease; return False if another run has claimed the task."""
    values = {"task": claimed.task, "claim_id": claimed.claim_id, "lease_seconds": lease_seconds}
    return connection.execute(_SQL.hold_task, values).rowcount == 1


def keep_cursor(connection: Connection, claimed: ClaimedTask, cursor: Mapping[str, Any]) -> None:
    values = {"task": claimed.task, "claim_id": claimed.claim_id, "cursor": Jsonb(dict(cursor))}
    connection.execute(_SQL.keep_cursor, values)


def end_task(
    connection: Connection,
    claimed: ClaimedTask,
    *,
    outcome: Outcome,
    rows: int,
    again_seconds: float,
    error: str | None = None,
) -> bool:
    """End the run; return False if another run has claimed the task, and will end it."""
    values = {
        "task": claimed.task,
        "claim_id": claimed.claim_id,
        "outcome": outcome,
        "rows": rows,
        "again_seconds": again_seconds,
        "error": None if error is None else error[:MAX_ERROR_CHARACTERS],
    }
    return connection.execute(_SQL.end_task, values).rowcount == 1


def find_tenants(
    connection: Connection, about: About, *, kept_seconds: float, after: UUID | None, at_most: int
) -> list[UUID]:
    """Find the tenants with work of this kind, by id; this needs no tenant, and tells nothing else."""
    values = {"about": about, "kept_seconds": kept_seconds, "after": after, "at_most": at_most}
    return [row[0] for row in _rows(connection, _SQL.find_tenants, values)]


def find_expired_tenants(
    connection: Connection, queue: QueueName, *, since: datetime, after: UUID | None, at_most: int
) -> list[UUID]:
    """Find the tenants with a lease that has expired since then, by id."""
    values = {"queue": queue, "since": since, "after": after, "at_most": at_most}
    return [row[0] for row in _rows(connection, _SQL.find_expired_tenants, values)]


def make_months(connection: Connection, months: int) -> int:
    """Make partitions for months, and return how many."""
    return len(_rows(connection, _SQL.make_months, {"months": months}))


def drop_empty_months(connection: Connection, *, kept_days: int, at_most: int) -> int:
    return len(_rows(connection, _SQL.drop_empty_months, {"kept_days": kept_days, "at_most": at_most}))


def drop_history_months(connection: Connection, *, kept_days: int, at_most: int) -> int:
    return len(_rows(connection, _SQL.drop_history_months, {"kept_days": kept_days, "at_most": at_most}))


def prune_outbox(connection: Connection, queue: QueueName, *, kept_days: int, at_most: int) -> int:
    values = {"queue": queue, "kept_days": kept_days, "at_most": at_most}
    return _count(connection, _SQL.prune_outbox, values)


def prune_receipts(
    connection: Connection, *, kept_days: int, after: UUID | None, at_most: int
) -> PrunedReceipts:
    values = {"kept_days": kept_days, "after": after, "at_most": at_most}
    with connection.cursor(row_factory=class_row(PrunedReceipts)) as cursor:
        pruned = cursor.execute(_SQL.prune_receipts, values).fetchone()
    return pruned or PrunedReceipts(None, 0)


def prune_idempotency_keys(connection: Connection, *, kept_days: int, at_most: int) -> int:
    return _count(connection, _SQL.prune_idempotency_keys, {"kept_days": kept_days, "at_most": at_most})


def prune_inbound_events(connection: Connection, *, at_most: int) -> int:
    return _count(connection, _SQL.prune_inbound_events, {"at_most": at_most})


def prune_notifications(connection: Connection, *, kept_days: int, at_most: int) -> int:
    return _count(connection, _SQL.prune_notifications, {"kept_days": kept_days, "at_most": at_most})


def prune_incidents(connection: Connection, *, kept_days: int, at_most: int) -> int:
    return _count(connection, _SQL.prune_incidents, {"kept_days": kept_days, "at_most": at_most})


def prune_eligibility_changes(connection: Connection, *, kept_days: int, at_most: int) -> int:
    values = {"kept_days": kept_days, "at_most": at_most}
    return _count(connection, _SQL.prune_eligibility_changes, values)


def prune_quota_meters(connection: Connection, *, at_most: int) -> int:
    return _count(connection, _SQL.prune_quota_meters, {"at_most": at_most})


def purge_documents(connection: Connection, *, kept_days: int, at_most: int) -> list[PurgedDocument]:
    """Purge documents, whose rows stay locked: the caller audits it in the same transaction."""
    with connection.cursor(row_factory=class_row(PurgedDocument)) as cursor:
        values = {"kept_days": kept_days, "at_most": at_most}
        return cursor.execute(_SQL.purge_documents, values).fetchall()


def list_overdue(
    connection: Connection,
    tenant_id: UUID,
    *,
    event_type: str,
    late_seconds: float,
    again_seconds: float,
    limit: int,
) -> list[SleepingInstance]:
    values = {
        "tenant_id": tenant_id,
        "event_type": event_type,
        "late_seconds": late_seconds,
        "again_seconds": again_seconds,
        "limit": limit,
    }
    with connection.cursor(row_factory=class_row(SleepingInstance)) as cursor:
        return cursor.execute(_SQL.list_overdue, values).fetchall()


def list_unpinned(
    connection: Connection, tenant_id: UUID, *, event_type: str, again_seconds: float, limit: int
) -> list[SleepingInstance]:
    """List instances whose open approvals are of an older release, and are to be asked again."""
    values = {
        "tenant_id": tenant_id,
        "event_type": event_type,
        "again_seconds": again_seconds,
        "limit": limit,
    }
    with connection.cursor(row_factory=class_row(SleepingInstance)) as cursor:
        return cursor.execute(_SQL.list_unpinned, values).fetchall()


def find_anchored(connection: Connection, tenant_id: UUID) -> int:
    """Return the sequence of the last seal that is kept outside; 0 if there is none."""
    row: Any = connection.execute(_SQL.find_anchored, {"tenant_id": tenant_id}).fetchone()
    return 0 if row is None else int(row[0])


def keep_anchored(connection: Connection, tenant_id: UUID, sequence: int) -> None:
    connection.execute(_SQL.keep_anchored, {"tenant_id": tenant_id, "sequence": sequence})


def _rows(connection: Connection, statement: str, values: Mapping[str, Any]) -> list[Any]:
    return list(connection.execute(statement, values).fetchall())


def _count(connection: Connection, statement: str, values: Mapping[str, Any]) -> int:
    count = connection.cursor(row_factory=scalar_row).execute(statement, values).fetchone()
    if not isinstance(count, int):
        raise Defect("PRUNING_UNCOUNTED", "a function that prunes did not say how many rows went")
    return count
