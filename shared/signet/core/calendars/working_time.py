"""Working time: elapsed time that counts only while a calendar is open."""

from datetime import datetime, timedelta

from signet.core.calendars.working_calendar import (
    WorkingCalendar,
    list_intervals,
    list_intervals_before,
    list_intervals_from,
)
from signet.core.calendars.zone_clock import make_instant, read_wall

_NOTHING = timedelta(0)
_MINUTE = timedelta(minutes=1)


def is_open(calendar: WorkingCalendar, moment: datetime) -> bool:
    """Return whether the moment is working time. The moment of opening is; the moment of closing is not."""
    wall = read_wall(calendar.zone, make_instant(moment))
    passed = wall - datetime.combine(wall.date(), datetime.min.time())
    return any(s.start * _MINUTE <= passed < s.end * _MINUTE for s in calendar.list_spans(wall.date()))


def find_opening(calendar: WorkingCalendar, moment: datetime) -> datetime:
    """Return the moment itself where it is working time, else the next opening."""
    return next(list_intervals_from(calendar, moment)).start


def find_closing(calendar: WorkingCalendar, moment: datetime) -> datetime:
    """Return the moment itself where working time leads up to it, else the last closing before it."""
    return next(list_intervals_before(calendar, moment)).end


def add_working_time(calendar: WorkingCalendar, moment: datetime, amount: timedelta) -> datetime:
    """Return the first moment at which so much working time has passed since the given one.

    Time that ends with the hours of a day ends at their closing, and not at the next opening.
    """
    if amount < _NOTHING:
        return subtract_working_time(calendar, moment, -amount)
    reached, left = make_instant(moment), amount
    intervals = list_intervals_from(calendar, moment)
    while left > _NOTHING:
        start, end = next(intervals)
        reached = min(end, start + left)
        left -= reached - start
    return reached


def subtract_working_time(calendar: WorkingCalendar, moment: datetime, amount: timedelta) -> datetime:
    """Return the last moment from which so much working time passes up to the given one."""
    if amount < _NOTHING:
        return add_working_time(calendar, moment, -amount)
    reached, left = make_instant(moment), amount
    intervals = list_intervals_before(calendar, moment)
    while left > _NOTHING:
        start, end = next(intervals)
        reached = max(start, end - left)
        left -= end - reached
    return reached


def measure_working_time(calendar: WorkingCalendar, start: datetime, end: datetime) -> timedelta:
    """Return the working time from one moment to another; from a later to an earlier one it is negative."""
    first, last = make_instant(start), make_instant(end)
    if first > last:
        return -measure_working_time(calendar, last, first)
    return sum((each.end - each.start for each in list_intervals(calendar, first, last)), _NOTHING)
