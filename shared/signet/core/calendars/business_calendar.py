"""The business calendar as its author writes it: zone, hours of the week, and the dates that differ."""

import re
from datetime import date
from typing import Annotated, NamedTuple

from pydantic import Field as Constraint
from pydantic import PlainValidator

from signet.core.validation.strict_model import Label, Name, Strict
from signet.core.validation.text import is_calendar_date

MAX_SPANS = 8
MAX_HOLIDAYS = 1_000
MAX_HALF_DAYS = 200
MAX_WORKED_DAYS = 200
MAX_YEARS = 20
# Until 2010 some clocks went back past midnight (00:01 to 23:01), so that dates did not follow each other.
FIRST_YEAR = 2012
LAST_YEAR = 2199
_SPAN = re.compile(r"([0-9]{2}):([0-9]{2})-([0-9]{2}):([0-9]{2})")
_TIME = re.compile(r"([0-9]{2}):([0-9]{2})")
_MINUTES_OF_A_DAY = 24 * 60


class WorkingSpan(NamedTuple):
    """Working hours from one minute of a day to another, which is not part of them any more."""

    start: int
    end: int


Spans = tuple[WorkingSpan, ...]


def _read_minute(hours: str, minutes: str) -> int | None:
    minute = int(hours) * 60 + int(minutes)
    return minute if int(minutes) < 60 and minute <= _MINUTES_OF_A_DAY else None


def parse_span(written: object) -> WorkingSpan:
    """Return the span of a text such as 09:00-17:30. One over midnight is written as two."""
    match = _SPAN.fullmatch(written) if isinstance(written, str) else None
    start, end = (
        (_read_minute(*match.group(1, 2)), _read_minute(*match.group(3, 4))) if match else (None, None)
    )
    if start is None or end is None or start >= end:
        raise ValueError(
            "wants hours of one day such as 09:00-17:30; over midnight they are two, up to 24:00"
        )
    return WorkingSpan(start, end)


def parse_time(written: object) -> int:
    """Return the minute of the day of a time such as 12:30."""
    match = _TIME.fullmatch(written) if isinstance(written, str) else None
    minute = _read_minute(*match.group(1, 2)) if match else None
    if minute is None:
        raise ValueError("wants a time such as 12:30")
    return minute


def parse_day(written: object) -> date:
    if isinstance(written, date):
        return written
    if not isinstance(written, str) or not is_calendar_date(written):
        raise ValueError("wants a date that exists, such as 2026-12-25")
    return date.fromisoformat(written)


# The forms in the schema of the API. The functions above check them, with sentences of their own.
_SpanText = Annotated[str, Constraint(pattern=f"^{_SPAN.pattern}$")]
_TimeText = Annotated[str, Constraint(pattern=f"^{_TIME.pattern}$")]
_DayText = Annotated[str, Constraint(json_schema_extra={"format": "date"})]
WrittenSpan = Annotated[WorkingSpan, PlainValidator(parse_span, json_schema_input_type=_SpanText)]
WrittenTime = Annotated[int, PlainValidator(parse_time, json_schema_input_type=_TimeText)]
WrittenDay = Annotated[date, PlainValidator(parse_day, json_schema_input_type=_DayText)]
DaySpans = Annotated[tuple[WrittenSpan, ...], Constraint(max_length=MAX_SPANS)]
DayName = Annotated[Label, Constraint(min_length=1)]
ZoneName = Annotated[
    str, Constraint(pattern=r"^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9][A-Za-z0-9_+-]*){0,2}$", max_length=64)
]
Year = Annotated[int, Constraint(ge=FIRST_YEAR, le=LAST_YEAR)]


class CoveredYears(Strict):
    """The years whose holidays the author knows: outside of them nothing is computed."""

    first: Year
    last: Year


class WeekHours(Strict):
    """The working hours of each weekday; a day that is left out has none."""

    monday: DaySpans = ()
    tuesday: DaySpans = ()
    wednesday: DaySpans = ()
    thursday: DaySpans = ()
    friday: DaySpans = ()
    saturday: DaySpans = ()
    sunday: DaySpans = ()

    def list_days(self) -> tuple[tuple[str, Spans], ...]:
        """List the weekdays from Monday on."""
        return tuple((day, getattr(self, day)) for day in type(self).model_fields)


class NamedDay(Strict):
    date: WrittenDay
    name: DayName


class Holiday(NamedDay):
    """A date without working hours."""


class HalfDay(NamedDay):
    """A date on which the hours of its weekday end early."""

    until: WrittenTime


class WorkedDay(NamedDay):
    """A date with hours of its own, such as a Saturday that is worked."""

    hours: Annotated[tuple[WrittenSpan, ...], Constraint(min_length=1, max_length=MAX_SPANS)]


class CalendarBody(Strict):
    """The content of a calendar, without its name."""

    zone: ZoneName
    years: CoveredYears
    hours: WeekHours
    holidays: Annotated[tuple[Holiday, ...], Constraint(max_length=MAX_HOLIDAYS)] = ()
    half_days: Annotated[tuple[HalfDay, ...], Constraint(max_length=MAX_HALF_DAYS)] = ()
    worked_days: Annotated[tuple[WorkedDay, ...], Constraint(max_length=MAX_WORKED_DAYS)] = ()


class BusinessCalendar(CalendarBody):
    calendar: Name


def cut_hours(spans: Spans, until: int) -> Spans:
    """Return what is left of a day's hours when they end early."""
    return tuple(WorkingSpan(span.start, min(span.end, until)) for span in spans if span.start < until)


def fits_years(years: CoveredYears) -> bool:
    return 0 <= years.last - years.first < MAX_YEARS
