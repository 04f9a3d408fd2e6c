"""Working days: dates on which a calendar is open at all. A half day is one.

The date of the start is never counted. Days that are added end with the last closing of the date that they
lead to.
"""

from datetime import date, datetime, timedelta

from signet.core.calendars.working_calendar import Interval, WorkingCalendar, list_intervals_of_day
from signet.core.calendars.zone_clock import make_instant
from signet.core.errors import Defect

_DAY = timedelta(days=1)
_INSTANT = timedelta(microseconds=1)


def is_working_day(calendar: WorkingCalendar, day: date) -> bool:
    return bool(list_intervals_of_day(calendar, day))


def add_working_days(calendar: WorkingCalendar, moment: datetime, count: int) -> datetime:
    """Return the last closing of the Nth working day after the date of the moment."""
    day = calendar.read_date(make_instant(moment))
    return _walk(calendar, day, count, _DAY)[-1].end


def subtract_working_days(calendar: WorkingCalendar, moment: datetime, count: int) -> datetime:
    """Return the first opening of the Nth working day before the date of the moment.

    Midnight belongs to the date that it ends: a day that is open until 24:00 closes then.
    """
    day = calendar.read_date(make_instant(moment) - _INSTANT)
    return _walk(calendar, day, count, -_DAY)[0].start


def _walk(calendar: WorkingCalendar, day: date, count: int, step: timedelta) -> tuple[Interval, ...]:
    if count < 1:
        raise Defect("WORKING_DAYS_INVALID", f"working days are counted from one on, and not {count}")
    calendar.list_spans(day)  # refuses a start whose holidays are not known
    intervals: tuple[Interval, ...] = ()
    while count:
        day += step
        intervals = list_intervals_of_day(calendar, day)
        count -= bool(intervals)
    return intervals
