"""Offers of events from outside to the waits that are open for their key."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.rows import class_row, scalar_row

from signet.core.integrations.inbound_events import KEPT_DAYS
from signet.core.tenants.responsible import ResponsiblePersons
from signet.store.database import Connection
from signet.store.responsible_sets import keep_responsible
from signet.store.statements import Statements

# Of one event, that are shown.
MAX_SHOWN_OFFERS = 100
_SQL = Statements(__file__)


@dataclass(frozen=True, slots=True)
class LockedEvent:
    id: UUID
    key: str
    taken_at: datetime | None
    replayed_by: Sequence[str]


@dataclass(frozen=True, slots=True)
class EventOffer:
    """The decision of one wait about an event: `open`, `taken`, `unfit` with its reason, or `ended`."""

    instance_id: UUID
    node_id: str | None
    waiting_since: datetime
    status: str
    reason: str | None
    decided_at: datetime | None


def lock_key(connection: Connection, key: str) -> None:
    """Lock a key until the transaction ends: a wait that begins meanwhile sees what is written."""
    connection.execute(_SQL.lock_key, {"key": key})


def list_schemas(
    connection: Connection, tenant_id: UUID, key: str, at_most: int
) -> list[Mapping[str, Any] | None]:
    """List the schemas of the waits that are open for a key; None is of a wait that takes anything."""
    values = {"tenant_id": tenant_id, "key": key, "at_most": at_most}
    with connection.cursor(row_factory=scalar_row) as cursor:
        return cursor.execute(_SQL.list_schemas, values).fetchall()


def offer_event(
    connection: Connection, tenant_id: UUID, event_id: UUID, key: str, *, is_alone: bool, at_most: int
) -> list[UUID]:
    """Offer an event to the waits of its key. Return their instances, the oldest first, and one too many."""
    values = {
        "tenant_id": tenant_id,
        "id": event_id,
        "key": key,
        "is_alone": is_alone,
        "at_most": at_most,
    }
    with connection.cursor(row_factory=scalar_row) as cursor:
        return cursor.execute(_SQL.offer_event, values).fetchall()


def lock_event(connection: Connection, tenant_id: UUID, event_id: UUID) -> LockedEvent | None:
    """Lock an event before its key: a wait that decides about it has locked the event first, too."""
    with connection.cursor(row_factory=class_row(LockedEvent)) as cursor:
        return cursor.execute(_SQL.lock_event, {"tenant_id": tenant_id, "id": event_id}).fetchone()


def offer_again(
    connection: Connection, tenant_id: UUID, event: LockedEvent, persons: ResponsiblePersons, *, at_most: int
) -> list[UUID]:
    """Keep an event longer, and offer it to the waits of its key. Return their instances, oldest first."""
    lock_key(connection, event.key)
    values = {"tenant_id": tenant_id, "id": event.id, "key": event.key, "at_most": at_most}
    behind = bytes.fromhex(keep_responsible(connection, tenant_id, persons.union(event.replayed_by))[2:])
    connection.execute(_SQL.keep_longer, {**values, "kept_days": KEPT_DAYS, "replayed_by": behind})
    with connection.cursor(row_factory=scalar_row) as cursor:
        return cursor.execute(_SQL.offer_again, values).fetchall()


def list_offers(connection: Connection, tenant_id: UUID, event_id: UUID) -> Sequence[EventOffer]:
    values = {"tenant_id": tenant_id, "id": event_id, "at_most": MAX_SHOWN_OFFERS}
    with connection.cursor(row_factory=class_row(EventOffer)) as cursor:
        return cursor.execute(_SQL.list_offers, values).fetchall()
