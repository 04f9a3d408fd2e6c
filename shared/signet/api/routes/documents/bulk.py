"""Routes that make many documents in one request, each with its own outcome."""

from typing import Annotated, Literal

from aws_lambda_powertools.event_handler.openapi.params import Body
from pydantic import Field

from signet.api.http.bulk_outcomes import BulkOutcome, BulkOutcomes, show_outcome, show_outcomes
from signet.api.http.call import Call
from signet.api.http.routing import Routes
from signet.api.routes.documents.documents import DocumentRequest
from signet.core.validation.strict_model import Strict
from signet.engine.documents.command_checks import MAX_BATCH
from signet.engine.documents.commands import Applied, Create, Outcome


class NewDocuments(Strict):
    mode: Annotated[
        Literal["all", "each"],
        Field(description="`all`: if one is rejected, none is made. `each`: all others are made."),
    ] = "all"
    documents: Annotated[list[DocumentRequest], Field(min_length=1, max_length=MAX_BATCH)]


def add_bulk_document_routes(routes: Routes) -> None:
    """Declare the route that makes many documents."""

    @routes.post(
        "/v1/documents/bulk", "Make many documents", BulkOutcomes[Applied], large_bodies_want="*:create"
    )
    def create_documents(call: Call, new: Annotated[NewDocuments, Body()]) -> BulkOutcomes[Applied]:
        """Make many documents; the status is 200 even if some or all of them are rejected.

        With `all`, one that could have been made is rejected with NOT_DONE and the `index` at fault.
        """
        operations = [
            Create(document.entity_type, document.data, document.id, document.reason)
            for document in new.documents
        ]
        outcomes = call.use.documents.mutate_many(call.caller, operations, new.mode)
        return show_outcomes(_show(call, index, outcome) for index, outcome in enumerate(outcomes))


def _show(call: Call, index: int, outcome: Outcome) -> BulkOutcome[Applied]:
    return show_outcome(
        call,
        index,
        outcome.document_id if isinstance(outcome, Applied) else None,
        outcome,
        places={"document": "/data"},
        names={"ENTITY_TYPE_UNKNOWN": "/entity_type"},
        prefix=f"/documents/{index}",
    )
