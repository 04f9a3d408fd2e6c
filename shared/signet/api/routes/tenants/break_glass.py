"""Routes for operators of the deployment: break-glass, by two of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Body
from pydantic import Field

from signet.api.http.call import Call, HttpAnswer
from signet.api.http.parameters import Id, PathId
from signet.api.http.routing import Routes
from signet.core.tenants.user_id import UserId
from signet.core.validation.strict_model import Strict
from signet.core.validation.text import MAX_REASON_CHARACTERS
from signet.engine.tenants.break_glass import BreakGlassProposal


class NewProposal(Strict):
    request_id: Annotated[Id, Field(strict=False, description="An open request for approval.")]
    user_id: Annotated[UserId, Field(description="The active member who gets the seat.")]
    reason: Annotated[str, Field(min_length=1, max_length=MAX_REASON_CHARACTERS)]


@dataclass(frozen=True, slots=True)
class BreakGlassProposals:
    items: Sequence[BreakGlassProposal]


def add_break_glass_routes(routes: Routes) -> None:
    @routes.get(
        "/v1/tenants/<tenant_id>/break_glass",
        "The proposals that wait for a second operator",
        BreakGlassProposals,
        is_for_operators=True,
    )
    def list_break_glass(call: Call, tenant_id: PathId) -> BreakGlassProposals:
        return BreakGlassProposals(call.use.break_glass.list_waiting(call.caller, tenant_id))

    @routes.post(
        "/v1/tenants/<tenant_id>/break_glass",
        "Propose to seat a member in an open approval",
        BreakGlassProposal,
        status=201,
        is_for_operators=True,
    )
    def propose_break_glass(call: Call, tenant_id: PathId, new: Annotated[NewProposal, Body()]) -> HttpAnswer:
        """Propose a seat in the present stage of a request; another operator consents within 24 hours."""
        proposal = call.use.break_glass.propose(
            call.caller, tenant_id, new.request_id, new.user_id, new.reason
        )
        return HttpAnswer(proposal, 201, location=f"/v1/tenants/{tenant_id}/break_glass")

    @routes.post(
        "/v1/tenants/<tenant_id>/break_glass/<proposal_id>/consent",
        "Consent to the proposal of another operator",
        BreakGlassProposal,
        is_for_operators=True,
    )
    def consent_to_break_glass(call: Call, tenant_id: PathId, proposal_id: PathId) -> BreakGlassProposal:
        """Consent; the member has the seat at once, and all who decide about the request are told."""
        return call.use.break_glass.consent(call.caller, tenant_id, proposal_id)
