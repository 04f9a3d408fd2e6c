"""Queues of the engine, all by the same rules: claim, complete, release, fail, dead letter (design §6).

    pending → processing → completed
                         → failed → processing (again, when due) | dead_letter (after the last attempt)
                         → pending (released, given back, or its lease ran out)
    dead_letter → pending (by an operator)

A claim is the right to work on a row until its lease ends. Later calls pass the claim_id, and change only
rows that still have it. Rows that another worker has claimed since stay as they are, and are missing in the
answer. All functions run in the tenant's transaction that is passed in.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from functools import cache
from types import MappingProxyType
from typing import Any, Generic, TypeVar
from uuid import UUID

import orjson
from psycopg.rows import class_row, scalar_row

from signet.core.backoff import EFFECT_BACKOFF, EVENT_BACKOFF, Backoff
from signet.core.errors import Defect
from signet.core.runtime.idempotency_keys import event_key
from signet.ids import created_at_of, make_id
from signet.store.database import Connection
from signet.store.pipeline import DeferredStatement
from signet.store.statements import Statements
from signet.store.wake_ups import QueueName, add_wake_up

MAX_ROWS = 500  # in any one call
MAX_ERROR_CHARACTERS = 2000
# A row that failed so often is claimed alone, so that it spoils no wave and kills only its own worker.
# Effects often fail, and all at once if a receiver is down: they go together until their last attempt.
EVENT_ALONE_FROM, EFFECT_ALONE_FROM = 2, 11
# Before everything that is due.
EVER = datetime.min.replace(tzinfo=UTC)
# A trigger that is due so much later than it was made is for a moment that something waits for.
LEAST_WAIT = timedelta(seconds=1)
# Between ten and twenty seconds, however often: no attempt counts these.
GIVEN_BACK = Backoff(first_seconds=20, cap_seconds=20)
NO_DELAYS: Mapping[UUID, float] = MappingProxyType({})
LEASE_EXPIRED = "LEASE_EXPIRED: whoever worked on it did not come back"
_SQL = Statements(__file__)


@dataclass(frozen=True, slots=True)
class ClaimedRow:
    """A row of any queue as its last claim left it; `attempts` counts that claim too."""

    created_at: datetime
    id: UUID
    instance_id: UUID
    due_at: datetime
    attempts: int
    max_attempts: int
    payload_json: Any
    trace_id: str | None
    # The error of the attempt before.
    error: str | None


@dataclass(frozen=True, slots=True)
class ClaimedTrigger(ClaimedRow):
    event_type: str
    entity_version: int
    definition_version: int | None
    depth: int
    # How often an outage gave it back without an attempt.
    given_back: int = 0

    @property
    def is_for_a_moment(self) -> bool:
        """Return whether it was written for a later moment, and is tried for the first time."""
        is_first = self.attempts == 1 and self.given_back == 0
        return is_first and self.due_at - self.created_at >= LEAST_WAIT


@dataclass(frozen=True, slots=True)
class ClaimedEffect(ClaimedRow):
    step_execution_id: UUID
    effect_type: str
    endpoint: str | None
    event_idempotency_key: bytes
    # The first attempt to send the same, where this one is a retry.
    first_id: UUID | None
    # The evidence of the attempt before.
    response_json: Any
    # When it was claimed last.
    claimed_at: datetime | None
    # Since when its endpoint, which is switched off, keeps it waiting.
    held_at: datetime | None = None


Row = TypeVar("Row", bound=ClaimedRow)


@dataclass(frozen=True)
class Queue(Generic[Row]):
    """One of the closed set below; the fields of `row` are the columns that are read."""

    name: QueueName
    table: str
    row: type[Row]
    backoff: Backoff
    alone_from: int


EVENTS = Queue("events", "workflow_events_outbox", ClaimedTrigger, EVENT_BACKOFF, EVENT_ALONE_FROM)
EFFECTS = Queue("effects", "workflow_side_effects_outbox", ClaimedEffect, EFFECT_BACKOFF, EFFECT_ALONE_FROM)
QUEUES: tuple[Queue[ClaimedTrigger] | Queue[ClaimedEffect], ...] = (EVENTS, EFFECTS)


@cache
def fill(statement: str, queue: Queue[Any]) -> str:
    columns = ", ".join(field.name for field in fields(queue.row))
    named = statement.replace("{table}", queue.table).replace("{queue}", queue.name)
    return named.replace("{columns}", columns)


@dataclass(frozen=True, slots=True)
class ReturnedRows(Generic[Row]):
    """Rows that came back to their queue: `again` becomes due once more, `dead` had the last attempt."""

    again: frozenset[UUID]
    dead: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class _Key:
    created_at: datetime
    id: UUID
    is_exhausted: bool


def claim_due(
    queue: Queue[Any],
    *,
    at_most: int,
    lease_seconds: float,
    claim_id: UUID,
    since: datetime = EVER,
) -> DeferredStatement:
    """Claim rows of the transaction's tenant, due since then, that nobody holds; the oldest first.

    A row that failed too often comes alone. This is a statement, so that a claim is a transaction of two
    round trips. `parse_claimed` reads its rows.
    """
    check_count(at_most, MAX_ROWS)
    values = {
        "at_most": at_most,
        "lease_seconds": lease_seconds,
        "claim_id": claim_id,
        "alone_from": queue.alone_from,
        "since": since,
    }
    return DeferredStatement(fill(_SQL.claim, queue), values)


def parse_claimed(queue: Queue[Row], rows: Sequence[tuple[Any, ...]]) -> list[Row]:
    return [queue.row(*row) for row in rows]


def claim(
    connection: Connection,
    queue: Queue[Row],
    *,
    at_most: int,
    lease_seconds: float,
    claim_id: UUID,
) -> list[Row]:
    """Claim rows in the caller's transaction, which says of which tenant."""
    due = claim_due(queue, at_most=at_most, lease_seconds=lease_seconds, claim_id=claim_id)
    return parse_claimed(queue, connection.execute(due.text, due.values).fetchall())


