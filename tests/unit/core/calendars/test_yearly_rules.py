"""Yearly rules, beside what dateutil makes of them."""

from datetime import date, datetime
from typing import Any

import pytest
from dateutil.rrule import rrulestr  # type: ignore[import-untyped]
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from signet.core.calendars.yearly_rules import (
    RuleProblem,
    YearlyRule,
    list_rule_dates,
    list_rule_years,
    parse_rule,
)


def parse(value: str) -> YearlyRule:
    rule = parse_rule(value, date.fromisoformat)
    assert isinstance(rule, YearlyRule), rule
    return rule


def expand(value: str, start: date, first: int = 2026, last: int = 2030) -> list[date]:
    rule = parse(value)
    found = list_rule_dates(rule, start, list_rule_years(rule, start, first, last))
    return [day for day in found if first <= day.year <= last]


CASES = [
    (
        "FREQ=YEARLY",
        date(2020, 12, 25),
        ["2026-12-25", "2027-12-25", "2028-12-25", "2029-12-25", "2030-12-25"],
    ),
    ("FREQ=YEARLY", date(2020, 2, 29), ["2028-02-29"]),
    ("FREQ=YEARLY;INTERVAL=2", date(2021, 5, 1), ["2027-05-01", "2029-05-01"]),
    ("FREQ=YEARLY;COUNT=3", date(2025, 5, 1), ["2026-05-01", "2027-05-01"]),
    ("FREQ=YEARLY;UNTIL=20280501", date(2025, 5, 1), ["2026-05-01", "2027-05-01", "2028-05-01"]),
    ("FREQ=YEARLY;UNTIL=20280430", date(2025, 5, 1), ["2026-05-01", "2027-05-01"]),
    ("FREQ=YEARLY;BYMONTH=11;BYDAY=4TH;COUNT=2", date(2026, 11, 26), ["2026-11-26", "2027-11-25"]),
    ("FREQ=YEARLY;BYMONTH=5;BYDAY=-1MO;COUNT=2", date(2026, 5, 25), ["2026-05-25", "2027-05-31"]),
    ("FREQ=YEARLY;BYMONTH=5;BYDAY=MO;BYSETPOS=-1;COUNT=2", date(2026, 5, 25), ["2026-05-25", "2027-05-31"]),
    (
        "FREQ=YEARLY;BYMONTH=1;BYDAY=MO,2FR;COUNT=3",
        date(2026, 1, 5),
        ["2026-01-05", "2026-01-09", "2026-01-12"],
    ),
    # The day after the first Monday of November.
    (
        "FREQ=YEARLY;BYMONTH=11;BYMONTHDAY=2,3,4,5,6,7,8;BYDAY=TU;COUNT=2",
        date(2026, 11, 3),
        ["2026-11-03", "2027-11-02"],
    ),
    ("FREQ=YEARLY;BYDAY=1MO;COUNT=2", date(2026, 1, 5), ["2026-01-05", "2027-01-04"]),
    ("FREQ=YEARLY;BYDAY=-1FR;COUNT=2", date(2026, 12, 25), ["2026-12-25", "2027-12-31"]),
    (
        "FREQ=YEARLY;BYMONTHDAY=-1;BYMONTH=2;COUNT=3",
        date(2026, 2, 28),
        ["2026-02-28", "2027-02-28", "2028-02-29"],
    ),
    ("FREQ=YEARLY;BYMONTH=3,6;COUNT=3;WKST=MO", date(2026, 3, 8), ["2026-03-08", "2026-06-08", "2027-03-08"]),
    ("freq=yearly;bymonth=2;bymonthday=30", date(2026, 1, 1), []),
]


@pytest.mark.parametrize(("rule", "start", "dates"), CASES)
def test_a_rule_gives_its_dates(rule: str, start: date, dates: list[str]) -> None:
    assert [day.isoformat() for day in expand(rule, start)] == dates


NAMES = st.sampled_from(["MO", "TU", "WE", "TH", "FR", "SA", "SU"])
NUMBERED = st.builds("{}{}".format, st.integers(-5, 5).filter(bool), NAMES)
# Of MO,1MO dateutil gives what both allow; the standard wants what either gives.
WEEKDAYS = st.lists(NAMES, min_size=1, max_size=3) | st.lists(NUMBERED, min_size=1, max_size=3)
PARTS = st.fixed_dictionaries(
    {},
    optional={
        "INTERVAL": st.integers(1, 4).map(str),
        "BYMONTH": st.lists(st.integers(1, 12).map(str), min_size=1, max_size=3).map(",".join),
        "BYMONTHDAY": st.lists(st.integers(-31, 31).filter(bool).map(str), min_size=1, max_size=3).map(
            ",".join
        ),
        "BYDAY": WEEKDAYS.map(",".join),
        "BYSETPOS": st.lists(
            st.integers(-4, 4).filter(bool).map(str), min_size=1, max_size=2, unique=True
        ).map(",".join),
    },
)
STARTS = st.dates(date(2018, 1, 1), date(2026, 12, 31))


