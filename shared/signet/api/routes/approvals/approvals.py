"""Routes of approvals: the inbox, one request, and the decision."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from aws_lambda_powertools.event_handler.openapi.params import Body
from pydantic import Field

from signet.api.http.bulk_outcomes import Refusal, describe_refusal
from signet.api.http.call import Call
from signet.api.http.cursors import Page, make_page, parse_position
from signet.api.http.parameters import PAGE, Cursor, Id, Limit, PathId, Reason
from signet.api.http.routing import Routes
from signet.core.approvals.eligibility import Seat
from signet.core.approvals.policy import Policy
from signet.core.compiler.node_configurations import Vote
from signet.core.control.authorship import ControlAuthors
from signet.core.validation.strict_model import Strict
from signet.engine.approvals.ballots import Ballot, VoteResult
from signet.engine.approvals.comparison import LastApproved, ShownContent, compare_with_last_approved
from signet.engine.approvals.inbox import MAX_DECISIONS, InboxItem
from signet.engine.approvals.request_view import (
    AnswerByHand,
    ApprovalDecisionRecord,
    BreakGlassProposal,
    EarlierRejection,
    NamedPerson,
    PinnedReference,
    ResponsibleParts,
    VoterNeed,
)
from signet.engine.approvals.vote_reader import VoteStanding


class NewDecision(Strict):
    vote: Vote
    reason: Reason = None


class NewRequestDecision(NewDecision):
    request_id: Annotated[Id, Field(strict=False)]


class NewDecisions(Strict):
    decisions: Annotated[
        tuple[NewRequestDecision, ...], Field(strict=False, min_length=1, max_length=MAX_DECISIONS)
    ]


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """A request for approval of one version of a document, pinned with its definition and policy."""

    id: UUID
    status: Literal["open", "approved", "rejected", "expired", "voided"]
    outcome: str | None
    # Whether a gate has used the approval.
    applied: bool | None
    stage: int
    entity_type: str
    document_id: UUID
    document_version: int
    current_version: int
    instance_id: UUID
    node_id: str
    requester_id: str
    # The key that requested it, with its owner; null where a person did.
    requester_label: str | None
    requester_owner: NamedPerson | None
    # The persons who stand behind the document and the request.
    responsible: ResponsibleParts
    chain_name: str | None
    chain_version: int | None
    snapshot_hash: str
    definition_hash: str
    policy_hash: str
    escalate_at: datetime | None
    expire_at: datetime | None
    created_at: datetime
    ended_at: datetime | None
    policy: Policy
    # The document as it was pinned, with personal values as they are now.
    document: Mapping[str, Any]
    # The fields of other documents that the definition reads: steps behind the gate use these values.
    pins: Sequence[PinnedReference]
    # The fields of the document whose personal values were erased since people were asked: nobody can vote.
    erased_fields: Sequence[str]
    # The votes that rejected the document before, or one that it amends; the newest first.
    rejected_before: Sequence[EarlierRejection]
    # The waits that operators ended by hand, with what they entered, the newest first.
    answered_by_hand: Sequence[AnswerByHand]
    # The permissions that a voter needs beside a seat.
    voters_need: Sequence[VoterNeed]
    # Whether the caller may decide now.
    standing: VoteStanding
    seats: Sequence[Seat]
    decisions: Sequence[ApprovalDecisionRecord]
    # The seats that two operators have added, each with both names and the reason.
    break_glass: Sequence[BreakGlassProposal]
    # The authors of the definition, the contract and the chain that it is pinned to.
    control: ControlAuthors
    # The people who changed a part of these alone, and have a seat here themselves.
    seated_authors: Sequence[str]
    last_approved: LastApproved | None


@dataclass(frozen=True, slots=True)
class DecisionOutcome:
    """The outcome of one decision among many: `decided`, or the reason against it in `refusal`."""

    request_id: UUID
    status: Literal["done", "rejected"]
    decided: VoteResult | None
    refusal: Refusal | None


@dataclass(frozen=True, slots=True)
class DecisionOutcomes:
    outcomes: Sequence[DecisionOutcome]


def add_approval_routes(routes: Routes) -> None:
    @routes.get("/v1/approvals", "Approvals that wait for the caller's decision", Page[InboxItem])
    def list_inbox(call: Call, limit: Limit = PAGE, cursor: Cursor = None) -> Page[InboxItem]:
        """List what waits for the caller, their roles, and those who delegated to them; the oldest first."""
        after = parse_position(cursor, "inbox", UUID)
        records = call.use.approvals.inbox(call.caller, limit=limit + 1, after=after)
        return make_page(records, limit, lambda item: (item.request_id,), "inbox")

    @routes.get("/v1/approvals/<approval_id>", "One request for approval", ApprovalRequest)
    def get_approval(call: Call, approval_id: PathId) -> ApprovalRequest:
        """Show a request with its document as it was pinned, and what has changed since the last approval."""
        request = call.use.approvals.read_request(call.caller, approval_id)
        record = request.record
        pinned = {pin.field: pin.values for pin in request.pins}
        last = compare_with_last_approved(
            call.use.database,
            call.principal.tenant_id,
            record.document_id,
            record.id,
            ShownContent(request.document["data"], pinned),
        )
        shown = {
            name: getattr(holder, name)
            for holder in (record, request)
            for name in ApprovalRequest.__slots__
            if hasattr(holder, name)
        }
        return ApprovalRequest(**{**shown, "last_approved": last})

    @routes.post("/v1/approvals/<approval_id>/decision", "Decide", VoteResult)
    def decide_approval(call: Call, approval_id: PathId, new: Annotated[NewDecision, Body()]) -> VoteResult:
        return call.use.approvals.decide(call.caller, approval_id, new.vote, new.reason)

    @routes.post("/v1/approvals/decisions", "Decide many, each on its own", DecisionOutcomes)
    def decide_approvals(call: Call, new: Annotated[NewDecisions, Body()]) -> DecisionOutcomes:
        ballots = [Ballot(decision.request_id, decision.vote, decision.reason) for decision in new.decisions]
        outcomes = call.use.approvals.decide_many(call.caller, ballots)
        return DecisionOutcomes(
            [
                DecisionOutcome(ballot.request_id, "done", outcome, None)
                if isinstance(outcome, VoteResult)
                else DecisionOutcome(ballot.request_id, "rejected", None, describe_refusal(outcome))
                for ballot, outcome in zip(ballots, outcomes, strict=True)
            ]
        )