def relock(
    connection: Connection, queue: Queue[Row], tenant_id: UUID, rows: Sequence[Row], claim_id: UUID
) -> set[UUID]:
    """Lock claimed rows again at the start of the work, so that nobody else takes them before its end."""
    return _change(connection, fill(_SQL.relock, queue), tenant_id, rows, {"claim_id": claim_id})


def complete(
    connection: Connection, queue: Queue[Row], tenant_id: UUID, rows: Sequence[Row], claim_id: UUID
) -> set[UUID]:
    return _change(connection, fill(_SQL.complete, queue), tenant_id, rows, {"claim_id": claim_id})


def release(
    connection: Connection,
    queue: Queue[Row],
    tenant_id: UUID,
    rows: Sequence[Row],
    claim_id: UUID,
    *,
    delay_seconds: float,
) -> set[UUID]:
    """Release rows that were not tried because something was in the way; this costs no attempt."""
    if rows:
        add_wake_up(connection, tenant_id, queue.name, delay_seconds)
    more = {"claim_id": claim_id, "delays": [delay_seconds] * len(rows)}
    return _change(connection, fill(_SQL.release, queue), tenant_id, rows, more)


def give_back_effects(
    connection: Connection, tenant_id: UUID, rows: Sequence[ClaimedEffect], claim_id: UUID
) -> set[UUID]:
    """Release effects whose claim an outage cut off, each for a while of its own."""
    delays = [GIVEN_BACK.delay_seconds(row.attempts, row.id) for row in rows]
    for delay_seconds in delays:
        add_wake_up(connection, tenant_id, EFFECTS.name, delay_seconds)
    more = {"claim_id": claim_id, "delays": delays}
    return _change(connection, fill(_SQL.release, EFFECTS), tenant_id, rows, more)


def fail(
    connection: Connection,
    queue: Queue[Row],
    tenant_id: UUID,
    failures: Sequence[tuple[Row, str]],
    claim_id: UUID,
    *,
    final: Collection[UUID] = (),
    delays: Mapping[UUID, float] = NO_DELAYS,
) -> ReturnedRows[Row]:
    """Record failures, each with its error; retry after the backoff, or make a dead letter.

    Rows in `final` become dead letters at once. A delay of `delays` takes the place of the backoff.
    """
    rows = [row for row, _ in failures]
    if not rows:
        return ReturnedRows(frozenset(), ())
    waits = [delays.get(row.id, queue.backoff.delay_seconds(row.attempts, row.id)) for row in rows]
    values = {
        **_keys(tenant_id, rows),
        "claim_id": claim_id,
        "errors": [clean_error(error) for _, error in failures],
        "finals": [row.id in final for row in rows],
        "delays": waits,
    }
    for delay_seconds in waits:
        add_wake_up(connection, tenant_id, queue.name, delay_seconds)
    return _dead_letter_exhausted(connection, queue, tenant_id, fill(_SQL.fail, queue), values)


def release_expired(
    connection: Connection, queue: Queue[Row], tenant_id: UUID, *, at_most: int, since: datetime = EVER
) -> ReturnedRows[Row]:
    """Release rows of lost workers; the attempt stays counted, so a row that kills its workers ends."""
    check_count(at_most, MAX_ROWS)
    values = {"tenant_id": tenant_id, "at_most": at_most, "error": LEASE_EXPIRED, "since": since}
    returned = _dead_letter_exhausted(connection, queue, tenant_id, fill(_SQL.release_expired, queue), values)
    if returned.again:
        add_wake_up(connection, tenant_id, queue.name)
    return returned


