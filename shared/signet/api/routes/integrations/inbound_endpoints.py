"""Routes of inbound endpoints: senders without a token, who sign their messages."""

from typing import Annotated, Literal

from aws_lambda_powertools.event_handler.openapi.params import Body
from pydantic import Field

from signet.api.http.call import Call, HttpAnswer, show_record
from signet.api.http.cursors import Page, make_page, parse_position
from signet.api.http.parameters import PAGE, Cursor, IfMatch, Limit, Named, PathName, require_version
from signet.api.http.proposed_changes import show_saved
from signet.api.http.routing import Routes
from signet.core.validation.strict_model import Name, Strict
from signet.engine.control.proposals import ControlChange
from signet.engine.integrations.inbound_events import InboundEndpointRecord, InboundEndpointTerms

MAX_PREFIX_CHARACTERS, MAX_POINTER_CHARACTERS, MAX_SECRETS, MAX_CONSUMED = 200, 300, 3, 20
ENDPOINT = "/v1/inbound_endpoints/<name>"


class InboundEndpointContent(Strict):
    key_prefix: Annotated[
        str, Field(max_length=MAX_PREFIX_CHARACTERS, description="The beginning of every key of its events.")
    ] = ""
    key_pointer: Annotated[
        str | None,
        Field(
            max_length=MAX_POINTER_CHARACTERS,
            description="The place in a message of the rest of the key (RFC 6901).",
        ),
    ] = None
    secrets: Annotated[
        list[Name],
        Field(
            min_length=1,
            max_length=MAX_SECRETS,
            description="Names of the tenant's secrets; while one is replaced, either is accepted.",
        ),
    ]
    status: Literal["active", "disabled"] = "active"
    consume: list[Annotated[str, Field(min_length=1, max_length=MAX_PREFIX_CHARACTERS)]] = Field(
        default_factory=list,
        max_length=MAX_CONSUMED,
        description="How keys begin whose event goes to the workflow alone that has waited longest.",
    )

    def to_terms(self) -> InboundEndpointTerms:
        return InboundEndpointTerms(
            self.key_prefix, self.key_pointer, tuple(self.secrets), self.status, tuple(self.consume)
        )


class NewInboundEndpoint(InboundEndpointContent):
    name: Named


def add_inbound_endpoint_routes(routes: Routes) -> None:
    @routes.get("/v1/inbound_endpoints", "Inbound endpoints by name", Page[InboundEndpointRecord])
    def list_inbound_endpoints(
        call: Call, limit: Limit = PAGE, cursor: Cursor = None
    ) -> Page[InboundEndpointRecord]:
        after = parse_position(cursor, "inbound_endpoints", str) or ""
        records = call.use.inbound_events.list_endpoints(call.principal, after=after, limit=limit + 1)
        return make_page(records, limit, lambda endpoint: (endpoint.name,), "inbound_endpoints")

    @routes.post(
        "/v1/inbound_endpoints",
        "Make an inbound endpoint for signed events",
        InboundEndpointRecord,
        status=201,
        also={202: ControlChange},
        is_versioned=True,
    )
    def create_inbound_endpoint(call: Call, new: Annotated[NewInboundEndpoint, Body()]) -> HttpAnswer:
        saved = call.use.inbound_events.create_endpoint(call.caller, new.name, new.to_terms())
        return show_saved(saved, 201, f"/v1/inbound_endpoints/{new.name}")

    @routes.get(ENDPOINT, "One inbound endpoint", InboundEndpointRecord, is_versioned=True)
    def get_inbound_endpoint(call: Call, name: PathName) -> HttpAnswer:
        return show_record(call.use.inbound_events.read_endpoint(call.principal, name))

    @routes.put(
        ENDPOINT,
        "Replace an inbound endpoint",
        InboundEndpointRecord,
        also={202: ControlChange},
        is_versioned=True,
    )
    def replace_inbound_endpoint(
        call: Call, name: PathName, terms: Annotated[InboundEndpointContent, Body()], if_match: IfMatch = None
    ) -> HttpAnswer:
        """Replace an inbound endpoint; if it is disabled, it accepts nothing more, and past events stay."""
        version = require_version(if_match)
        return show_saved(
            call.use.inbound_events.replace_endpoint(call.caller, name, version, terms.to_terms())
        )
