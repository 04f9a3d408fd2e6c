"""`signet calendar`: business calendars of working hours and holidays, tried without a database."""

import json
import re
import sys
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Annotated, Any

import typer

from signet.authoring.calendars import read_calendar
from signet.authoring.files import read_content
from signet.cli.console import (
    FileFinding,
    choose_exit_code,
    describe_counts,
    stop,
    write,
    write_findings,
    write_json,
)
from signet.core.calendars.business_calendar import FIRST_YEAR, MAX_YEARS, CoveredYears, Holiday, fits_years
from signet.core.calendars.ics_holidays import import_holidays
from signet.core.calendars.terms import MAX_DAYS, MAX_HOURS, MAX_MINUTES, WorkingTerm, describe_term, find_due
from signet.core.calendars.working_calendar import WorkingCalendar
from signet.core.explain.vocabulary import describe_count, escape
from signet.core.validation.strict_model import parse_strictly
from signet.core.validation.text import normalise_timestamp
from signet.zones import find_zone

MAX_SHOWN_HOLIDAYS = 10
_YEARS = re.compile(r"([0-9]{4})(?:-([0-9]{4}))?")
_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")

app = typer.Typer(help="Business calendars: working hours and holidays.", no_args_is_help=True)
CalendarFile = Annotated[Path, typer.Argument(metavar="FILE", help="A calendar, as YAML or JSON.")]

CHECK_HELP = """Check calendars, and say every mistake at once.

Exit codes: 0 fine (warnings may stand), 1 a calendar has errors, 2 a file cannot be read.

\b
Examples:
  signet calendar check examples/calendar.yaml
  signet calendar check --json examples/calendar.yaml
"""


@app.command(help=CHECK_HELP)
def check(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Calendars, as YAML or JSON.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """Check calendars and write their findings."""
    found = []
    for file in files:
        of_file = [FileFinding(file, finding) for finding in read_calendar(file)[1]]
        found += of_file
        if not as_json:
            write_findings(of_file)
            write(f"{escape(file)}: {describe_counts(of_file)}")
    if as_json:
        write(write_json({"findings": [finding.to_json() for finding in found]}))
    raise typer.Exit(choose_exit_code(found))


ADD_HELP = """Say when a term of working days or working time ends.

Days end at the last closing of the Nth working day after the date of the start. Hours and minutes
count while the calendar is open.

Exit codes: 0 said, 1 the calendar has errors or ends before, 2 wrong use or an unreadable file.

\b
Examples:
  signet calendar add examples/calendar.yaml --from 2026-12-23T10:00:00+01:00 --days 3
  signet calendar add examples/calendar.yaml --from 2026-12-23T10:00:00+01:00 --hours 12 --minutes 30
"""


@app.command(help=ADD_HELP)
def add(
    file: CalendarFile,
    start: Annotated[
        str, typer.Option("--from", help="The moment at which the term begins: 2026-12-23T10:00:00+01:00.")
    ],
    days: Annotated[int | None, typer.Option(min=1, max=MAX_DAYS, help="Working days.")] = None,
    hours: Annotated[int | None, typer.Option(min=1, max=MAX_HOURS, help="Hours of working time.")] = None,
    minutes: Annotated[
        int | None, typer.Option(min=1, max=MAX_MINUTES, help="Minutes of working time.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the moments as JSON.")] = False,
) -> None:
    """Write the due moment of a term, and the holidays that it passes over."""
    written = normalise_timestamp(start)
    if written is None:
        stop("--from wants a moment with its distance to UTC, such as 2026-12-23T10:00:00+01:00.")
    asked = {"days": days, "hours": hours, "minutes": minutes}
    term, _ = parse_strictly(WorkingTerm, {unit: n for unit, n in asked.items() if n is not None})
    if term is None:
        stop("Name --days, or --hours and --minutes.")
    calendar, findings = read_calendar(file)
    found = [FileFinding(file, finding) for finding in findings]
    write_findings(found, sys.stderr)
    if calendar is None:
        raise typer.Exit(choose_exit_code(found))
    begin = datetime.fromisoformat(written)
    due = find_due(calendar, begin, term)
    holidays = _list_holidays(calendar, begin, due)
    if as_json:
        write(write_json(_describe(calendar, begin, due, holidays)))
        return
    write(f"from  {_write_moment(begin, calendar.zone)}")
    write(f"term  {describe_term(term)} of '{calendar.name}'")
    write(f"due   {_write_moment(due, calendar.zone)}")
    for holiday in holidays[:MAX_SHOWN_HOLIDAYS]:
        write(f"      passes over {_WEEKDAYS[holiday.date.weekday()]} {holiday.date} {escape(holiday.name)}")
    if len(holidays) > MAX_SHOWN_HOLIDAYS:
        write(f"      and {describe_count(len(holidays) - MAX_SHOWN_HOLIDAYS, 'further holiday')}")


IMPORT_HELP = """Print the holidays of an iCalendar file as the `holidays` of a calendar.

Exit codes: 0 printed (warnings may stand), 1 the file has errors, 2 wrong use or an unreadable file.

\b
Examples:
  signet calendar import-ics examples/holidays.ics --years 2026-2028
  signet calendar import-ics examples/holidays.ics --years 2027 --zone Europe/Berlin --json
"""


@app.command(name="import-ics", help=IMPORT_HELP)
def import_ics(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="An iCalendar file (.ics).")],
    years: Annotated[str, typer.Option(help="The years to import: 2026-2028, or one.")],
    zone: Annotated[str, typer.Option(help="The zone of the calendar, for moments in UTC.")] = "UTC",
    opaque_only: Annotated[
        bool, typer.Option("--opaque-only", help="Leave out events that take no time (TRANSP:TRANSPARENT).")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print holidays and findings as JSON.")] = False,
) -> None:
    """Write the holidays, and what is wrong with the file."""
    covered = _parse_years(years)
    found_zone = find_zone(zone)
    content, findings = read_content(file)
    holidays: tuple[Holiday, ...] = ()
    if not findings:
        holidays, findings = import_holidays(content, covered, found_zone, opaque_only=opaque_only)
    found = [FileFinding(file, finding) for finding in findings]
    entries = [_describe_holiday(holiday) for holiday in holidays]
    if as_json:
        described = [finding.to_json() for finding in found]
        write(write_json({"holidays": entries, "findings": described}))
    else:
        write_findings(found, sys.stderr)
        _write_yaml(entries)
    raise typer.Exit(choose_exit_code(found))


