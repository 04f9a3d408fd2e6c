"""Files of business calendars, and the time zones that they name."""

from pathlib import Path
from zoneinfo import ZoneInfo

from signet.authoring.files import read_document
from signet.core.calendars.business_calendar import BusinessCalendar
from signet.core.calendars.calendar_reader import parse_calendar
from signet.core.calendars.working_calendar import WorkingCalendar, make_working_calendar
from signet.core.validation.finding import Finding, make_finding


def read_calendar(path: Path) -> tuple[WorkingCalendar | None, tuple[Finding, ...]]:
    """Read the calendar of a file, with its zone; None where a finding is an error."""
    document, findings = read_document(path)
    if findings:
        return None, findings
    calendar, findings = parse_calendar(document)
    if calendar is None:
        return None, findings
    return _add_zone(calendar, findings)


def _add_zone(
    calendar: BusinessCalendar, findings: tuple[Finding, ...]
) -> tuple[WorkingCalendar | None, tuple[Finding, ...]]:
    zone = find_zone(calendar.zone)
    if zone is None:
        unknown = make_finding("CALENDAR_ZONE_UNKNOWN", "/zone", zone=calendar.zone)
        return None, (unknown, *findings)
    return make_working_calendar(calendar, zone), findings


def find_zone(name: str) -> ZoneInfo | None:
    """Return the zone of the name, or None. A folder of the database is no zone, nor is a path out of it."""
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return None
