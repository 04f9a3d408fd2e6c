"""The moments at which waits end: after a duration, or at a date or moment, in a zone."""

import calendar
from datetime import UTC, date, datetime, time, timedelta, tzinfo

from signet.core.moments.durations import CalendarDuration
from signet.core.moments.wall_time import find_moment, write_wall_time
from signet.core.validation.text import is_calendar_date, normalise_timestamp

# The calendar ends there: what would be later is then.
LAST_MOMENT = datetime.max.replace(tzinfo=UTC)
MIDNIGHT = time()


def add_duration(moment: datetime, duration: CalendarDuration, zone: tzinfo) -> datetime:
    """Return the moment later by a duration.

    Months and days keep the wall time of the zone; a day that the month does not have is its last one. Hours
    and less are time that passes, counted after them.
    """
    try:
        if duration.months or duration.days:
            wall = _add_months(write_wall_time(moment, zone), duration.months)
            moment = find_moment(wall + timedelta(days=duration.days), zone)
        return moment.astimezone(UTC) + timedelta(seconds=duration.seconds)
    except (OverflowError, ValueError):
        return LAST_MOMENT


def is_until_text(text: str) -> bool:
    """Return whether the text is a date or a moment, such as 2026-12-01 or 2026-12-01T09:00:00+01:00."""
    return is_calendar_date(text) or normalise_timestamp(text) is not None


def find_until(text: str, zone: tzinfo, at: time = MIDNIGHT) -> datetime | None:
    """Return the moment of a date in the zone at a time of the day, or of a moment; None for other text."""
    if not is_calendar_date(text):
        normal = normalise_timestamp(text)
        return datetime.fromisoformat(normal) if normal is not None else None
    day = date.fromisoformat(text)
    try:
        return find_moment(datetime.combine(day, at), zone)
    except OverflowError:
        return LAST_MOMENT if day.year == date.max.year else None


def _add_months(wall: datetime, months: int) -> datetime:
    year, month = divmod(wall.year * 12 + wall.month - 1 + months, 12)
    last = calendar.monthrange(year, month + 1)[1]
    return wall.replace(year=year, month=month + 1, day=min(wall.day, last))
