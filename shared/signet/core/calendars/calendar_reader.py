"""The reader of business calendars: first the shape, then what one part says about another."""

from collections.abc import Iterator
from datetime import date
from typing import Any

from signet.core.calendars.business_calendar import (
    MAX_YEARS,
    BusinessCalendar,
    NamedDay,
    Spans,
    cut_hours,
    fits_years,
)
from signet.core.schedules.findings import check_zone
from signet.core.validation.finding import Finding, has_errors, make_finding, sort_findings
from signet.core.validation.model_errors import MAX_MISTAKES
from signet.core.validation.strict_model import parse_strictly, point
from signet.core.validation.text_checks import check_texts
from signet.core.validation.unclear_text import check_unclear


def parse_calendar(document: Any) -> tuple[BusinessCalendar | None, tuple[Finding, ...]]:
    """Return the calendar unless a finding is an error; warnings alone do not prevent it."""
    calendar, findings = parse_strictly(BusinessCalendar, document)
    if calendar is None:
        return None, findings
    found = (*check_texts(document), *check_calendar(calendar), *check_unclear(document))
    all_findings = sort_findings(found)[:MAX_MISTAKES]
    return (None if has_errors(all_findings) else calendar), all_findings


def check_calendar(calendar: BusinessCalendar) -> Iterator[Finding]:
    yield from check_zone(calendar.zone, "/zone")
    yield from _check_years(calendar)
    yield from _check_hours(calendar)
    yield from _check_dates(calendar)
    yield from _check_half_days(calendar)


def _check_years(calendar: BusinessCalendar) -> Iterator[Finding]:
    years = calendar.years
    if not fits_years(years):
        yield make_finding("CALENDAR_YEARS_INVALID", "/years", limit=MAX_YEARS)
        return
    known = {holiday.date.year for holiday in calendar.holidays}
    missing = [year for year in range(years.first, years.last + 1) if year not in known]
    if known and missing:
        listed = ", ".join(map(str, missing))
        yield make_finding("CALENDAR_YEAR_WITHOUT_HOLIDAYS", "/holidays", years=listed)


def _check_hours(calendar: BusinessCalendar) -> Iterator[Finding]:
    week = calendar.hours.list_days()
    if not any(spans for _, spans in week) and not calendar.worked_days:
        yield make_finding("CALENDAR_WITHOUT_HOURS", "/hours")
    for day, spans in week:
        yield from _check_order(spans, ("hours", day))
    for index, worked in enumerate(calendar.worked_days):
        yield from _check_order(worked.hours, ("worked_days", index, "hours"))


def _check_order(spans: Spans, path: tuple[str | int, ...]) -> Iterator[Finding]:
    for index in range(1, len(spans)):
        if spans[index].start < spans[index - 1].end:
            yield make_finding("CALENDAR_HOURS_OVERLAP", point((*path, index)))


def _check_dates(calendar: BusinessCalendar) -> Iterator[Finding]:
    """Check that each date stands once, so that none needs to know which of two entries wins."""
    seen: dict[date, str] = {}
    lists: tuple[tuple[str, tuple[NamedDay, ...]], ...] = (
        ("holidays", calendar.holidays),
        ("half_days", calendar.half_days),
        ("worked_days", calendar.worked_days),
    )
    for kind, entries in lists:
        for index, entry in enumerate(entries):
            place = point((kind, index, "date"))
            if entry.date in seen:
                yield make_finding("CALENDAR_DATE_TWICE", place, date=str(entry.date), other=seen[entry.date])
            seen.setdefault(entry.date, place)
            if not calendar.years.first <= entry.date.year <= calendar.years.last:
                yield make_finding("CALENDAR_DATE_OUTSIDE", place, date=str(entry.date))


def _check_half_days(calendar: BusinessCalendar) -> Iterator[Finding]:
    week = calendar.hours.list_days()
    for index, half in enumerate(calendar.half_days):
        weekday, spans = week[half.date.weekday()]
        left = cut_hours(spans, half.until)
        place = point(("half_days", index))
        if not left:
            yield make_finding("CALENDAR_HALF_DAY_EMPTY", place, date=str(half.date), weekday=weekday.title())
        elif left == spans:
            yield make_finding("CALENDAR_HALF_DAY_WHOLE", place, date=str(half.date), weekday=weekday.title())
