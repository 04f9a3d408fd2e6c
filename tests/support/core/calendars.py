"""Business calendars for tests, and an oracle that asks the clock of the zone minute by minute.

The oracle compares texts such as `09:00`. It shares no code with the product.
"""

import copy
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from signet.core.calendars.calendar_reader import parse_calendar
from signet.core.calendars.working_calendar import WorkingCalendar, make_working_calendar

MINUTE = timedelta(minutes=1)
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
# 2026-12-21 is a Monday. The 26th is a Saturday that is worked.
OFFICE: Mapping[str, Any] = {
    "calendar": "office",
    "zone": "Europe/Berlin",
    "years": {"first": 2026, "last": 2027},
    "hours": {
        "monday": ["09:00-12:00", "13:00-17:00"],
        "tuesday": ["09:00-17:00"],
        "wednesday": ["09:00-17:00"],
        "thursday": ["09:00-17:00"],
        "friday": ["09:00-15:00"],
    },
    "holidays": [
        {"date": "2026-12-25", "name": "Christmas"},
        {"date": "2027-01-01", "name": "New Year"},
    ],
    "half_days": [{"date": "2026-12-24", "name": "Christmas Eve", "until": "12:00"}],
    "worked_days": [{"date": "2026-12-26", "name": "Stocktaking", "hours": ["10:00-14:00"]}],
}


def vary(**changes: Any) -> dict[str, Any]:
    return {**copy.deepcopy(dict(OFFICE)), **changes}


def make_calendar(document: Mapping[str, Any] = OFFICE) -> WorkingCalendar:
    calendar, findings = parse_calendar(document)
    assert calendar is not None, findings
    return make_working_calendar(calendar, ZoneInfo(calendar.zone))


def at(written: str, zone: str = "Europe/Berlin") -> datetime:
    """Return the moment at which the clock of the zone shows this; the first of two."""
    return datetime.fromisoformat(written).replace(tzinfo=ZoneInfo(zone)).astimezone(UTC)


def shows_open(document: Mapping[str, Any], moment: datetime) -> bool:
    wall = moment.astimezone(ZoneInfo(document["zone"]))
    day, clock = wall.date().isoformat(), wall.strftime("%H:%M")
    hours = document["hours"].get(WEEKDAYS[wall.weekday()], [])
    end = "99:99"
    for entry in document.get("holidays", []):
        if entry["date"] == day:
            return False
    for entry in document.get("half_days", []):
        if entry["date"] == day:
            end = entry["until"]
    for entry in document.get("worked_days", []):
        if entry["date"] == day:
            hours = entry["hours"]
    return any(span[:5] <= clock < min(span[6:], end) for span in hours)


def count_open_minutes(document: Mapping[str, Any], start: datetime, end: datetime) -> int:
    minutes = int((end - start) / MINUTE)
    return sum(shows_open(document, start + n * MINUTE) for n in range(minutes))


def find_by_minutes(document: Mapping[str, Any], start: datetime, amount: int) -> datetime:
    """Return the first moment before which so many open minutes have passed."""
    moment = start
    while amount:
        amount -= shows_open(document, moment)
        moment += MINUTE
    return moment


def list_clock_changes(zone: str, first: datetime, last: datetime) -> Iterator[datetime]:
    """Yield the hours within which the zone changes its clock."""
    here, moment = ZoneInfo(zone), first
    while moment < last:
        later = moment + timedelta(hours=12)
        if moment.astimezone(here).utcoffset() != later.astimezone(here).utcoffset():
            yield next(hour for n in range(12) if _changes_in(here, hour := moment + timedelta(hours=n)))
        moment = later


def _changes_in(zone: ZoneInfo, hour: datetime) -> bool:
    return hour.astimezone(zone).utcoffset() != (hour + timedelta(hours=1)).astimezone(zone).utcoffset()
