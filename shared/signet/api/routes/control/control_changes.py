"""Routes of proposed changes: of two people, one proposes and the other confirms."""

from typing import Annotated
from uuid import UUID

from aws_lambda_powertools.event_handler.openapi.params import Body, Query
from pydantic import Field

from signet.api.http.call import Call
from signet.api.http.cursors import Page, count_fitting, make_page, parse_position
from signet.api.http.parameters import PAGE, Cursor, Limit, PathId, Reason
from signet.api.http.routing import Routes
from signet.core.control.change import ChangeStatus
from signet.core.validation.strict_model import Strict
from signet.engine.control.proposals import ControlChange

CHANGE = "/v1/control_changes/<change_id>"


class Confirmation(Strict):
    hash: Annotated[
        str, Field(pattern="^[0-9a-f]{64}$", description="The hash of the change, as it was read.")
    ]


class Rejection(Strict):
    reason: Reason = None


def add_control_change_routes(routes: Routes) -> None:
    @routes.get("/v1/control_changes", "Proposed changes of the control", Page[ControlChange])
    def list_control_changes(
        call: Call,
        status: Annotated[ChangeStatus | None, Query()] = None,
        limit: Limit = PAGE,
        cursor: Cursor = None,
    ) -> Page[ControlChange]:
        """List the changes of the kinds that the caller may read or make, the newest first."""
        filters = ["control_changes", status]
        before = parse_position(cursor, filters, UUID)
        records = call.use.control_changes.list(call.principal, status, before=before, limit=limit + 1)
        fitting = count_fitting(records, limit)
        return make_page(records, fitting, lambda record: [record.id], filters)

    @routes.get(CHANGE, "One change, and how it differs from what is in force", ControlChange)
    def get_control_change(call: Call, change_id: PathId) -> ControlChange:
        return call.use.control_changes.read(call.principal, change_id)

    @routes.post(
        f"{CHANGE}/confirm", "Confirm a change, which then takes effect", ControlChange, also_answers=(412,)
    )
    def confirm_control_change(
        call: Call, change_id: PathId, confirmation: Annotated[Confirmation, Body()]
    ) -> ControlChange:
        """Confirm exactly what was read, as another person than those who proposed it."""
        return call.use.control_changes.confirm(call.caller, change_id, confirmation.hash)

    @routes.post(f"{CHANGE}/reject", "Reject a change", ControlChange)
    def reject_control_change(
        call: Call, change_id: PathId, rejection: Annotated[Rejection, Body()]
    ) -> ControlChange:
        return call.use.control_changes.reject(call.caller, change_id, rejection.reason)

    @routes.post(f"{CHANGE}/withdraw", "Withdraw a change that one has proposed", ControlChange)
    def withdraw_control_change(call: Call, change_id: PathId) -> ControlChange:
        return call.use.control_changes.withdraw(call.caller, change_id)
