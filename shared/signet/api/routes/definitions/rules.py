"""Routes of the tenant's rules, and of what they were run with."""

from collections.abc import Mapping
from typing import Annotated, Any
from uuid import UUID

from aws_lambda_powertools.event_handler.openapi.params import Body, Query

from signet.api.http.call import Call, HttpAnswer, show_record
from signet.api.http.cursors import Page, count_fitting, make_page, parse_cursor, parse_position
from signet.api.http.parameters import (
    PAGE,
    Cursor,
    IfMatch,
    IfMatchOfKnown,
    Limit,
    PathId,
    PathName,
    QueryReason,
    parse_version,
    require_version,
)
from signet.api.http.proposed_changes import show_proposed
from signet.api.http.routing import Routes
from signet.core.documents.rules import RuleBody
from signet.core.validation.text import NAME_PATTERN
from signet.engine.control.proposals import ControlChange
from signet.engine.definitions.rule_executions import RuleExecution
from signet.engine.definitions.rules import RuleRecord

RULE = "/v1/rules/<entity_type>/<rule>"


def add_rule_routes(routes: Routes) -> None:
    @routes.get("/v1/rules", "The rules that are in force", Page[RuleRecord])
    def list_rules(
        call: Call,
        entity_type: Annotated[str | None, Query(pattern=NAME_PATTERN)] = None,
        limit: Limit = PAGE,
        cursor: Cursor = None,
    ) -> Page[RuleRecord]:
        filters = ("rules", entity_type)
        place = parse_cursor(cursor, filters, str, str)
        after = (place[0], place[1]) if place else ("", "")
        records = call.use.rules.list(call.principal, entity_type, after, limit + 1)
        fitting = count_fitting(records, limit)
        return make_page(records, fitting, lambda record: (record.entity_type, record.name), filters)

    @routes.get(RULE, "One rule", RuleRecord, is_versioned=True)
    def get_rule(call: Call, entity_type: PathName, rule: PathName) -> HttpAnswer:
        return show_record(call.use.rules.read(call.principal, entity_type, rule))

    @routes.put(
        RULE,
        "Save a rule",
        RuleRecord,
        also={201: RuleRecord, 202: ControlChange},
        is_versioned=True,
        body_model=RuleBody,
        large_bodies_want="rule:edit",
    )
    def save_rule(
        call: Call,
        entity_type: PathName,
        rule: PathName,
        body: Annotated[Mapping[str, Any], Body()],
        reason: QueryReason = None,
        if_match: IfMatchOfKnown = None,
    ) -> HttpAnswer:
        """Save a rule, which is in force everywhere within five seconds; a new one needs no If-Match.

        It is checked against the newest contract of its type.
        """
        saved = call.use.rules.save(call.caller, entity_type, rule, body, parse_version(if_match), reason)
        if isinstance(saved, ControlChange):
            return show_proposed(saved)
        status = 201 if saved.is_new else 200
        location = f"/v1/rules/{entity_type}/{rule}" if saved.is_new else None
        return show_record(saved.rule, status, location)

    @routes.delete(RULE, "Delete a rule", also={202: ControlChange})
    def delete_rule(
        call: Call,
        entity_type: PathName,
        rule: PathName,
        reason: QueryReason = None,
        if_match: IfMatch = None,
    ) -> HttpAnswer:
        """Delete a rule: it is out of force everywhere within five seconds, and its findings stay."""
        version = require_version(if_match)
        proposed = call.use.rules.disable(call.caller, entity_type, rule, version, reason)
        return HttpAnswer(status=204) if proposed is None else show_proposed(proposed)


def add_rule_execution_routes(routes: Routes) -> None:
    @routes.get("/v1/rule_executions", "What rules have rejected", Page[RuleExecution])
    def list_rule_rejections(
        call: Call,
        entity_type: Annotated[str | None, Query(pattern=NAME_PATTERN)] = None,
        rule: Annotated[str | None, Query(pattern=NAME_PATTERN)] = None,
        limit: Limit = PAGE,
        cursor: Cursor = None,
    ) -> Page[RuleExecution]:
        """List rejections, the newest first: what was asked, who asked and from where, what was read."""
        filters = ("rule_rejections", entity_type, rule)
        before = parse_position(cursor, filters, UUID)
        use = call.use.rule_executions
        records = use.list_rejections(call.principal, entity_type, rule, before, limit + 1)
        return make_page(records, count_fitting(records, limit), lambda record: (record.id,), filters)

    @routes.get(
        "/v1/documents/<document_id>/rule_executions",
        "What rules were run with on a document",
        Page[RuleExecution],
    )
    def list_rule_executions(
        call: Call, document_id: PathId, limit: Limit = PAGE, cursor: Cursor = None
    ) -> Page[RuleExecution]:
        """List the evaluations of rules on a document, the newest first; rejected ones are among them."""
        filters = ("rule_executions", str(document_id))
        before = parse_position(cursor, filters, UUID)
        use = call.use.rule_executions
        records = use.list_of_document(call.principal, document_id, before, limit + 1)
        return make_page(records, count_fitting(records, limit), lambda record: (record.id,), filters)