def _parse_years(written: str) -> CoveredYears:
    match = _YEARS.fullmatch(written)
    first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
    years, _ = parse_strictly(CoveredYears, {"first": first, "last": last})
    if years is None or not fits_years(years):
        stop(f"--years wants 2026-2028, or one year: at most {MAX_YEARS}, from {FIRST_YEAR} on.")
    return years


def _write_yaml(entries: list[dict[str, Any]]) -> None:
    """Write the entries as YAML; a text in JSON is one in YAML."""
    if entries:
        write("holidays:")
    for entry in entries:
        write(f"  - {{date: {entry['date']}, name: {json.dumps(entry['name'], ensure_ascii=False)}}}")


def _list_holidays(calendar: WorkingCalendar, start: datetime, end: datetime) -> list[Holiday]:
    """List the holidays between two moments that would be worked by their weekday."""
    first, last = calendar.read_date(start), calendar.read_date(end)
    days = sorted(day for day in calendar.holidays if first <= day <= last and calendar.week[day.weekday()])
    return [Holiday(date=day, name=calendar.holidays[day]) for day in days]


def _describe_holiday(holiday: Holiday) -> dict[str, Any]:
    return {"date": str(holiday.date), "name": holiday.name}


def _describe(
    calendar: WorkingCalendar, start: datetime, due: datetime, holidays: list[Holiday]
) -> dict[str, Any]:
    return {
        "calendar": calendar.name,
        "from": start.astimezone(calendar.zone).isoformat(),
        "due": due.astimezone(calendar.zone).isoformat(),
        "passes_over": [_describe_holiday(holiday) for holiday in holidays],
    }


def _write_moment(moment: datetime, zone: tzinfo) -> str:
    shown = moment.astimezone(zone)
    return f"{_WEEKDAYS[shown.weekday()]} {shown.isoformat(sep=' ')} {zone}"
