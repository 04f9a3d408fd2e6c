"""Working days over weekends, holidays, half days and changes of the clock."""

from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from signet.core.calendars.working_days import add_working_days, is_working_day, subtract_working_days
from signet.core.calendars.working_time import find_closing, is_open
from signet.core.errors import Defect, Rejected
from tests.support.core.calendars import MINUTE, OFFICE, at, make_calendar, shows_open, vary

CALENDAR = make_calendar()
MOMENTS = st.datetimes(datetime.fromisoformat("2026-02-01"), datetime.fromisoformat("2027-10-01")).map(
    lambda moment: moment.replace(tzinfo=UTC)
)
TWO_DAYS = {"tuesday": ["20:00-24:00"], "thursday": ["00:00-24:00"]}

CASES = [
    # Friday, at any time: Monday, Tuesday, Wednesday.
    ("2026-12-11 10:00", 3, "2026-12-16 17:00"),
    ("2026-12-11 00:00", 3, "2026-12-16 17:00"),
    ("2026-12-11 23:59", 3, "2026-12-16 17:00"),
    # Saturday and Sunday, before hours and after hours.
    ("2026-12-12 10:00", 3, "2026-12-16 17:00"),
    ("2026-12-13 23:59", 3, "2026-12-16 17:00"),
    ("2026-12-14 00:00", 3, "2026-12-17 17:00"),
    ("2026-12-14 18:00", 3, "2026-12-17 17:00"),
    # The half day is one, the holiday is none, the worked Saturday is one.
    ("2026-12-23 10:00", 1, "2026-12-24 12:00"),
    ("2026-12-23 10:00", 2, "2026-12-26 14:00"),
    ("2026-12-23 10:00", 3, "2026-12-28 17:00"),
    ("2026-12-25 10:00", 1, "2026-12-26 14:00"),
    ("2026-12-31 10:00", 1, "2027-01-04 17:00"),
    # Over the night in which the clock is changed.
    ("2026-03-27 10:00", 1, "2026-03-30 17:00"),
    ("2026-10-23 10:00", 1, "2026-10-26 17:00"),
]


@pytest.mark.parametrize(("start", "count", "due"), CASES)
def test_working_days_of_the_office(start: str, count: int, due: str) -> None:
    assert add_working_days(CALENDAR, at(start), count) == at(due)


@pytest.mark.parametrize(
    ("due", "count", "start"),
    [
        ("2026-12-16 17:00", 3, "2026-12-11 09:00"),
        ("2026-12-28 10:00", 1, "2026-12-26 10:00"),
        ("2026-12-28 10:00", 2, "2026-12-24 09:00"),
        ("2026-12-28 10:00", 3, "2026-12-23 09:00"),
    ],
)
def test_working_days_before_a_moment_begin_with_an_opening(due: str, count: int, start: str) -> None:
    assert subtract_working_days(CALENDAR, at(due), count) == at(start)


def count_by_the_oracle(document: dict[str, Any], start: date, end: date) -> int:
    """Count the dates after one up to another on which the zone's clock shows an open minute."""
    count = 0
    for n in range(1, (end - start).days + 1):
        noon = datetime.combine(start + timedelta(days=n), datetime.min.time(), UTC) + timedelta(hours=12)
        day = (start + timedelta(days=n)).isoformat()
        minutes = (noon + m * MINUTE for m in range(-26 * 60, 26 * 60, 15))
        count += any(at_day(document, minute) == day and shows_open(document, minute) for minute in minutes)
    return count


def at_day(document: dict[str, Any], moment: datetime) -> str:
    return moment.astimezone(ZoneInfo(document["zone"])).date().isoformat()


