"""Yearly rules of iCalendar (RFC 5545, 3.3.10): what files of holidays use, and nothing else."""

import re
from calendar import monthrange
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType
from typing import Any, NamedTuple

MAX_INTERVAL = 400
MAX_COUNT = 10_000
_WEEKDAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_WEEKDAY = re.compile(r"([+-]?[0-9]{1,2})?(MO|TU|WE|TH|FR|SA|SU)")
_NUMBER = re.compile(r"[+-]?[0-9]{1,5}")
_DAYS_OF_A_YEAR = 366


@dataclass(frozen=True, slots=True)
class YearlyRule:
    """A rule with FREQ=YEARLY. What is empty restricts nothing."""

    interval: int = 1
    count: int | None = None
    until: date | None = None
    months: frozenset[int] = frozenset()
    month_days: frozenset[int] = frozenset()
    # (0, 3) is each Thursday, (4, 3) the fourth, (-1, 3) the last.
    weekdays: frozenset[tuple[int, int]] = frozenset()
    positions: frozenset[int] = frozenset()


class RuleProblem(NamedTuple):
    code: str
    part: str


def parse_rule(value: str, parse_until: Callable[[str], date | None]) -> YearlyRule | RuleProblem:
    """Return the rule, or its first part that is wrong or that is not understood here."""
    parts: dict[str, str] = {}
    for part in value.upper().split(";"):
        key, _, written = part.partition("=")
        if key in parts:
            return RuleProblem("ICS_RULE_INVALID", part)
        parts[key] = written
    if parts.pop("FREQ", None) != "YEARLY":
        return RuleProblem("ICS_RULE_UNSUPPORTED", "FREQ")
    parts.pop("WKST", None)  # matters to numbers of weeks alone
    fields: dict[str, Any] = {}
    for key, written in parts.items():
        if key == "UNTIL":
            read: Any = parse_until(written)
        elif key in _READERS:
            read = _READERS[key](written)
        else:
            return RuleProblem("ICS_RULE_UNSUPPORTED", key)
        if read is None:
            return RuleProblem("ICS_RULE_INVALID", f"{key}={written}")
        fields[_FIELDS[key]] = read
    if len(fields.keys() & {"count", "until"}) == 2:
        return RuleProblem("ICS_RULE_INVALID", "COUNT and UNTIL")
    return YearlyRule(**fields)


def list_rule_years(rule: YearlyRule, start: date, first: int, last: int) -> range:
    """Return the years to look at for dates from `first` to `last`. A count begins with the start."""
    begin = start.year
    if rule.count is None and begin < first:
        begin += -(-(first - begin) // rule.interval) * rule.interval
    return range(begin, last + 1, rule.interval)


def list_rule_dates(rule: YearlyRule, start: date, years: range) -> Iterator[date]:
    """Yield the dates of the rule in these years, in their order."""
    left = rule.count
    for year in years:
        for day in _list_year(rule, start, year):
            if day < start:
                continue
            if left == 0 or (rule.until is not None and day > rule.until):
                return
            left = None if left is None else left - 1
            yield day


def _list_year(rule: YearlyRule, start: date, year: int) -> list[date]:
    names_days = bool(rule.month_days or rule.weekdays)
    months = rule.months or (range(1, 13) if names_days else {start.month})
    month_days = rule.month_days if names_days else {start.day}
    days = [
        date(year, month, day)
        for month in sorted(months)
        for day in range(1, monthrange(year, month)[1] + 1)
        if _fits_month_day(date(year, month, day), month_days) and _fits_weekday(date(year, month, day), rule)
    ]
    if not rule.positions:
        return days
    count = len(days)
    return [day for at, day in enumerate(days) if {at + 1, at - count} & rule.positions]


def _fits_month_day(day: date, month_days: frozenset[int] | set[int]) -> bool:
    length = monthrange(day.year, day.month)[1]
    return not month_days or day.day in month_days or day.day - length - 1 in month_days


def _fits_weekday(day: date, rule: YearlyRule) -> bool:
    """Return whether the weekday fits; the fourth one is of its month where the rule names months."""
    if not rule.weekdays:
        return True
    if rule.months:
        position, length = day.day, monthrange(day.year, day.month)[1]
    else:
        position, length = day.timetuple().tm_yday, date(day.year, 12, 31).timetuple().tm_yday
    numbers = (0, (position + 6) // 7, -((length - position) // 7 + 1))
    return any((number, day.weekday()) in rule.weekdays for number in numbers)


def _read_number(lowest: int, highest: int, *, may_be_negative: bool = False) -> Callable[[str], int | None]:
    def read(written: str) -> int | None:
        if not _NUMBER.fullmatch(written):
            return None
        number = int(written)
        fits = lowest <= (abs(number) if may_be_negative else number) <= highest
        return number if fits else None

    return read


def _read_numbers(highest: int, *, may_be_negative: bool) -> Callable[[str], frozenset[int] | None]:
    read = _read_number(1, highest, may_be_negative=may_be_negative)

    def read_all(written: str) -> frozenset[int] | None:
        numbers = [read(part) for part in written.split(",")]
        known = frozenset(number for number in numbers if number is not None)
        return None if None in numbers else known

    return read_all


def _read_weekdays(written: str) -> frozenset[tuple[int, int]] | None:
    found = set[tuple[int, int]]()
    for part in written.split(","):
        match = _WEEKDAY.fullmatch(part)
        number = int(match[1] or 0) if match else 0
        if match is None or abs(number) > 53 or (match[1] and not number):
            return None
        found.add((number, _WEEKDAYS.index(match[2])))
    return frozenset(found)


_READERS: Mapping[str, Callable[[str], object]] = MappingProxyType(
    {
        "INTERVAL": _read_number(1, MAX_INTERVAL),
        "COUNT": _read_number(1, MAX_COUNT),
        "BYMONTH": _read_numbers(12, may_be_negative=False),
        "BYMONTHDAY": _read_numbers(31, may_be_negative=True),
        "BYDAY": _read_weekdays,
        "BYSETPOS": _read_numbers(_DAYS_OF_A_YEAR, may_be_negative=True),
    }
)
_FIELDS: Mapping[str, str] = MappingProxyType(
    {
        "INTERVAL": "interval",
        "COUNT": "count",
        "UNTIL": "until",
        "BYMONTH": "months",
        "BYMONTHDAY": "month_days",
        "BYDAY": "weekdays",
        "BYSETPOS": "positions",
    }
)
