"""Routes for a tenant's operators: state of its queues, dead letters, requeueing."""

from collections.abc import Sequence
from typing import Annotated
from uuid import UUID

from aws_lambda_powertools.event_handler.openapi.params import Body, Query
from pydantic import Field

from signet.api.http.bulk_outcomes import BulkOutcomes, show_outcome, show_outcomes
from signet.api.http.call import Call
from signet.api.http.cursors import Page, make_page, parse_position
from signet.api.http.parameters import PAGE, Cursor, Id, Limit
from signet.api.http.routing import Routes
from signet.api.routes.instances.actions import Why
from signet.core.errors import Rejected
from signet.core.validation.strict_model import Strict
from signet.engine.instances.operations import MAX_REQUEUED, DeadLetter, HandledLetter, Overview, QueueName

OneQueue = Annotated[QueueName | None, Query(description="Only of this queue; by default of both.")]


class DeadLetters(Strict):
    ids: Annotated[
        list[Annotated[Id, Field(strict=False)]],
        Field(min_length=1, max_length=MAX_REQUEUED, description="The ids of triggers and effects."),
    ]


class RequeuedLetters(DeadLetters):
    reason: Annotated[
        Why | None,
        Field(description="Wanted where an edge takes the error of a call, and kept with the act."),
    ] = None


class DiscardedLetters(DeadLetters):
    reason: Why
    dry_run: Annotated[bool, Field(description="Only report what would be discarded.")] = False


def add_operation_routes(routes: Routes) -> None:
    @routes.get("/v1/operations", "The state of the tenant's work", Overview)
    def get_operations(call: Call) -> Overview:
        """Show the state of the tenant's work; counts end at 10,000, also those of the last hour."""
        return call.use.operations.overview(call.principal)

    @routes.get("/v1/operations/dead_letters", "Dead letters, the newest first", Page[DeadLetter])
    def list_dead_letters(
        call: Call, queue: OneQueue = None, limit: Limit = PAGE, cursor: Cursor = None
    ) -> Page[DeadLetter]:
        before = parse_position(cursor, queue, UUID)
        records = call.use.operations.list_dead_letters(
            call.principal, queue=queue, before=before, limit=limit + 1
        )
        return make_page(records, limit, lambda row: [row.id], queue)

    @routes.post("/v1/operations/dead_letters/requeue", "Try dead letters again", BulkOutcomes[HandledLetter])
    def requeue_dead_letters(
        call: Call, chosen: Annotated[RequeuedLetters, Body()]
    ) -> BulkOutcomes[HandledLetter]:
        """Requeue dead letters as if they had never been tried; instances that their failure paused go on."""
        return _show(call, chosen.ids, call.use.operations.requeue(call.caller, chosen.ids, chosen.reason))

    @routes.post("/v1/operations/dead_letters/discard", "Discard dead letters", BulkOutcomes[HandledLetter])
    def discard_dead_letters(
        call: Call, chosen: Annotated[DiscardedLetters, Body()]
    ) -> BulkOutcomes[HandledLetter]:
        """Discard dead letters with a reason: nobody sends them again, and retention may prune them."""
        discard = call.use.operations.discard
        outcomes = discard(call.caller, chosen.ids, chosen.reason, dry_run=chosen.dry_run)
        return _show(call, chosen.ids, outcomes, is_dry_run=chosen.dry_run)


def _show(
    call: Call,
    ids: Sequence[UUID],
    outcomes: Sequence[HandledLetter | Rejected],
    *,
    is_dry_run: bool = False,
) -> BulkOutcomes[HandledLetter]:
    return show_outcomes(
        show_outcome(call, index, identifier, outcome, is_dry_run=is_dry_run)
        for index, (identifier, outcome) in enumerate(zip(ids, outcomes, strict=True))
    )