@given(MOMENTS, st.integers(1, 8), st.sampled_from(["Europe/Berlin", "America/Nuuk", "Pacific/Kiritimati"]))
@settings(max_examples=25, deadline=None)
def test_so_many_working_days_are_counted_and_the_last_one_is_over(
    moment: datetime, count: int, zone: str
) -> None:
    document = vary(zone=zone)
    calendar = make_calendar(document)
    due = add_working_days(calendar, moment, count)
    first, last = calendar.read_date(moment), calendar.read_date(due - MINUTE)
    assert count_by_the_oracle(document, first, last) == count
    assert is_working_day(calendar, last)
    assert is_open(calendar, due - MINUTE) and not is_open(calendar, due)


@given(MOMENTS, st.integers(0, 20_000), st.integers(1, 40))
def test_later_starts_and_more_days_never_end_earlier(moment: datetime, later: int, count: int) -> None:
    due = add_working_days(CALENDAR, moment, count)
    assert moment < due <= add_working_days(CALENDAR, moment + later * MINUTE, count)
    assert due < add_working_days(CALENDAR, moment, count + 1)


@given(MOMENTS, st.integers(1, 40), st.sampled_from([OFFICE["hours"], TWO_DAYS]))
@settings(max_examples=60, deadline=None)
def test_what_is_added_is_taken_away_again(moment: datetime, count: int, hours: Any) -> None:
    """It leads to the date of the start, or to the last working day before it."""
    calendar = make_calendar(vary(hours=hours, half_days=[], years={"first": 2026, "last": 2028}))
    due = add_working_days(calendar, moment, count)
    begin = calendar.read_date(subtract_working_days(calendar, due, count))
    day = calendar.read_date(moment)
    while not is_working_day(calendar, day):
        day -= timedelta(days=1)
    assert begin == day


def test_a_day_that_is_open_until_midnight_closes_then() -> None:
    calendar = make_calendar(
        vary(hours={"monday": ["20:00-24:00"], "tuesday": ["00:00-04:00"]}, half_days=[])
    )
    assert add_working_days(calendar, at("2026-12-13 10:00"), 1) == at("2026-12-15 00:00")
    assert subtract_working_days(calendar, at("2026-12-15 00:00"), 1) == at("2026-12-08 00:00")
    assert find_closing(calendar, at("2026-12-15 05:00")) == at("2026-12-15 04:00")


def test_a_date_whose_hours_the_clock_skips_is_no_working_day() -> None:
    calendar = make_calendar(vary(hours={"sunday": ["02:00-03:00"]}, half_days=[]))
    assert is_working_day(calendar, date(2026, 3, 22))
    assert not is_working_day(calendar, date(2026, 3, 29))
    assert add_working_days(calendar, at("2026-03-22 12:00"), 1) == at("2026-04-05 03:00")


def test_the_hour_that_comes_twice_closes_with_its_second_end() -> None:
    calendar = make_calendar(vary(hours={"sunday": ["02:00-03:00"]}, half_days=[]))
    second_end = datetime(2026, 10, 25, 2, tzinfo=UTC)
    assert add_working_days(calendar, at("2026-10-24 12:00"), 1) == second_end


@pytest.mark.parametrize(
    ("moment", "count"), [("2027-12-30 10:00", 2), ("2028-01-02 10:00", 1), ("2025-12-31 23:59", 1)]
)
def test_nothing_is_counted_outside_of_the_years(moment: str, count: int) -> None:
    with pytest.raises(Rejected) as refusal:
        add_working_days(CALENDAR, at(moment), count)
    assert refusal.value.code == "CALENDAR_YEARS_EXCEEDED"


def test_days_before_the_first_year_are_refused() -> None:
    with pytest.raises(Rejected, match="2025-12-31"):
        subtract_working_days(CALENDAR, at("2026-01-05 10:00"), 9)


@pytest.mark.parametrize("count", [0, -1])
def test_working_days_are_counted_from_one_on(count: int) -> None:
    for count_days in (add_working_days, subtract_working_days):
        with pytest.raises(Defect, match="from one on"):
            count_days(CALENDAR, at("2026-12-11 10:00"), count)
