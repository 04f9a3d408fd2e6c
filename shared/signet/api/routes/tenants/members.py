"""Routes of the tenant's members, and of the caller."""

from typing import Annotated, Literal
from urllib.parse import quote

from aws_lambda_powertools.event_handler.openapi.params import Body
from pydantic import Field

from signet.api.http.call import Call, HttpAnswer, show_put, show_record
from signet.api.http.cursors import Page, make_page, parse_position
from signet.api.http.parameters import (
    PAGE,
    Cursor,
    IfMatchOfKnown,
    Limit,
    Named,
    PathUserId,
    Reason,
    parse_version,
)
from signet.api.http.routing import Routes
from signet.core.tenants.tenant_file import MAX_ROLES, DisplayName, Email, Member, Phone
from signet.core.tenants.user_id import UserId
from signet.core.validation.strict_model import Strict
from signet.engine.tenants.dependents import Dependents, Succession
from signet.engine.tenants.members import Me, MemberRecord, MemberStatus


class HandOver(Strict):
    """The active member who gets the seats and the reporting lines; keys and delegations end."""

    hand_over_to: UserId


class MemberContent(Strict):
    display_name: DisplayName
    email: Email | None = None
    phone: Phone | None = None
    roles: list[Named] = Field(default=[], max_length=MAX_ROLES)
    status: Annotated[
        MemberStatus, Field(description="A disabled member is let in nowhere and decides nothing.")
    ] = "active"
    dependents: Annotated[
        Literal["end"] | HandOver | None,
        Field(description="What becomes of the dependents of a member who is disabled."),
    ] = None
    reason: Reason = None


def add_member_routes(routes: Routes) -> None:
    @routes.get("/v1/me", "The caller, with their roles and permissions", Me)
    def get_me(call: Call) -> Me:
        """Show the caller: roles of the token or key, and the permissions that these have in the tenant."""
        return call.use.members.read_me(call.principal)

    @routes.get("/v1/members", "The members", Page[MemberRecord])
    def list_members(call: Call, limit: Limit = PAGE, cursor: Cursor = None) -> Page[MemberRecord]:
        """List members by their ids, with the roles that approvals use."""
        after = parse_position(cursor, None, str) or ""
        records = call.use.members.list(call.principal, after, limit + 1)
        return make_page(records, limit, lambda member: [member.user_id])

    @routes.get("/v1/members/<user_id>", "One member", MemberRecord, is_versioned=True)
    def get_member(call: Call, user_id: PathUserId) -> HttpAnswer:
        return show_record(call.use.members.read(call.principal, user_id))

    @routes.get("/v1/members/<user_id>/dependents", "What depends on a member", Dependents)
    def get_dependents(call: Call, user_id: PathUserId) -> Dependents:
        """Show what dies with a member who is disabled, or can be handed over.

        These are live keys, open delegations, open seats by name, and the people who report to them. Open
        requests of theirs stay, and each says what brings it on.
        """
        return call.use.members.list_dependents(call.principal, user_id)

    @routes.put(
        "/v1/members/<user_id>",
        "Make or change a member",
        MemberRecord,
        also={201: MemberRecord},
        is_versioned=True,
    )
    def put_member(
        call: Call,
        user_id: PathUserId,
        content: Annotated[MemberContent, Body()],
        if_match: IfMatchOfKnown = None,
    ) -> HttpAnswer:
        """Make or change a member, exactly as given; a new one needs no If-Match.

        The manager is part of the org chart.

        Nobody gives a role that allows more than they may themselves, or changes their own roles. One member
        who may edit members must stay. A member with dependents is disabled only with `dependents`.
        """
        member = Member(
            user_id=user_id,
            display_name=content.display_name,
            email=content.email,
            phone=content.phone,
            roles=tuple(dict.fromkeys(content.roles)),
        )
        succession = _make_succession(content.dependents)
        version = parse_version(if_match)
        save = call.use.members.save
        saved = save(call.caller, member, content.status, version, content.reason, succession)
        return show_put(saved.member, f"/v1/members/{quote(user_id, safe='')}", is_new=saved.is_new)


def _make_succession(dependents: Literal["end"] | HandOver | None) -> Succession | None:
    match dependents:
        case None:
            return None
        case HandOver():
            return Succession(dependents.hand_over_to)
        case _:
            return Succession()
