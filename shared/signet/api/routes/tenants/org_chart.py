"""Routes of the org chart: reporting lines in the caller's tenant."""

from typing import Annotated
from urllib.parse import quote

from aws_lambda_powertools.event_handler.openapi.params import Body

from signet.api.http.call import Call, HttpAnswer, show_put, show_record
from signet.api.http.cursors import Page, make_page, parse_position
from signet.api.http.parameters import PAGE, Cursor, IfMatchOfKnown, Limit, PathUserId, parse_version
from signet.api.http.routing import Routes
from signet.core.tenants.user_id import UserId
from signet.core.validation.strict_model import Strict
from signet.engine.tenants.org_chart import ReportingLine


class NewLine(Strict):
    manager_id: UserId


def add_org_chart_routes(routes: Routes) -> None:
    @routes.get("/v1/org_chart", "The reporting lines", Page[ReportingLine])
    def list_reporting_lines(call: Call, limit: Limit = PAGE, cursor: Cursor = None) -> Page[ReportingLine]:
        """List reporting lines; a person without a manager has none."""
        after = parse_position(cursor, None, str) or ""
        records = call.use.org_chart.list(call.principal, after, limit + 1)
        return make_page(records, limit, lambda line: [line.user_id])

    @routes.get("/v1/org_chart/<user_id>", "A person's manager", ReportingLine, is_versioned=True)
    def get_manager(call: Call, user_id: PathUserId) -> HttpAnswer:
        return show_record(call.use.org_chart.read(call.principal, user_id))

    @routes.put(
        "/v1/org_chart/<user_id>",
        "Set a person's manager",
        ReportingLine,
        also={201: ReportingLine},
        is_versioned=True,
    )
    def put_manager(
        call: Call,
        user_id: PathUserId,
        line: Annotated[NewLine, Body()],
        if_match: IfMatchOfKnown = None,
    ) -> HttpAnswer:
        """Set a manager; nobody reports to themselves, however many steps up.

        The first one needs no If-Match.
        """
        set_manager = call.use.org_chart.set_manager
        saved = set_manager(call.caller, user_id, line.manager_id, parse_version(if_match))
        return show_put(saved.line, f"/v1/org_chart/{quote(user_id, safe='')}", is_new=saved.is_new)

    @routes.delete("/v1/org_chart/<user_id>", "Remove a person's manager")
    def delete_manager(call: Call, user_id: PathUserId) -> HttpAnswer:
        call.use.org_chart.remove_manager(call.caller, user_id)
        return HttpAnswer(status=204)
