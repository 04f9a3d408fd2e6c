"""Stored calendars as working calendars: what waits, approvals and previews compute with."""

import json
from dataclasses import dataclass
from functools import lru_cache
from uuid import UUID

from signet.core.calendars.business_calendar import BusinessCalendar
from signet.core.calendars.calendar_reader import parse_calendar
from signet.core.calendars.working_calendar import WorkingCalendar, make_working_calendar
from signet.core.errors import Defect, Rejected
from signet.store.calendars import calendars as store
from signet.store.database import Connection
from signet.zones import find_zone

MAX_KEPT = 64


@dataclass(frozen=True, slots=True)
class VersionedCalendar:
    """The working calendar of a version, which evidence names."""

    name: str
    version: int
    working: WorkingCalendar


def find_stored_calendar(connection: Connection, tenant_id: UUID, name: str | None) -> VersionedCalendar:
    """Find the calendar of a name, or that of the tenant's settings; refuse where there is none."""
    found = store.find_in_force(connection, tenant_id, name)
    if found.name is None:
        raise Rejected(
            "CALENDAR_UNNAMED",
            "no calendar is named, and the tenant's settings name none",
            remedy="Name a calendar, or set `calendar` in the tenant's settings.",
        )
    if found.version is None or found.body is None:
        raise calendar_not_found(found.name)
    return VersionedCalendar(found.name, found.version, make_stored_calendar(found.name, found.body))


def read_stored_calendar(name: str, body: str) -> BusinessCalendar:
    """Read what was checked when it was saved."""
    calendar, findings = parse_calendar({**json.loads(body), "calendar": name})
    if calendar is None:
        raise Defect("CALENDAR_ALTERED", f"the calendar '{name}' is not what was saved: {findings[0].code}")
    return calendar


# A version never changes. The text is the key, so that no tenant meets the calendar of another one.
@lru_cache(maxsize=MAX_KEPT)
def make_stored_calendar(name: str, body: str) -> WorkingCalendar:
    calendar = read_stored_calendar(name, body)
    return make_working_calendar(calendar, find_zone(calendar.zone))


def calendar_not_found(name: str) -> Rejected:
    return Rejected(
        "CALENDAR_NOT_FOUND",
        f"there is no calendar '{name}'",
        remedy=f"Save it with PUT /v1/calendars/{name}, or name another one.",
    )