@given(PARTS, STARTS, st.none() | st.integers(1, 6), st.integers(2019, 2029))
@settings(max_examples=200, deadline=None)
def test_a_rule_gives_what_dateutil_gives(
    parts: dict[str, str], start: date, count: int | None, until: int
) -> None:
    # Without other parts dateutil takes a position for one of the times of a day.
    assume("BYSETPOS" not in parts or parts.keys() - {"INTERVAL", "BYSETPOS"})
    rule = ";".join(["FREQ=YEARLY", *(f"{key}={value}" for key, value in parts.items())])
    peer: Any = rrulestr(rule, dtstart=datetime.combine(start, datetime.min.time()))
    with pytest.MonkeyPatch.context() as patch:
        # An end for dateutil, which looks up to the year 9999 for a date that never comes.
        patch.setattr("datetime.MAXYEAR", 2029)
        wanted = [each.date() for each in peer][:count]
    if count is None:
        wanted = [day for day in wanted if day <= date(until, 6, 15)]
    end = f"UNTIL={until}0615" if count is None else f"COUNT={count}"
    assert expand(f"{rule};{end}", start, 2018, 2029) == wanted


@pytest.mark.parametrize(
    ("value", "code", "part"),
    [
        ("FREQ=MONTHLY", "ICS_RULE_UNSUPPORTED", "FREQ"),
        ("BYMONTH=1", "ICS_RULE_UNSUPPORTED", "FREQ"),
        ("FREQ=YEARLY;BYWEEKNO=1", "ICS_RULE_UNSUPPORTED", "BYWEEKNO"),
        ("FREQ=YEARLY;BYYEARDAY=1", "ICS_RULE_UNSUPPORTED", "BYYEARDAY"),
        ("FREQ=YEARLY;BYSECOND=1", "ICS_RULE_UNSUPPORTED", "BYSECOND"),
        ("FREQ=YEARLY;", "ICS_RULE_UNSUPPORTED", ""),
        ("FREQ=YEARLY;FREQ=YEARLY", "ICS_RULE_INVALID", "FREQ=YEARLY"),
        ("FREQ=YEARLY;COUNT=1;UNTIL=20260101", "ICS_RULE_INVALID", "COUNT and UNTIL"),
        ("FREQ=YEARLY;COUNT=0", "ICS_RULE_INVALID", "COUNT=0"),
        ("FREQ=YEARLY;COUNT=99999999999999999999", "ICS_RULE_INVALID", "COUNT=99999999999999999999"),
        ("FREQ=YEARLY;INTERVAL=-1", "ICS_RULE_INVALID", "INTERVAL=-1"),
        ("FREQ=YEARLY;INTERVAL=401", "ICS_RULE_INVALID", "INTERVAL=401"),
        ("FREQ=YEARLY;BYMONTH=1,13", "ICS_RULE_INVALID", "BYMONTH=1,13"),
        ("FREQ=YEARLY;BYMONTH=", "ICS_RULE_INVALID", "BYMONTH="),
        ("FREQ=YEARLY;BYMONTHDAY=0", "ICS_RULE_INVALID", "BYMONTHDAY=0"),
        ("FREQ=YEARLY;BYMONTHDAY=-32", "ICS_RULE_INVALID", "BYMONTHDAY=-32"),
        ("FREQ=YEARLY;BYDAY=XX", "ICS_RULE_INVALID", "BYDAY=XX"),
        ("FREQ=YEARLY;BYDAY=0MO", "ICS_RULE_INVALID", "BYDAY=0MO"),
        ("FREQ=YEARLY;BYDAY=54MO", "ICS_RULE_INVALID", "BYDAY=54MO"),
        ("FREQ=YEARLY;BYSETPOS=367", "ICS_RULE_INVALID", "BYSETPOS=367"),
        ("FREQ=YEARLY;UNTIL=x", "ICS_RULE_INVALID", "UNTIL=X"),
    ],
)
def test_other_rules_are_refused_with_the_part(value: str, code: str, part: str) -> None:
    def read_until(written: str) -> date | None:
        return None if written == "X" else date.fromisoformat(written)

    assert parse_rule(value, read_until) == RuleProblem(code, part)


def test_years_without_a_count_begin_where_they_are_wanted() -> None:
    rule = parse("FREQ=YEARLY;INTERVAL=3")
    assert list(list_rule_years(rule, date(1600, 1, 1), 2026, 2030)) == [2026, 2029]
    assert list(list_rule_years(rule, date(2027, 1, 1), 2026, 2030)) == [2027, 2030]
    assert list_rule_years(parse("FREQ=YEARLY;COUNT=2"), date(2020, 1, 1), 2026, 2027)[0] == 2020
