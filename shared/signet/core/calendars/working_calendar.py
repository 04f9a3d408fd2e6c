"""The working calendar: a business calendar with its zone, as the instants at which it is open."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, tzinfo
from types import MappingProxyType
from typing import NamedTuple

from signet.core.calendars.business_calendar import BusinessCalendar, Spans, cut_hours
from signet.core.calendars.zone_clock import (
    Stretch,
    list_stretches,
    list_stretches_of_day,
    make_instant,
    read_wall,
)
from signet.core.errors import Rejected

_DAY = timedelta(days=1)
_INSTANT = timedelta(microseconds=1)


class Interval(NamedTuple):
    """Working time from an instant to another, which is not part of it any more."""

    start: datetime
    end: datetime


@dataclass(frozen=True, slots=True)
class WorkingCalendar:
    name: str
    zone: tzinfo
    week: tuple[Spans, ...]  # from Monday on
    # The dates whose hours are not those of their weekday.
    dates: Mapping[date, Spans]
    holidays: Mapping[date, str]
    first: date
    last: date

    def list_spans(self, day: date) -> Spans:
        """Return the hours of a date, or refuse one whose holidays are not known."""
        if not self.first <= day <= self.last:
            raise Rejected(
                "CALENDAR_YEARS_EXCEEDED",
                f"The calendar '{self.name}' goes from {self.first} to {self.last}, and {day} is needed.",
                remedy="Add the holidays of further years to the calendar, and widen its `years`.",
            )
        known = self.dates.get(day)
        return self.week[day.weekday()] if known is None else known

    def read_date(self, moment: datetime) -> date:
        return read_wall(self.zone, moment).date()


def make_working_calendar(calendar: BusinessCalendar, zone: tzinfo) -> WorkingCalendar:
    """Make the working calendar. Who calls this looks up the zone that the calendar names."""
    week = tuple(spans for _, spans in calendar.hours.list_days())
    dates: dict[date, Spans] = {holiday.date: () for holiday in calendar.holidays}
    dates |= {half.date: cut_hours(week[half.date.weekday()], half.until) for half in calendar.half_days}
    dates |= {worked.date: worked.hours for worked in calendar.worked_days}
    return WorkingCalendar(
        name=calendar.calendar,
        zone=zone,
        week=week,
        dates=MappingProxyType(dates),
        holidays=MappingProxyType({holiday.date: holiday.name for holiday in calendar.holidays}),
        first=date(calendar.years.first, 1, 1),
        last=date(calendar.years.last, 12, 31),
    )


def list_intervals(calendar: WorkingCalendar, start: datetime, end: datetime) -> Iterator[Interval]:
    """Yield the working time between two instants, in its order."""
    for stretch in list_stretches(calendar.zone, start, end):
        for day in _list_days(stretch):
            yield from _list_open(stretch, day, calendar.list_spans(day))


def list_intervals_from(calendar: WorkingCalendar, moment: datetime) -> Iterator[Interval]:
    """Yield the working time from a moment on. Behind the last year this is refused, so it always ends."""
    start = make_instant(moment)
    while True:
        yield from list_intervals(calendar, start, start + _DAY)
        start += _DAY


def list_intervals_before(calendar: WorkingCalendar, moment: datetime) -> Iterator[Interval]:
    """Yield the working time up to a moment, the latest first."""
    end = make_instant(moment)
    while True:
        for stretch in reversed(list(list_stretches(calendar.zone, end - _DAY, end))):
            for day in reversed(list(_list_days(stretch))):
                yield from reversed(list(_list_open(stretch, day, calendar.list_spans(day))))
        end -= _DAY


def list_intervals_of_day(calendar: WorkingCalendar, day: date) -> tuple[Interval, ...]:
    """Return the working time while the clock shows this date."""
    spans = calendar.list_spans(day)
    if not spans:
        return ()
    stretches = list_stretches_of_day(calendar.zone, day)
    return tuple(interval for stretch in stretches for interval in _list_open(stretch, day, spans))


def _list_days(stretch: Stretch) -> Iterator[date]:
    day, last = stretch.read(stretch.start).date(), stretch.read(stretch.end - _INSTANT).date()
    while day <= last:
        yield day
        day += _DAY


def _list_open(stretch: Stretch, day: date, spans: Spans) -> Iterator[Interval]:
    midnight = datetime.combine(day, time.min)
    for span in spans:
        start = max(stretch.start, stretch.find_instant(midnight + timedelta(minutes=span.start)))
        end = min(stretch.end, stretch.find_instant(midnight + timedelta(minutes=span.end)))
        if start < end:
            yield Interval(start, end)