def requeue_dead(
    connection: Connection, queue: Queue[Row], tenant_id: UUID, ids: Sequence[UUID]
) -> set[UUID]:
    """Requeue dead letters for an operator; other rows are missing in the answer."""
    if not ids:
        return set()
    check_count(len(ids), MAX_ROWS)
    add_wake_up(connection, tenant_id, queue.name)
    values = {
        "tenant_id": tenant_id,
        "created_ats": [created_at_of(row_id) for row_id in ids],
        "ids": list(ids),
    }
    return _read_ids(connection, fill(_SQL.requeue_dead, queue), values)


def list_dead(
    connection: Connection, queue: Queue[Row], tenant_id: UUID, *, after: UUID | None, limit: int
) -> list[Row]:
    """List dead letters by id, from behind `after` on."""
    check_count(limit, MAX_ROWS)
    values = {"tenant_id": tenant_id, "after": after or UUID(int=0), "limit": limit}
    with connection.cursor(row_factory=class_row(queue.row)) as cursor:
        return cursor.execute(fill(_SQL.list_dead, queue), values).fetchall()


def make_trigger(
    subject_id: UUID,
    event_type: str,
    content: Mapping[str, Any],
    trace_id: str | None = None,
    *,
    entity_version: int = 0,
    definition_version: int | None = None,
    due_at: datetime | None = None,
) -> dict[str, Any]:
    """Make the row of a trigger. Its own id is its cause, so that two of equal content stay two."""
    identifier = make_id()
    payload = {**content, "cause_id": str(identifier)}
    key = event_key(subject_id, event_type, payload, entity_version)
    return {
        "id": identifier,
        "created_at": created_at_of(identifier),
        "instance_id": subject_id,
        "entity_version": entity_version,
        "definition_version": definition_version,
        "event_type": event_type,
        "payload": payload,
        "trace_id": trace_id,
        "idempotency_key": f"\\x{key.hex()}",
        "due_at": due_at,
    }


def insert_triggers(connection: Connection, tenant_id: UUID, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert triggers with their receipts, due now, and add a wake-up.

    A row's `due_at` and versions are not read here; the writes of waves and documents read them.
    """
    if rows:
        add_wake_up(connection, tenant_id, EVENTS.name)
        text = orjson.dumps(list(rows)).decode()
        connection.execute(_SQL.insert_triggers, {"tenant_id": tenant_id, "rows": text})


def clean_error(error: str) -> str:
    """Remove what Postgres takes in no text: NUL, and half a surrogate pair."""
    text = error[:MAX_ERROR_CHARACTERS].replace("\0", "")
    return text.encode(errors="replace").decode()


def _dead_letter_exhausted(
    connection: Connection, queue: Queue[Row], tenant_id: UUID, statement: str, values: dict[str, Any]
) -> ReturnedRows[Row]:
    """Make dead letters in a second statement: the trigger on `status` wants this change by itself."""
    with connection.cursor(row_factory=class_row(_Key)) as cursor:
        keys = cursor.execute(statement, values).fetchall()
    again = frozenset(key.id for key in keys if not key.is_exhausted)
    exhausted = [key for key in keys if key.is_exhausted]
    if not exhausted:
        return ReturnedRows(again, ())
    with connection.cursor(row_factory=class_row(queue.row)) as cursor:
        dead = cursor.execute(fill(_SQL.dead_letter, queue), _keys(tenant_id, exhausted)).fetchall()
    return ReturnedRows(again, tuple(dead))


def _change(
    connection: Connection, statement: str, tenant_id: UUID, rows: Sequence[ClaimedRow], more: dict[str, Any]
) -> set[UUID]:
    if not rows:
        return set()
    return _read_ids(connection, statement, {**_keys(tenant_id, rows), **more})


def _read_ids(connection: Connection, statement: str, values: dict[str, Any]) -> set[UUID]:
    return set(connection.cursor(row_factory=scalar_row).execute(statement, values).fetchall())


def _keys(tenant_id: UUID, rows: Sequence[ClaimedRow | _Key]) -> dict[str, Any]:
    check_count(len(rows), MAX_ROWS)
    return {
        "tenant_id": tenant_id,
        "created_ats": [row.created_at for row in rows],
        "ids": [row.id for row in rows],
    }


def check_count(count: int, limit: int) -> None:
    if not 1 <= count <= limit:
        raise Defect("QUEUE_LIMIT", f"between 1 and {limit} at a time, not {count}")
