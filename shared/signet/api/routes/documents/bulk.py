"""Routes that make many documents in one request, each with its own outcome."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from aws_lambda_powertools.event_handler.openapi.params import Body
from pydantic import Field

from signet.api.http.bulk_outcomes import Refusal, describe_refusal
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
    documents: Annotated[Sequence[DocumentRequest], Field(min_length=1, max_length=MAX_BATCH)]


@dataclass(frozen=True, slots=True)
class BulkOutcome:
    """The outcome for one document: the document, or the reason against it in `refusal`."""

    index: int
    status: Literal["done", "rejected"]
    document: Applied | None
    refusal: Refusal | None


@dataclass(frozen=True, slots=True)
class BulkOutcomes:
    done: int
    rejected: int
    items: Sequence[BulkOutcome]


def add_bulk_document_routes(routes: Routes) -> None:
    """Declare the route that makes many documents."""

    @routes.post("/v1/documents/bulk", "Make many documents", BulkOutcomes)
    def create_documents(call: Call, new: Annotated[NewDocuments, Body()]) -> BulkOutcomes:
        """Make many documents; the status is 200 even if some or all of them are rejected."""
        operations = [
            Create(document.entity_type, document.data, document.id, document.reason)
            for document in new.documents
        ]
        outcomes = call.use.documents.mutate_many(call.caller, operations, new.mode)
        items = [_show(index, outcome) for index, outcome in enumerate(outcomes)]
        done = sum(item.status == "done" for item in items)
        return BulkOutcomes(done, len(items) - done, items)


def _show(index: int, outcome: Outcome) -> BulkOutcome:
    if isinstance(outcome, Applied):
        return BulkOutcome(index, "done", outcome, None)
    return BulkOutcome(index, "rejected", None, describe_refusal(outcome))
