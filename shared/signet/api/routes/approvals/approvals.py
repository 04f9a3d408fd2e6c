"""Routes of approvals: the inbox, one request, and the decision."""

from typing import Annotated
from uuid import UUID

from aws_lambda_powertools.event_handler.openapi.params import Body, Query
from pydantic import AfterValidator, Field

from signet.api.http.bodies import ANYBODY
from signet.api.http.bulk_outcomes import BulkOutcomes, show_outcome, show_outcomes
from signet.api.http.call import Call
from signet.api.http.cursors import Page, make_page, parse_position
from signet.api.http.parameters import PAGE, Cursor, Id, Limit, Moment, PathId, Reason, check_text
from signet.api.http.routing import Routes
from signet.core.compiler.node_configurations import Vote
from signet.core.validation.strict_model import Strict
from signet.core.validation.text import NAME_PATTERN
from signet.engine.approvals.ballots import Ballot, VoteResult
from signet.engine.approvals.inbox import MAX_DECISIONS, DecidedApproval, InboxFilter, InboxItem
from signet.engine.approvals.request_view import ApprovalRequest

MAX_FILTER_CHARACTERS = 300
_Text = Annotated[str, Field(min_length=1, max_length=MAX_FILTER_CHARACTERS), AfterValidator(check_text)]
OfType = Annotated[str | None, Query(pattern=NAME_PATTERN, description="Only about documents of this type.")]
AtNode = Annotated[_Text | None, Query(description="Only what this node of a workflow asks.")]
OfRequester = Annotated[_Text | None, Query(description="Only what this person or key has requested.")]
Since = Annotated[Moment | None, Query(description="Only from this moment on, with its time zone.")]


class NewDecision(Strict):
    vote: Vote
    reason: Reason = None


class NewRequestDecision(NewDecision):
    request_id: Annotated[Id, Field(strict=False)]


class NewDecisions(Strict):
    decisions: Annotated[list[NewRequestDecision], Field(min_length=1, max_length=MAX_DECISIONS)]


def add_approval_routes(routes: Routes) -> None:
    @routes.get("/v1/approvals", "Approvals that wait for the caller's decision", Page[InboxItem])
    def list_inbox(
        call: Call,
        entity_type: OfType = None,
        node_id: AtNode = None,
        requester_id: OfRequester = None,
        since: Since = None,
        limit: Limit = PAGE,
        cursor: Cursor = None,
    ) -> Page[InboxItem]:
        """List what waits for the caller, their roles, and those who delegated to them; the oldest first."""
        wanted = InboxFilter(entity_type, node_id, requester_id, since)
        filters = ["inbox", wanted]
        after = parse_position(cursor, filters, UUID)
        records = call.use.approvals.inbox(call.caller, limit=limit + 1, after=after, wanted=wanted)
        return make_page(records, limit, lambda item: (item.request_id,), filters)

    @routes.get("/v1/approvals/decided", "What the caller has decided", Page[DecidedApproval])
    def list_decided(
        call: Call,
        entity_type: OfType = None,
        node_id: AtNode = None,
        requester_id: OfRequester = None,
        since: Since = None,
        limit: Limit = PAGE,
        cursor: Cursor = None,
    ) -> Page[DecidedApproval]:
        """List the caller's own votes, the newest first; `since` is when they were given."""
        wanted = InboxFilter(entity_type, node_id, requester_id, since)
        filters = ["decided", wanted]
        before = parse_position(cursor, filters, UUID)
        records = call.use.approvals.list_decided(call.caller, limit=limit + 1, before=before, wanted=wanted)
        return make_page(records, limit, lambda item: (item.id,), filters)

    @routes.get("/v1/approvals/<approval_id>", "One request for approval", ApprovalRequest)
    def get_approval(call: Call, approval_id: PathId) -> ApprovalRequest:
        """Show a request with its document as it was pinned, and what has changed since the last approval."""
        return call.use.approvals.read_request(call.caller, approval_id)

    @routes.post("/v1/approvals/<approval_id>/decision", "Decide", VoteResult)
    def decide_approval(call: Call, approval_id: PathId, new: Annotated[NewDecision, Body()]) -> VoteResult:
        return call.use.approvals.decide(call.caller, approval_id, new.vote, new.reason)

    @routes.post(
        "/v1/approvals/decisions",
        "Decide many, each on its own",
        BulkOutcomes[VoteResult],
        large_bodies_want=ANYBODY,
    )
    def decide_approvals(call: Call, new: Annotated[NewDecisions, Body()]) -> BulkOutcomes[VoteResult]:
        ballots = [Ballot(decision.request_id, decision.vote, decision.reason) for decision in new.decisions]
        outcomes = call.use.approvals.decide_many(call.caller, ballots)
        return show_outcomes(
            show_outcome(call, index, ballot.request_id, outcome, prefix=f"/decisions/{index}")
            for index, (ballot, outcome) in enumerate(zip(ballots, outcomes, strict=True))
        )
