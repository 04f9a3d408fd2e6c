"""The door for events from outside: each message once, and none that no open wait can use.

An event locks its key before it looks for waits, as a wait does before it looks for events: none misses the
other.
"""

from uuid import UUID

from signet.core.errors import Rejected
from signet.core.integrations.payload_schema import find_payload_mistakes
from signet.engine.telemetry import EventFate
from signet.store.database import Connection
from signet.store.instances.event_waits import make_arrival
from signet.store.integrations.event_offers import list_schemas, lock_key, offer_event
from signet.store.integrations.inbound_events import (
    EventKey,
    InboundEventRow,
    find_event_of_message,
    insert_event,
)
from signet.store.outbox.queue import insert_triggers

# Of one key. A message wakes them all, in its own transaction.
MAX_WAITS = 1_000
# Of so many different schemas at the door: beyond them each wait checks the payload itself.
MAX_SCHEMAS = 20


def take_event(connection: Connection, tenant_id: UUID, new: InboundEventRow) -> tuple[EventKey, EventFate]:
    """Take an event, and wake the instances that wait for it. Return what it has found."""
    lock_key(connection, new.key)
    inserted = insert_event(connection, tenant_id, new)
    if inserted is None:
        known = find_event_of_message(connection, tenant_id, new.source, new.message_id)
        assert known is not None  # it was in the way, and no event is removed within a transaction
        return known, "known"
    _require_fit(connection, tenant_id, new)
    is_offered = _offer(connection, tenant_id, inserted, is_alone=new.is_consumed, trace_id=new.trace_id)
    return inserted, "offered" if is_offered else "unmatched"


def _offer(
    connection: Connection, tenant_id: UUID, event: EventKey, *, is_alone: bool, trace_id: str | None
) -> bool:
    """Offer an event to each open wait of its key. One that is taken alone wakes the oldest first."""
    offered = offer_event(connection, tenant_id, event.id, event.key, is_alone=is_alone, at_most=MAX_WAITS)
    if len(offered) > MAX_WAITS:
        raise Rejected(
            "EVENT_WAITS_TOO_MANY",
            f"more than {MAX_WAITS} workflows wait for the key '{event.key}'",
            remedy="Have each workflow wait for a key of its own, such as one with a number.",
        )
    woken = offered[:1] if is_alone else list(dict.fromkeys(offered))
    rows = [make_arrival(instance_id, event.id, trace_id) for instance_id in woken]
    insert_triggers(connection, tenant_id, rows)
    return bool(rows)


def _require_fit(connection: Connection, tenant_id: UUID, new: InboundEventRow) -> None:
    """Refuse a payload that no wait which is open for its key can use. Where nobody waits, it is kept."""
    schemas = list_schemas(connection, tenant_id, new.key, MAX_SCHEMAS + 1)
    if not schemas or len(schemas) > MAX_SCHEMAS:
        return
    mistakes = [find_payload_mistakes(schema or {}, new.payload, "/payload") for schema in schemas]
    if all(mistakes):
        raise Rejected(
            "EVENT_PAYLOAD_INVALID",
            f"the workflows that wait for '{new.key}' want another payload",
            remedy="Send the event as its receiver declares it.",
            fields=mistakes[0],
        )
