"""Waits for events from outside, and what they are offered.

A wait and an event of one key lock that key until their transactions end, so that the second sees the first.
Who decides about an offered event locks the event.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.rows import class_row, scalar_row

from signet.store.database import Connection
from signet.store.json_values import to_json
from signet.store.outbox.queue import make_trigger
from signet.store.statements import Statements

ARRIVED = "event_arrived"
# Of one key, that a wait is offered as it begins; and of a wait, that are looked at together.
MAX_KEPT_OFFERS, MAX_OFFERS = 100, 20
_SQL = Statements(__file__)


@dataclass(frozen=True, slots=True)
class OfferedEvent:
    """An event that a wait may take. `is_alone` says that no other takes it, too."""

    id: UUID
    key: str
    payload: Any
    source: str
    received_at: datetime
    taken_at: datetime | None
    is_alone: bool
    waiting_since: datetime
    # Who stands behind it: its sender, and who has offered it again.
    persons: Sequence[str]


def make_arrival(instance_id: UUID, event_id: UUID, trace_id: str | None) -> dict[str, Any]:
    """Make the trigger that lets an instance look at what it is offered."""
    return make_trigger(instance_id, ARRIVED, {"event_id": str(event_id)}, trace_id)


def hold_waits(
    connection: Connection, tenant_id: UUID, rows: Sequence[Mapping[str, Any]], ended: Sequence[UUID]
) -> frozenset[UUID]:
    """Hold waits that have begun. Return the instances for which an event was kept."""
    keys = [row["event_key"] for row in rows]
    connection.execute(_SQL.lock_keys, {"tenant_id": tenant_id, "keys": keys, "ended": list(ended)})
    if not rows:
        return frozenset()
    values = {"tenant_id": tenant_id, "rows": to_json(rows), "at_most": MAX_KEPT_OFFERS}
    with connection.cursor(row_factory=scalar_row) as cursor:
        return frozenset(cursor.execute(_SQL.insert_waits, values).fetchall())


def lock_offers(
    connection: Connection, tenant_id: UUID, step_id: UUID, until: datetime | None
) -> list[OfferedEvent]:
    """Lock the oldest events that a wait is offered, and has not decided about; those before a moment."""
    values = {"tenant_id": tenant_id, "step_id": step_id, "until": until, "at_most": MAX_OFFERS}
    with connection.cursor(row_factory=class_row(OfferedEvent)) as cursor:
        return cursor.execute(_SQL.lock_offers, values).fetchall()


def has_older_offer(connection: Connection, tenant_id: UUID, step_id: UUID, event: OfferedEvent) -> bool:
    values = {
        "tenant_id": tenant_id,
        "event_id": event.id,
        "step_id": step_id,
        "waiting_since": event.waiting_since,
    }
    return connection.execute(_SQL.find_older_offer, values).fetchone() is not None


def decide_offer(
    connection: Connection, tenant_id: UUID, step_id: UUID, event_id: UUID, status: str, reason: str | None
) -> None:
    values = {"tenant_id": tenant_id, "event_id": event_id, "step_id": step_id}
    connection.execute(_SQL.decide_offer, {**values, "status": status, "reason": reason})
    if status == "taken":
        connection.execute(_SQL.take_event, values)


def find_next_offer(connection: Connection, tenant_id: UUID, event_id: UUID) -> UUID | None:
    """Find the instance of the oldest wait that has not decided about an event."""
    values = {"tenant_id": tenant_id, "event_id": event_id}
    with connection.cursor(row_factory=scalar_row) as cursor:
        found: UUID | None = cursor.execute(_SQL.find_next_offer, values).fetchone()
    return found
