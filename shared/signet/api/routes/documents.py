"""Documents: made, read, changed, and asked to move on."""

from collections.abc import Mapping
from typing import Annotated, Any

from aws_lambda_powertools.event_handler.openapi.params import Body
from pydantic import Field

from signet.api.calls import Answer, Call
from signet.api.parameters import Id, IfMatch, Named, PathId, Reason, require_version
from signet.api.routing import Routes
from signet.core.strict import Strict
from signet.engine.documents.operations import Applied, Create, RequestTransition, Update
from signet.store.document_reading import DocumentRecord, TransitionRequestRecord

Data = Annotated[Mapping[str, Any], Field(description="The fields that the contract names.")]


class NewDocument(Strict):
    entity_type: Named
    data: Data
    id: Annotated[Id | None, Field(strict=False, description="Chosen by the caller, where it has one.")] = (
        None
    )
    reason: Reason = None


class DocumentPatch(Strict):
    patch: Annotated[Mapping[str, Any], Field(description="A JSON merge patch (RFC 7396) of the data.")]
    reason: Reason = None


class NewRequest(Strict):
    transition: Named
    reason: Reason = None


def add_document_routes(routes: Routes) -> None:
    @routes.post("/v1/documents", "Make a document", Applied, status=201, is_versioned=True)
    def create_document(call: Call, new: Annotated[NewDocument, Body()]) -> Answer:
        """Its workflow begins with it."""
        operation = Create(new.entity_type, new.data, new.id, new.reason)
        return _show_made(call.use.documents.mutate(call.author, operation))

    @routes.get("/v1/documents/<document_id>", "One document", DocumentRecord, is_versioned=True)
    def get_document(call: Call, document_id: PathId) -> Answer:
        found = call.use.documents_read.read(call.principal, document_id)
        return Answer(found, version=found.version)

    @routes.patch(
        "/v1/documents/<document_id>",
        "Change a document",
        Applied,
        also={201: Applied},
        is_versioned=True,
    )
    def change_document(
        call: Call, document_id: PathId, change: Annotated[DocumentPatch, Body()], if_match: IfMatch = None
    ) -> Answer:
        """Where it may only be amended, a new document is made of it: that is answered with 201."""
        operation = Update(document_id, require_version(if_match), change.patch, reason=change.reason)
        applied = call.use.documents.mutate(call.author, operation)
        return _show_made(applied) if applied.original_id else Answer(applied, version=applied.version)

    @routes.post(
        "/v1/documents/<document_id>/requests",
        "Ask for a transition",
        Applied,
        status=202,
        also={200: TransitionRequestRecord},
        is_versioned=True,
        may_wait=True,
    )
    def request_transition(
        call: Call, document_id: PathId, new: Annotated[NewRequest, Body()], if_match: IfMatch = None
    ) -> Answer:
        """The workflow will perform or refuse it; with `Prefer: wait` the end of it, if it comes in time."""
        operation = RequestTransition(document_id, require_version(if_match), new.transition, new.reason)
        applied = call.use.documents.mutate(call.author, operation)
        location = f"/v1/requests/{applied.request_id}"

        def follow() -> Answer | None:
            if applied.request_id is None:
                return None
            found = call.use.documents_read.read_request(call.principal, applied.request_id)
            return None if found.status == "open" else Answer(found, version=found.version_now)

        return Answer(applied, 202, applied.version, location, follow=follow)

    @routes.get("/v1/requests/<request_id>", "One request for a transition", TransitionRequestRecord)
    def get_request(call: Call, request_id: PathId) -> TransitionRequestRecord:
        return call.use.documents_read.read_request(call.principal, request_id)


def _show_made(applied: Applied) -> Answer:
    return Answer(applied, 201, applied.version, f"/v1/documents/{applied.document_id}")
