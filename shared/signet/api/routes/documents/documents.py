"""Routes of documents: create, read, change, delete, amend, and run actions."""

from collections.abc import Mapping
from typing import Annotated, Any

from aws_lambda_powertools.event_handler.openapi.params import Body
from pydantic import Field

from signet.api.http.call import Call, HttpAnswer, show_record
from signet.api.http.parameters import (
    Id,
    IfMatch,
    Named,
    PathId,
    PathName,
    QueryReason,
    Reason,
    require_version,
)
from signet.api.http.routing import Routes
from signet.core.approvals.decided_pins import digest_seen
from signet.core.validation.strict_model import Strict
from signet.engine.documents.commands import Amend, Applied, Create, Delete, RunAction, Update
from signet.engine.documents.read import DocumentAtWork

Data = Annotated[Mapping[str, Any], Field(description="The fields that the contract names.")]


class DocumentRequest(Strict):
    entity_type: Named
    data: Data
    id: Annotated[
        Id | None, Field(strict=False, description="The document's id, if the caller chooses one.")
    ] = None
    reason: Reason = None


class DocumentPatch(Strict):
    patch: Annotated[
        Mapping[str, Any],
        Field(min_length=1, description="A JSON merge patch (RFC 7396) of the data: the fields that change."),
    ]
    reason: Reason = None


class AmendmentPatch(Strict):
    patch: Annotated[
        Mapping[str, Any], Field(description="A JSON merge patch (RFC 7396); an empty one copies the data.")
    ]
    reason: Reason = None


class DocumentContent(Strict):
    data: Data
    reason: Reason = None


class ActionCall(Strict):
    payload: Annotated[Mapping[str, Any], Field(description="The input of the contract's action.")] = {}
    reason: Reason = None


def add_document_routes(routes: Routes) -> None:
    _add_making(routes)
    _add_edits(routes)


def _add_making(routes: Routes) -> None:
    @routes.post(
        "/v1/documents",
        "Make a document",
        Applied,
        status=201,
        is_versioned=True,
        places={"document": "/data"},
        names={"ENTITY_TYPE_UNKNOWN": "/entity_type"},
        large_bodies_want="*:create",
    )
    def create_document(call: Call, new: Annotated[DocumentRequest, Body()]) -> HttpAnswer:
        """Create a document; its workflow begins with it."""
        operation = Create(new.entity_type, new.data, new.id, new.reason)
        return _show_made(call.use.documents.mutate(call.caller, operation))

    @routes.get("/v1/documents/<document_id>", "One document", DocumentAtWork, is_versioned=True)
    def get_document(call: Call, document_id: PathId) -> HttpAnswer:
        """Show a document. Its ETag also names the `references`, for a request that decides."""
        document = call.use.documents_read.read(call.principal, document_id)
        return HttpAnswer(document, version=document.version, seen=digest_seen(document.references))


def _add_edits(routes: Routes) -> None:
    @routes.patch(
        "/v1/documents/<document_id>",
        "Change a document",
        Applied,
        also={201: Applied},
        is_versioned=True,
        places={"document": "/patch"},
        takes_merge_patch=True,
        large_bodies_want="*:edit",
    )
    def change_document(
        call: Call, document_id: PathId, change: Annotated[DocumentPatch, Body()], if_match: IfMatch = None
    ) -> HttpAnswer:
        """Change a document; if it may only be amended, answer a new document with 201.

        An edit that changes nothing is refused, where it would make an amendment. The patch may be the whole
        body, as application/merge-patch+json.
        """
        operation = Update(document_id, require_version(if_match), change.patch, reason=change.reason)
        return _show_edited(call.use.documents.mutate(call.caller, operation))

    @routes.put(
        "/v1/documents/<document_id>",
        "Replace a document's data",
        Applied,
        also={201: Applied},
        is_versioned=True,
        places={"document": "/data"},
        large_bodies_want="*:edit",
    )
    def replace_document(
        call: Call,
        document_id: PathId,
        content: Annotated[DocumentContent, Body()],
        if_match: IfMatch = None,
    ) -> HttpAnswer:
        """Replace the whole data: a field that is not named becomes empty, or gets its default."""
        operation = Update(
            document_id, require_version(if_match), content.data, is_full=True, reason=content.reason
        )
        return _show_edited(call.use.documents.mutate(call.caller, operation))

    @routes.delete("/v1/documents/<document_id>", "Delete a document")
    def delete_document(
        call: Call,
        document_id: PathId,
        reason: QueryReason = None,
        if_match: IfMatch = None,
    ) -> HttpAnswer:
        """Delete a document if its contract allows it; its versions and its audit trail stay."""
        operation = Delete(document_id, require_version(if_match), reason)
        call.use.documents.mutate(call.caller, operation)
        return HttpAnswer(status=204)


def add_document_acts(routes: Routes) -> None:
    """Add the routes of acts beside editing that a contract allows."""

    @routes.post(
        "/v1/documents/<document_id>/actions/<action>",
        "Run an action of the contract",
        Applied,
        is_versioned=True,
        places={"payload": "/payload"},
        large_bodies_want="*:*",
    )
    def run_action(
        call: Call,
        document_id: PathId,
        action: PathName,
        asked: Annotated[ActionCall, Body()],
        if_match: IfMatch = None,
    ) -> HttpAnswer:
        operation = RunAction(document_id, require_version(if_match), action, asked.payload, asked.reason)
        return show_record(call.use.documents.mutate(call.caller, operation))

    @routes.post(
        "/v1/documents/<document_id>/amendments",
        "Amend a document that is settled",
        Applied,
        status=201,
        is_versioned=True,
        places={"document": "/patch"},
        large_bodies_want="*:*",
    )
    def amend_document(
        call: Call, document_id: PathId, change: Annotated[AmendmentPatch, Body()], if_match: IfMatch = None
    ) -> HttpAnswer:
        """Amend a settled document: make a new one with the changed content.

        The old one stays in force until the new one settles, and is final from then on.
        """
        operation = Amend(document_id, require_version(if_match), change.patch, change.reason)
        return _show_made(call.use.documents.mutate(call.caller, operation))


def _show_made(applied: Applied) -> HttpAnswer:
    return show_record(applied, 201, f"/v1/documents/{applied.document_id}")


def _show_edited(applied: Applied) -> HttpAnswer:
    return _show_made(applied) if applied.original_id else show_record(applied)
