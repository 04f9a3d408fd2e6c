"""Routes of business calendars, and of the holidays that they are made of."""

from collections.abc import Mapping
from typing import Annotated, Any

from aws_lambda_powertools.event_handler.openapi.params import Body
from pydantic import Field, model_validator

from signet.api.http.call import Call, HttpAnswer, show_record
from signet.api.http.cursors import Page, make_page, parse_position
from signet.api.http.parameters import (
    MAX_VERSION,
    PAGE,
    Cursor,
    IfMatchOfKnown,
    Limit,
    PathName,
    PathVersion,
    QueryReason,
    parse_version,
)
from signet.api.http.proposed_changes import show_proposed
from signet.api.http.routing import Routes
from signet.core.calendars.business_calendar import (
    MAX_YEARS,
    CalendarBody,
    CoveredYears,
    ZoneName,
    fits_years,
)
from signet.core.calendars.ics_lines import MAX_ICS_BYTES
from signet.core.validation.strict_model import Strict
from signet.engine.calendars.calendars import CalendarRecord, CalendarSummary
from signet.engine.calendars.holiday_imports import HolidayImport
from signet.engine.calendars.previews import CalendarPreview
from signet.engine.calendars.stored_calendars import calendar_not_found
from signet.engine.control.proposals import ControlChange

CALENDAR = "/v1/calendars/<name>"


class HolidayFile(Strict):
    content: Annotated[
        str, Field(max_length=MAX_ICS_BYTES, description="The text of an iCalendar file (.ics).")
    ]
    years: CoveredYears
    zone: Annotated[ZoneName, Field(description="The zone of the calendar, for moments in UTC.")] = "UTC"
    opaque_only: Annotated[
        bool, Field(description="Leave out events that take no time (TRANSP:TRANSPARENT).")
    ] = False

    @model_validator(mode="after")
    def _check_years(self) -> "HolidayFile":
        if not fits_years(self.years):
            raise ValueError(f"wants years from the first to a last that is at most {MAX_YEARS} years on")
        return self


def add_calendar_routes(routes: Routes) -> None:
    @routes.get("/v1/calendars", "The business calendars", Page[CalendarSummary])
    def list_calendars(call: Call, limit: Limit = PAGE, cursor: Cursor = None) -> Page[CalendarSummary]:
        """List the calendars by name, each with its version in force."""
        after = parse_position(cursor, "calendars", str) or ""
        records = call.use.calendars.list(call.principal, after, limit + 1)
        return make_page(records, limit, lambda record: (record.name,), "calendars")

    @routes.get(CALENDAR, "One calendar, in the version in force", CalendarRecord, is_versioned=True)
    def get_calendar(call: Call, name: PathName) -> HttpAnswer:
        return show_record(call.use.calendars.read(call.principal, name))

    @routes.put(
        CALENDAR,
        "Save a calendar",
        CalendarRecord,
        also={201: CalendarRecord, 202: ControlChange},
        is_versioned=True,
        body_model=CalendarBody,
        large_bodies_want="calendar:edit",
    )
    def save_calendar(
        call: Call,
        name: PathName,
        body: Annotated[Mapping[str, Any], Body()],
        reason: QueryReason = None,
        if_match: IfMatchOfKnown = None,
    ) -> HttpAnswer:
        """Save the next version, which is in force at once; a new calendar needs no If-Match.

        The same text makes no version. What waits keeps its moment, unless it follows its calendar.
        """
        saved = call.use.calendars.save(call.caller, name, body, parse_version(if_match), reason)
        if isinstance(saved, ControlChange):
            return show_proposed(saved)
        location = f"/v1/calendars/{name}" if saved.is_new else None
        return show_record(saved.calendar, 201 if saved.is_new else 200, location)

    _add_versions(routes)
    _add_preview(routes)


def _add_versions(routes: Routes) -> None:
    @routes.get(f"{CALENDAR}/versions", "Versions of a calendar, the newest first", Page[CalendarSummary])
    def list_calendar_versions(
        call: Call, name: PathName, limit: Limit = PAGE, cursor: Cursor = None
    ) -> Page[CalendarSummary]:
        before = parse_position(cursor, ("calendar", name), int)
        records = call.use.calendars.list_versions(call.principal, name, before or MAX_VERSION, limit + 1)
        if not records and before is None:
            raise calendar_not_found(name)
        return make_page(records, limit, lambda record: (record.version,), ("calendar", name))

    @routes.get(f"{CALENDAR}/versions/<version>", "One version of a calendar", CalendarRecord)
    def get_calendar_version(call: Call, name: PathName, version: PathVersion) -> CalendarRecord:
        """Show a version, which never changes."""
        return call.use.calendars.read(call.principal, name, version)


def _add_preview(routes: Routes) -> None:
    @routes.post(
        f"{CALENDAR}/preview",
        "What a change of a calendar would move",
        CalendarPreview,
        body_model=CalendarBody,
        large_bodies_want="calendar:edit",
    )
    def preview_calendar(
        call: Call, name: PathName, body: Annotated[Mapping[str, Any], Body()]
    ) -> CalendarPreview:
        """Name the open waits that follow the calendar and would move. Nothing is saved."""
        return call.use.calendar_previews.run(call.principal, name, body)


def add_holiday_import_routes(routes: Routes) -> None:
    @routes.post(
        "/v1/holiday_imports",
        "Read the holidays of an iCalendar file",
        HolidayImport,
        large_bodies_want="calendar:edit",
    )
    def import_holidays(call: Call, file: Annotated[HolidayFile, Body()]) -> HolidayImport:
        """Read the holidays of an iCalendar file as entries of a calendar. Nothing is saved."""
        return call.use.holiday_imports.run(
            call.principal, file.content, file.years, file.zone, opaque_only=file.opaque_only
        )
