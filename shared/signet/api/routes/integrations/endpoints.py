"""Routes of endpoints, which the tenant's workflows may call."""

from typing import Annotated, Literal

from aws_lambda_powertools.event_handler.openapi.params import Body
from pydantic import Field

from signet.api.http.call import Call, HttpAnswer, show_record
from signet.api.http.cursors import Page, make_page, parse_position
from signet.api.http.parameters import PAGE, Cursor, IfMatch, Limit, Named, PathName, require_version
from signet.api.http.proposed_changes import show_saved
from signet.api.http.routing import Routes
from signet.core.errors import FieldError, Rejected
from signet.core.validation.strict_model import Name, Strict
from signet.engine.control.proposals import ControlChange
from signet.engine.integrations.endpoints import EndpointRecord, EndpointTerms
from signet.outbound.webhook import MAX_URL_CHARACTERS

ENDPOINT = "/v1/endpoints/<name>"


class WrittenEndpoint(Strict):
    url: Annotated[
        str,
        Field(
            min_length=1,
            max_length=MAX_URL_CHARACTERS,
            description="An https URL of a host of the public internet.",
        ),
    ]
    secrets: Annotated[
        list[Name],
        Field(
            min_length=1,
            max_length=2,
            description="Names of the tenant's secrets, the newest first; while one is replaced, both sign.",
        ),
    ]
    status: Literal["active", "disabled"] = "active"

    def to_terms(self) -> EndpointTerms:
        return EndpointTerms(self.url, tuple(self.secrets), self.status)


class NewOutboundEndpoint(WrittenEndpoint):
    name: Named


# Parts of the answer that a replacement may send back; nothing is changed by them.
_UNCHANGED = "As it was read. It changes nothing."
AnsweredText = Annotated[str | None, Field(max_length=4_000, description=_UNCHANGED)]
AnsweredCount = Annotated[int | None, Field(ge=0, description=_UNCHANGED)]


class EndpointContent(WrittenEndpoint):
    """The terms of an endpoint. What GET answers may be sent back, with other terms."""

    name: Annotated[
        str | None, Field(max_length=4_000, description="The name of the address; nothing gets another one.")
    ] = None
    secret_refs: Annotated[
        list[Name] | None,
        Field(max_length=2, description="The older name of `secrets`. It says the same, or is left out."),
    ] = None
    disabled_reason: AnsweredText = None
    version: AnsweredCount = None
    failures: AnsweredCount = None
    rests_until: AnsweredText = None
    created_by: AnsweredText = None
    created_at: AnsweredText = None
    updated_at: AnsweredText = None

    def require_same(self, name: str) -> None:
        """Refuse what is sent back changed, and would change nothing."""
        if self.name not in (None, name):
            raise _refuse("name", f"is not '{name}': an endpoint keeps its name")
        if self.secret_refs not in (None, self.secrets):
            raise _refuse("secret_refs", "says other secrets than `secrets`: leave it out")


def _refuse(field: str, sentence: str) -> Rejected:
    where = FieldError(f"/{field}", "FIELD_NOT_CHANGED", sentence)
    return Rejected("REQUEST_INVALID", f"{field} {sentence}", fields=(where,))


def add_endpoint_routes(routes: Routes) -> None:
    @routes.get("/v1/endpoints", "Endpoints by name", Page[EndpointRecord])
    def list_endpoints(call: Call, limit: Limit = PAGE, cursor: Cursor = None) -> Page[EndpointRecord]:
        after = parse_position(cursor, "endpoints", str) or ""
        records = call.use.endpoints.list(call.principal, after=after, limit=limit + 1)
        return make_page(records, limit, lambda endpoint: (endpoint.name,), "endpoints")

    @routes.post(
        "/v1/endpoints",
        "Make an endpoint that workflows call",
        EndpointRecord,
        status=201,
        also={202: ControlChange},
        is_versioned=True,
    )
    def create_endpoint(call: Call, new: Annotated[NewOutboundEndpoint, Body()]) -> HttpAnswer:
        """Create an endpoint for nodes to name; requests to it are signed (Standard Webhooks 1.0.0)."""
        saved = call.use.endpoints.create(call.caller, new.name, new.to_terms())
        return show_saved(saved, 201, f"/v1/endpoints/{new.name}")

    @routes.get(ENDPOINT, "One endpoint, and whether it answers", EndpointRecord, is_versioned=True)
    def get_endpoint(call: Call, name: PathName) -> HttpAnswer:
        return show_record(call.use.endpoints.read(call.principal, name))

    @routes.put(ENDPOINT, "Replace an endpoint", EndpointRecord, also={202: ControlChange}, is_versioned=True)
    def replace_endpoint(
        call: Call, name: PathName, terms: Annotated[EndpointContent, Body()], if_match: IfMatch = None
    ) -> HttpAnswer:
        """Replace an endpoint, which is tried again at once; one that is disabled holds what is for it."""
        version = require_version(if_match)
        terms.require_same(name)
        return show_saved(call.use.endpoints.replace(call.caller, name, version, terms.to_terms()))

    @routes.delete(ENDPOINT, "Delete an endpoint")
    def delete_endpoint(call: Call, name: PathName, if_match: IfMatch = None) -> HttpAnswer:
        call.use.endpoints.delete(call.caller, name, require_version(if_match))
        return HttpAnswer(status=204)
