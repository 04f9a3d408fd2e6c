"""Files of business calendars, with the time zones that they name."""

from pathlib import Path

from signet.authoring.files import read_document
from signet.core.calendars.calendar_reader import parse_calendar
from signet.core.calendars.working_calendar import WorkingCalendar, make_working_calendar
from signet.core.validation.finding import Finding
from signet.zones import find_zone


def read_calendar(path: Path) -> tuple[WorkingCalendar | None, tuple[Finding, ...]]:
    """Read the calendar of a file, with its zone; None where a finding is an error."""
    document, findings = read_document(path)
    if findings:
        return None, findings
    calendar, findings = parse_calendar(document)
    if calendar is None:
        return None, findings
    return make_working_calendar(calendar, find_zone(calendar.zone)), findings
