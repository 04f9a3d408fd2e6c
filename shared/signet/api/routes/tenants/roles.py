"""Routes of the tenant's roles."""

from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Body
from pydantic import Field

from signet.api.http.call import Call, HttpAnswer, show_put, show_record
from signet.api.http.cursors import Page, make_page, parse_position
from signet.api.http.parameters import PAGE, Cursor, IfMatchOfKnown, Limit, PathName, parse_version
from signet.api.http.proposed_changes import show_proposed
from signet.api.http.routing import Routes
from signet.core.tenants.tenant_file import MAX_PERMISSIONS
from signet.core.validation.strict_model import Permission, Strict
from signet.engine.control.proposals import ControlChange
from signet.engine.tenants.roles import ShownRole


class RoleContent(Strict):
    permissions: Annotated[
        list[Permission],
        Field(
            max_length=MAX_PERMISSIONS,
            description="Permissions such as invoice:approve or invoice:*.",
        ),
    ]


def add_role_routes(routes: Routes) -> None:
    @routes.get("/v1/roles", "The roles", Page[ShownRole])
    def list_roles(call: Call, limit: Limit = PAGE, cursor: Cursor = None) -> Page[ShownRole]:
        """List the roles by name; the deciding ones come with the published policies that name them."""
        after = parse_position(cursor, None, str) or ""
        records = call.use.roles.list(call.principal, after, limit + 1)
        return make_page(records, limit, lambda role: [role.role])

    @routes.get("/v1/roles/<role>", "One role", ShownRole, is_versioned=True)
    def get_role(call: Call, role: PathName) -> HttpAnswer:
        return show_record(call.use.roles.read(call.principal, role))

    @routes.put(
        "/v1/roles/<role>",
        "Make or change a role",
        ShownRole,
        also={201: ShownRole, 202: ControlChange},
        is_versioned=True,
        large_bodies_want="role:edit",
    )
    def put_role(
        call: Call,
        role: PathName,
        content: Annotated[RoleContent, Body()],
        if_match: IfMatchOfKnown = None,
    ) -> HttpAnswer:
        """Save a role, which is in force at once for all who have it; a new one needs no If-Match.

        Nobody adds what they may not do, or takes anything from a role that allows more. Nobody changes a
        role that they hold. Where the tenant wants two people, 202 answers what a service account would gain:
        another person confirms it.
        """
        saved = call.use.roles.save(call.caller, role, tuple(content.permissions), parse_version(if_match))
        if isinstance(saved, ControlChange):
            return show_proposed(saved)
        return show_put(saved.role, f"/v1/roles/{role}", is_new=saved.is_new)

    @routes.delete("/v1/roles/<role>", "Delete a role that no member and no key has")
    def delete_role(call: Call, role: PathName) -> HttpAnswer:
        call.use.roles.delete(call.caller, role)
        return HttpAnswer(status=204)
