"""Routes of automations: which there are, why one did not start, and the switches that people have."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from aws_lambda_powertools.event_handler.openapi.params import Body, Query
from pydantic import Field

from signet.api.http.call import Call, HttpAnswer
from signet.api.http.cursors import Page, make_page, parse_cursor, parse_position
from signet.api.http.parameters import PAGE, Cursor, Id, Limit, PathName
from signet.api.http.routing import Routes
from signet.core.validation.strict_model import Strict
from signet.engine.automations.automations import (
    AutomationRecord,
    AutomationSwitchState,
    FiringRecord,
    ManualStart,
)

AUTOMATION = "/v1/automations/<name>"
SWITCH = "/v1/automation_switch"
MAX_NOTE_CHARACTERS = 4_000
OfDocument = Annotated[Id | None, Query(description="Only firings by changes of this document.")]


class AutomationNote(Strict):
    note: Annotated[
        str,
        Field(
            min_length=1,
            max_length=MAX_NOTE_CHARACTERS,
            description="The reason, for people and the audit trail.",
        ),
    ]


class ManualStartOrder(Strict):
    """The input of an automation that people start, and the document that it is about."""

    payload: Annotated[
        Mapping[str, Any], Field(description="By the fields that the automation declares.")
    ] = {}
    document_id: Annotated[
        Id | None, Field(strict=False, description="Of an automation that is about documents.")
    ] = None


def add_automation_routes(routes: Routes) -> None:
    @routes.get("/v1/automations", "The automations by name", Page[AutomationRecord])
    def list_automations(call: Call, limit: Limit = PAGE, cursor: Cursor = None) -> Page[AutomationRecord]:
        after = parse_position(cursor, "automations", str) or ""
        records = call.use.automations.list(call.principal, after=after, limit=limit + 1)
        return make_page(records, limit, lambda one: (one.name,), "automations")

    @routes.get(AUTOMATION, "One automation", AutomationRecord)
    def get_automation(call: Call, name: PathName) -> AutomationRecord:
        return call.use.automations.read(call.principal, name)

    @routes.get(f"{AUTOMATION}/firings", "Why an automation started, or did not", Page[FiringRecord])
    def list_firings(
        call: Call, name: PathName, limit: Limit = PAGE, cursor: Cursor = None, document_id: OfDocument = None
    ) -> Page[FiringRecord]:
        """List what became of its firings, the newest first, with the code of what kept it from starting."""
        filters = ["firings", name, str(document_id)]
        place = parse_cursor(cursor, filters, datetime, UUID)
        before = None if place is None else (place[0], place[1])
        records = call.use.automations.why(
            call.principal, name, document_id=document_id, before=before, limit=limit + 1
        )
        return make_page(records, limit, lambda one: (one.created_at.isoformat(), str(one.id)), filters)

    @routes.post(
        f"{AUTOMATION}/start",
        "Start an automation by hand",
        ManualStart,
        status=202,
        large_bodies_want="automation:start",
        places={"payload": "/payload"},
    )
    def start_automation(
        call: Call, name: PathName, order: Annotated[ManualStartOrder, Body()]
    ) -> HttpAnswer:
        started = call.use.automations.start(call.caller, name, order.payload, order.document_id)
        return HttpAnswer(started, 202, location=f"/v1/instances/{started.instance_id}")

    @routes.post(f"{AUTOMATION}/pause", "Pause an automation, with a note", AutomationRecord)
    def pause_automation(
        call: Call, name: PathName, note: Annotated[AutomationNote, Body()]
    ) -> AutomationRecord:
        return call.use.automations.pause(call.caller, name, note.note)

    @routes.post(f"{AUTOMATION}/resume", "Let an automation start again", AutomationRecord)
    def resume_automation(call: Call, name: PathName) -> AutomationRecord:
        return call.use.automations.resume(call.caller, name)

    @routes.get(SWITCH, "Whether all automations are stopped", AutomationSwitchState)
    def get_automation_switch(call: Call) -> AutomationSwitchState:
        return call.use.automations.read_switch(call.principal)

    @routes.post(f"{SWITCH}/stop", "Stop all automations, with a note", AutomationSwitchState)
    def stop_automations(call: Call, note: Annotated[AutomationNote, Body()]) -> AutomationSwitchState:
        return call.use.automations.stop_all(call.caller, note.note)

    @routes.post(f"{SWITCH}/allow", "Let automations start again", AutomationSwitchState)
    def allow_automations(call: Call) -> AutomationSwitchState:
        return call.use.automations.allow_all(call.caller)
