"""Durations in ISO 8601, such as P1M or PT72H: the one parser of the product.

A deadline counts elapsed seconds, so that a day is 24 hours. A wait counts years, months and days on the wall
clock of a zone, where a day may have 23 or 25 hours.
"""

import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated

from pydantic import AfterValidator, Field

_DURATION = re.compile(
    r"P(?:(?P<weeks>[0-9]{1,4})W|(?:(?P<years>[0-9]{1,2})Y)?(?:(?P<months>[0-9]{1,3})M)?(?:(?P<days>[0-9]{1,4})D)?"
    r"(?:T(?=[0-9])(?:(?P<hours>[0-9]{1,5})H)?(?:(?P<minutes>[0-9]{1,6})M)?(?:(?P<seconds>[0-9]{1,7})S)?)?)"
)
_DAY_SECONDS = 86_400
# Against the bound each month counts as a twelfth of 366 days.
_MONTH_SECONDS = 61 * _DAY_SECONDS // 2
MAX_DURATION_SECONDS = 10 * 366 * _DAY_SECONDS


@dataclass(frozen=True, slots=True)
class CalendarDuration:
    """Months and days of a wall clock, and after them seconds that pass."""

    months: int
    days: int
    seconds: int

    @property
    def longest_seconds(self) -> int:
        return self.months * _MONTH_SECONDS + self.days * _DAY_SECONDS + self.seconds


def parse_duration(text: str) -> CalendarDuration:
    """Return the parts of a duration. Weeks are days, and years are months.

    >>> parse_duration("P1Y2M3DT4H")
    CalendarDuration(months=14, days=3, seconds=14400)
    """
    match = _DURATION.fullmatch(text)
    count = {unit: int(number or 0) for unit, number in match.groupdict().items()} if match else {}
    duration = CalendarDuration(
        12 * count.get("years", 0) + count.get("months", 0),
        7 * count.get("weeks", 0) + count.get("days", 0),
        3_600 * count.get("hours", 0) + 60 * count.get("minutes", 0) + count.get("seconds", 0),
    )
    if not 0 < duration.longest_seconds <= MAX_DURATION_SECONDS:
        raise ValueError("wants a duration such as PT30M, P3D, P2W, P1M or P1Y, of at most ten years")
    return duration


def parse_duration_seconds(text: str) -> int:
    """Return the seconds of a duration such as PT72H, P3D or P2W.

    Months and years are refused, because their length depends on when they begin.

    >>> parse_duration_seconds("P1DT2H")
    93600
    """
    try:
        duration = parse_duration(text)
    except ValueError:
        duration = None
    if duration is None or duration.months:
        raise ValueError("wants a duration such as PT30M, PT72H, P3D or P2W, of at most ten years")
    return duration.days * _DAY_SECONDS + duration.seconds


def parse_elapsed(text: str) -> timedelta:
    """Return a duration of hours, minutes and seconds alone, which means the same on every day.

    >>> parse_elapsed("PT90M")
    datetime.timedelta(seconds=5400)
    """
    duration = parse_duration(text)
    if duration.months or duration.days:
        raise ValueError("wants hours, minutes or seconds, such as PT90M: days are for a cron expression")
    return timedelta(seconds=duration.seconds)


def _check_calendar(text: str) -> str:
    parse_duration(text)
    return text


def _check_seconds(text: str) -> str:
    parse_duration_seconds(text)
    return text


# Counted in seconds.
Duration = Annotated[str, Field(max_length=40), AfterValidator(_check_seconds)]
# Counted on the wall clock of a zone.
CalendarDurationText = Annotated[str, Field(max_length=40), AfterValidator(_check_calendar)]
