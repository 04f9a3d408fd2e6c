"""Who stands in for whom."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Body
from pydantic import AwareDatetime, Field

from signet.api.calls import Answer, Call
from signet.api.parameters import Named, PathId, Reason
from signet.api.routing import Routes
from signet.core.approval_rights import Delegation
from signet.core.strict import Strict
from signet.core.tenancy import UserId


class NewDelegation(Strict):
    user_id: Annotated[UserId | None, Field(description="The caller, where it is not said.")] = None
    delegate_id: UserId
    entity_type: Annotated[Named | None, Field(description="All types, where none is named.")] = None
    from_time: Annotated[AwareDatetime, Field(strict=False)]
    to_time: Annotated[AwareDatetime, Field(strict=False)]
    reason: Reason = None


@dataclass(frozen=True, slots=True)
class Delegations:
    items: Sequence[Delegation]


def add_delegation_routes(routes: Routes) -> None:
    @routes.get("/v1/delegations", "What the caller has given and taken", Delegations)
    def list_delegations(call: Call) -> Delegations:
        return Delegations(call.use.delegations.list_of(call.author))

    @routes.post("/v1/delegations", "Have somebody decide for the caller", Delegation, status=201)
    def delegate(call: Call, new: Annotated[NewDelegation, Body()]) -> Answer:
        """For another person only with the permission approval:delegate."""
        made = call.use.delegations.delegate(
            call.author,
            new.user_id or call.principal.subject,
            new.delegate_id,
            from_time=new.from_time,
            to_time=new.to_time,
            entity_type=new.entity_type,
            reason=new.reason,
        )
        return Answer(made, 201)

    @routes.delete("/v1/delegations/<delegation_id>", "Take a delegation back, at once")
    def revoke_delegation(call: Call, delegation_id: PathId) -> Answer:
        call.use.delegations.revoke(call.author, delegation_id)
        return Answer(status=204)
