"""Routes of inbound events: sent with a token, or signed by a sender that the tenant knows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal
from uuid import UUID

from aws_lambda_powertools.event_handler.openapi.params import Body, Header, Query
from pydantic import AfterValidator, Field

from signet.api.http.call import Call, HttpAnswer
from signet.api.http.cursors import Page, make_page, parse_position
from signet.api.http.parameters import PAGE, Cursor, Limit, PathId, PathName, check_text
from signet.api.http.routing import Routes
from signet.core.documents.payload_limits import MAX_PAYLOAD_BYTES
from signet.core.integrations.inbound_events import MAX_KEY_CHARACTERS, MAX_MESSAGE_ID_CHARACTERS
from signet.core.integrations.webhook_signatures import ID, SIGNATURE, TIMESTAMP
from signet.core.validation.strict_model import Strict
from signet.engine.integrations.inbound_events import InboundMessage, TakenEvent
from signet.engine.integrations.kept_events import (
    MAX_REASON_CHARACTERS,
    EventOffer,
    EventRecord,
    FullEventRecord,
    Replayed,
)

Key = Annotated[
    str | None,
    AfterValidator(lambda text: text if text is None else check_text(text)),
    Query(min_length=1, max_length=MAX_KEY_CHARACTERS, description="Exactly."),
]
Unmatched = Annotated[bool, Query(description="Only those that no workflow has taken.")]


class EventRequest(Strict):
    key: Annotated[
        str,
        Field(min_length=1, max_length=MAX_KEY_CHARACTERS, description="The key that a workflow waits for."),
    ]
    id: Annotated[
        str | None,
        Field(
            min_length=1,
            max_length=MAX_MESSAGE_ID_CHARACTERS,
            description="The message's own id; messages of one sender with the same id are taken once.",
        ),
    ] = None
    payload: Annotated[Any, Field(description=f"JSON of up to {MAX_PAYLOAD_BYTES} bytes.")] = None
    delivery: Annotated[
        Literal["broadcast", "consume"],
        Field(description="To each workflow that waits for the key, or to the one that has waited longest."),
    ] = "broadcast"


class ReplayRequest(Strict):
    reason: Annotated[str, Field(min_length=1, max_length=MAX_REASON_CHARACTERS)]


@dataclass(frozen=True)
class EventOffers:
    items: Sequence[EventOffer]


def add_event_routes(routes: Routes) -> None:
    @routes.post("/v1/events", "Send an event", TakenEvent, status=202, large_bodies_want="inbound_event:*")
    def send_event(call: Call, new: Annotated[EventRequest, Body()]) -> HttpAnswer:
        """Send an event to the workflows that wait for its key; else it is kept seven days for the first."""
        is_consumed = new.delivery == "consume"
        event = call.use.inbound_events.send(
            call.caller, new.key, new.id, new.payload, is_consumed=is_consumed
        )
        return HttpAnswer(event, 202, location=f"/v1/events/{event.id}")

    @routes.post(
        "/v1/tenants/<tenant_id>/events/<endpoint>",
        "Send a signed event",
        TakenEvent,
        status=202,
        is_signed=True,
    )
    def send_signed_event(
        call: Call,
        tenant_id: PathId,
        endpoint: PathName,
        message: Annotated[Any, Body()],
        message_id: Annotated[str | None, Header(alias=ID)] = None,
        moment: Annotated[str | None, Header(alias=TIMESTAMP)] = None,
        signature: Annotated[str | None, Header(alias=SIGNATURE)] = None,
    ) -> HttpAnswer:
        """Send an event without a token; the inbound endpoint says where in the message its key is."""
        sent = InboundMessage(call.headers, call.body, message, call.trace_id)
        return HttpAnswer(call.use.inbound_events.take_signed(tenant_id, endpoint, sent), 202)

    @routes.get("/v1/events", "Events that were sent, the newest first", Page[EventRecord])
    def list_events(
        call: Call,
        key: Key = None,
        unmatched: Unmatched = False,
        limit: Limit = PAGE,
        cursor: Cursor = None,
    ) -> Page[EventRecord]:
        """List events, each with what became of it: taken, open, unfit, kept or expired."""
        filters = ["events", key, unmatched]
        before = parse_position(cursor, filters, UUID)
        records = call.use.kept_events.list_newest(
            call.principal, key=key, before=before, limit=limit + 1, is_unmatched=unmatched
        )
        return make_page(records, limit, lambda event: (event.id,), filters)

    @routes.get("/v1/events/<event_id>", "One event, with its payload", FullEventRecord)
    def get_event(call: Call, event_id: PathId) -> FullEventRecord:
        return call.use.kept_events.read(call.principal, event_id)

    @routes.get("/v1/events/<event_id>/offers", "What waits have decided about an event", EventOffers)
    def list_event_offers(call: Call, event_id: PathId) -> EventOffers:
        """List the waits that an event was offered to, the oldest first, with what each has decided."""
        return EventOffers(call.use.kept_events.list_offers(call.principal, event_id))

    @routes.post("/v1/events/<event_id>/replay", "Offer an event again", Replayed)
    def replay_event(call: Call, event_id: PathId, why: Annotated[ReplayRequest, Body()]) -> Replayed:
        """Offer an event again that no workflow has taken; the caller stands behind it, too."""
        return call.use.kept_events.replay(call.caller, event_id, why.reason)
