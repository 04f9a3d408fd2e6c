"""The events that came from outside, with what became of them, and the act that offers one again."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from signet.core.errors import FieldError, Rejected
from signet.core.integrations.inbound_events import check_key
from signet.core.tenants.caller import Caller
from signet.core.tenants.principal import Principal
from signet.core.validation.text import find_text_problem
from signet.engine.access.admin import administering
from signet.engine.access.read import LAST, bound_page, reading
from signet.engine.integrations.event_door import MAX_WAITS
from signet.store.database import Database
from signet.store.instances.event_waits import make_arrival
from signet.store.integrations.event_offers import EventOffer as EventOffer
from signet.store.integrations.event_offers import list_offers, lock_event, offer_again
from signet.store.integrations.inbound_events import EventRecord as EventRecord
from signet.store.integrations.inbound_events import FullEventRecord as FullEventRecord
from signet.store.integrations.inbound_events import find_event, list_events
from signet.store.outbox.queue import insert_triggers

READ, REPLAY = "inbound_event:read", "inbound_event:replay"
MAX_REASON_CHARACTERS = 2_000


@dataclass(frozen=True, slots=True)
class Replayed:
    """An event that was offered again, and how many waits were open for it."""

    id: UUID
    key: str
    offered: int


class SentEvents:
    """The use case. One in each process."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def list_newest(
        self,
        principal: Principal,
        *,
        key: str | None,
        before: UUID | None,
        limit: int,
        is_unmatched: bool = False,
    ) -> Sequence[EventRecord]:
        """List events without their payloads, each of which may be as large as an answer."""
        refused = check_key(key) if key is not None else None
        if refused is not None:
            raise refused
        with reading(self._database, principal) as read:
            read.require(READ)
            return list_events(
                read.connection,
                principal.tenant_id,
                key=key,
                before=before or LAST,
                limit=bound_page(limit),
                is_unmatched=is_unmatched,
            )

    def read(self, principal: Principal, event_id: UUID) -> FullEventRecord:
        with reading(self._database, principal) as read:
            read.require(READ)
            event = find_event(read.connection, principal.tenant_id, event_id)
        if event is None:
            raise _not_found(event_id)
        return event

    def list_offers(self, principal: Principal, event_id: UUID) -> Sequence[EventOffer]:
        """List what the waits have decided about an event."""
        with reading(self._database, principal) as read:
            read.require(READ)
            if find_event(read.connection, principal.tenant_id, event_id) is None:
                raise _not_found(event_id)
            return list_offers(read.connection, principal.tenant_id, event_id)

    def replay(self, caller: Caller, event_id: UUID, reason: str) -> Replayed:
        """Offer an event again that no wait has taken, and keep it longer for the first that fits.

        Who does it stands behind what the document does with the event, beside its sender.
        """
        _require_reason(reason)
        tenant_id = caller.principal.tenant_id
        with administering(self._database, caller) as act:
            act.require(REPLAY)
            event = lock_event(act.connection, tenant_id, event_id)
            if event is None:
                raise _not_found(event_id)
            if event.taken_at is not None:
                sentence = f"a workflow has taken the event at {event.taken_at.isoformat()}"
                raise Rejected("EVENT_TAKEN", sentence, remedy="Send another event.")
            claimed = () if caller.claimed is None else (caller.claimed,)
            persons = frozenset((*caller.principal.responsible, *claimed))
            offered = offer_again(act.connection, tenant_id, event, persons, at_most=MAX_WAITS)
            rows = [make_arrival(instance_id, event_id, caller.trace_id) for instance_id in offered[:1]]
            insert_triggers(act.connection, tenant_id, rows)
            detail = {"key": event.key, "offered": len(offered)}
            act.note(("inbound_event", str(event_id)), "replay", detail, reason=reason)
        return Replayed(event.id, event.key, len(offered))


def _require_reason(reason: str) -> None:
    problem = find_text_problem(reason)
    if problem is None and not reason.strip():
        problem = "is required"
    if problem is None and len(reason) > MAX_REASON_CHARACTERS:
        problem = f"has more than {MAX_REASON_CHARACTERS} characters"
    if problem is not None:
        mistake = FieldError("/reason", "FIELD_INVALID", problem)
        raise Rejected("FIELDS_INVALID", f"the reason {problem}", fields=(mistake,))


def _not_found(event_id: UUID) -> Rejected:
    return Rejected("EVENT_NOT_FOUND", f"there is no event {event_id}")
