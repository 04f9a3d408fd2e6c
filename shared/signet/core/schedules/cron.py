"""Cron expressions of five fields: minute, hour, day of the month, month, day of the week.

The package `cronsim` finds the wall times that an expression names. What it reads beyond the grammar below is
refused here. It knows no clock changes, because it is given wall times without a zone.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated

from cronsim import CronSim, CronSimError
from pydantic import Field

MAX_CRON_CHARACTERS = 100
CronText = Annotated[str, Field(max_length=MAX_CRON_CHARACTERS)]
_NAMED = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_NUMBER = r"[0-9]{1,2}"
_MONTH = rf"(?:{_NUMBER}|JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC)"
_WEEKDAY = r"(?:[0-7]|SUN|MON|TUE|WED|THU|FRI|SAT)"


@dataclass(frozen=True, slots=True)
class _CronField:
    name: str
    values: str
    pattern: re.Pattern[str]


def _make_field(name: str, values: str, value: str, special: str = "") -> _CronField:
    step = rf"/{_NUMBER}"
    item = rf"(?:{special}{value}(?:-{value}(?:{step})?)?)"
    return _CronField(name, values, re.compile(rf"\*(?:{step})?|{item}(?:,{item})*"))


_FIELDS = (
    _make_field("minute", "0 to 59", _NUMBER),
    _make_field("hour", "0 to 23", _NUMBER),
    _make_field("day-of-month", "1 to 31, L or LW, in one of its months", _NUMBER, "LW?|"),
    _make_field("month", "1 to 12, or JAN to DEC", _MONTH),
    _make_field("day-of-week", "0 to 7, SUN to SAT, MON#2 or 5L", _WEEKDAY, f"[0-7]L|{_WEEKDAY}#[1-5]|"),
)
# Any expression that ever names a time does so from here on within the years that cronsim looks through.
_SOME_DAY = datetime.fromisoformat("2000-01-01")


@dataclass(frozen=True, slots=True)
class Cron:
    """A cron expression that names some time, in capitals with single blanks."""

    text: str

    @property
    def has_fixed_hour(self) -> bool:
        """Return whether its hours are named, and not all of them or one in so many."""
        hour = self.text.split()[1]
        return "*" not in hour and "/" not in hour

    def list_wall_times(self, first: datetime) -> Iterator[datetime]:
        """List the wall times that the expression names, from the first on, until 50 years have none."""
        before = first - timedelta(microseconds=1)
        try:
            yield from CronSim(self.text, before)
        except OverflowError:  # the end of the calendar
            return


@dataclass(frozen=True, slots=True)
class CronProblem:
    """The reason why a text is no cron expression, and the remedy."""

    problem: str
    remedy: str


def parse_cron(text: str) -> Cron | CronProblem:
    """Return the expression, or what is wrong with it.

    Where neither the day of the month nor the day of the week begins with `*`, a day fits that fits one of
    them. Otherwise it must fit both. That is the rule of cron.
    """
    if len(text) > MAX_CRON_CHARACTERS or not text.isascii():
        return CronProblem(
            "it is too long, or has other letters than A to Z",
            f"Write at most {MAX_CRON_CHARACTERS} characters of ASCII.",
        )
    fields = _NAMED.get(text.strip().lower(), text).upper().split()
    if len(fields) != len(_FIELDS):
        return CronProblem(
            f"it has {len(fields)} field(s)",
            "Write five: minute, hour, day-of-month, month, day-of-week; or a name such as @daily.",
        )
    for field, part in zip(_FIELDS, fields, strict=True):
        if field.pattern.fullmatch(part) is None:
            return _refuse(field, part)
    cron = Cron(" ".join(fields))
    # A day of the month that never comes is refused also where a day of the week would do.
    days_of_month = Cron(" ".join([*fields[:-1], "*"]))
    try:
        if any(next(days.list_wall_times(_SOME_DAY), None) is None for days in (cron, days_of_month)):
            return CronProblem("no day ever fits it", "Name a day that exists.")
    except CronSimError as error:
        (index,) = (i for i, field in enumerate(_FIELDS) if str(error) == f"Bad {field.name}")
        return _refuse(_FIELDS[index], fields[index])
    return cron


def _refuse(field: _CronField, part: str) -> CronProblem:
    return CronProblem(
        f"its {field.name} cannot be '{part.lower()}'",
        f"Write {field.values}; a range 1-5, a list 1,3, or a step */2 or 1-5/2 of them.",
    )
