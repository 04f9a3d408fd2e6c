"""Routes of delegations."""

from collections.abc import Callable
from typing import Annotated
from uuid import UUID

from aws_lambda_powertools.event_handler.openapi.params import Body, Query
from pydantic import AwareDatetime, Field

from signet.api.http.call import Call, HttpAnswer
from signet.api.http.cursors import Page, make_page, parse_position
from signet.api.http.parameters import PAGE, Cursor, Limit, Named, PathId, Reason
from signet.api.http.routing import Routes
from signet.core.approvals.eligibility import Delegation
from signet.core.tenants.user_id import UserId
from signet.core.validation.strict_model import Strict
from signet.engine.approvals.delegations import DelegationRecord

OfUser = Annotated[UserId | None, Query(description="By default the caller.")]


class NewDelegation(Strict):
    user_id: Annotated[UserId | None, Field(description="By default the caller.")] = None
    delegate_id: UserId
    entity_type: Annotated[Named | None, Field(description="By default all types.")] = None
    from_time: Annotated[
        AwareDatetime | None, Field(strict=False, description="By default now; not in the past.")
    ] = None
    to_time: Annotated[AwareDatetime, Field(strict=False)]
    reason: Reason = None


def add_delegation_routes(routes: Routes) -> None:
    @routes.get("/v1/delegations/given", "The delegations that a person has given", Page[DelegationRecord])
    def list_given_delegations(
        call: Call, user_id: OfUser = None, limit: Limit = PAGE, cursor: Cursor = None
    ) -> Page[DelegationRecord]:
        """List what the caller gave, or with approval:delegate another person; the newest first."""
        return _list(call.use.delegations.list_given, call, ("given", user_id), limit, cursor)

    @routes.get("/v1/delegations/taken", "The delegations that a person has taken", Page[DelegationRecord])
    def list_taken_delegations(
        call: Call, user_id: OfUser = None, limit: Limit = PAGE, cursor: Cursor = None
    ) -> Page[DelegationRecord]:
        """List what the caller received, or with approval:delegate another person; the newest first."""
        return _list(call.use.delegations.list_taken, call, ("taken", user_id), limit, cursor)

    @routes.post("/v1/delegations", "Let another person decide for the caller", Delegation, status=201)
    def delegate(call: Call, new: Annotated[NewDelegation, Body()]) -> HttpAnswer:
        """Make a delegation from now on. With approval:delegate also one between two other people.

        Both are told. A key makes none.
        """
        record = call.use.delegations.delegate(
            call.caller,
            new.user_id or call.principal.subject,
            new.delegate_id,
            from_time=new.from_time,
            to_time=new.to_time,
            entity_type=new.entity_type,
            reason=new.reason,
        )
        return HttpAnswer(record, 201, location=f"/v1/delegations/{record.id}")

    @routes.delete("/v1/delegations/<delegation_id>", "Take a delegation back, at once")
    def revoke_delegation(call: Call, delegation_id: PathId) -> HttpAnswer:
        call.use.delegations.revoke(call.caller, delegation_id)
        return HttpAnswer(status=204)


def _list(
    find: Callable[..., list[DelegationRecord]],
    call: Call,
    filters: tuple[str, str | None],
    limit: int,
    cursor: str | None,
) -> Page[DelegationRecord]:
    before = parse_position(cursor, filters, UUID)
    records = find(call.caller, filters[1], limit=limit + 1, before=before)
    return make_page(records, limit, lambda record: (record.id,), filters)
