"""Routes of service accounts, which steps of definitions run as."""

from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Body
from pydantic import Field

from signet.api.http.call import Call, HttpAnswer, show_record
from signet.api.http.cursors import Page, make_page, parse_position
from signet.api.http.parameters import (
    PAGE,
    Cursor,
    IfMatchOfKnown,
    Limit,
    Named,
    PathName,
    Reason,
    parse_version,
)
from signet.api.http.proposed_changes import show_proposed
from signet.api.http.routing import Routes
from signet.core.tenants.tenant_file import MAX_ROLES, DisplayName, ServiceAccount
from signet.core.tenants.user_id import UserId
from signet.core.validation.strict_model import Strict
from signet.engine.control.proposals import ControlChange
from signet.engine.tenants.service_accounts import AccountStatus, ServiceAccountRecord

ACCOUNT = "/v1/service_accounts/<account_id>"


class ServiceAccountContent(Strict):
    label: DisplayName
    roles: Annotated[list[Named], Field(min_length=1, max_length=MAX_ROLES)]
    owner_id: Annotated[UserId, Field(description="An active member. Without them, its steps pause.")]
    status: Annotated[
        AccountStatus, Field(description="The steps of a disabled account pause until it is active again.")
    ] = "active"
    reason: Reason = None


def add_service_account_routes(routes: Routes) -> None:
    @routes.get("/v1/service_accounts", "The service accounts", Page[ServiceAccountRecord])
    def list_service_accounts(
        call: Call, limit: Limit = PAGE, cursor: Cursor = None
    ) -> Page[ServiceAccountRecord]:
        """List what steps of definitions may run as, by id, also disabled accounts."""
        after = parse_position(cursor, None, str) or ""
        records = call.use.service_accounts.list(call.principal, after, limit + 1)
        return make_page(records, limit, lambda account: [account.id])

    @routes.get(ACCOUNT, "One service account", ServiceAccountRecord, is_versioned=True)
    def get_service_account(call: Call, account_id: PathName) -> HttpAnswer:
        return show_record(call.use.service_accounts.read(call.principal, account_id))

    @routes.put(
        ACCOUNT,
        "Make, change or disable a service account",
        ServiceAccountRecord,
        also={201: ServiceAccountRecord, 202: ControlChange},
        is_versioned=True,
    )
    def put_service_account(
        call: Call,
        account_id: PathName,
        content: Annotated[ServiceAccountContent, Body()],
        if_match: IfMatchOfKnown = None,
    ) -> HttpAnswer:
        """Make or change an account, exactly as given; a new one needs no If-Match.

        Nobody gives it a role that allows more than they may themselves. It has no token; definitions name
        it.
        """
        account = ServiceAccount(
            id=account_id,
            label=content.label,
            roles=tuple(dict.fromkeys(content.roles)),
            owner=content.owner_id,
        )
        saved = call.use.service_accounts.save(
            call.caller, account, content.status, parse_version(if_match), content.reason
        )
        if isinstance(saved, ControlChange):
            return show_proposed(saved)
        location = f"/v1/service_accounts/{account_id}" if saved.is_new else None
        return show_record(saved.account, 201 if saved.is_new else 200, location)
