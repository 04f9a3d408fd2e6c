"""Working time: tables of cases, and properties against an oracle that counts minutes by the zone's clock."""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from signet.core.calendars.working_time import (
    add_working_time,
    find_closing,
    find_opening,
    is_open,
    measure_working_time,
    subtract_working_time,
)
from signet.core.errors import Defect, Rejected
from tests.support.core.calendars import (
    MINUTE,
    OFFICE,
    WEEKDAYS,
    at,
    count_open_minutes,
    find_by_minutes,
    list_clock_changes,
    make_calendar,
    shows_open,
    vary,
)

OFFICE_CALENDAR = make_calendar()
HOUR = timedelta(hours=1)
# Changes by an hour, by half an hour and by two; at midnight into the next date, and back into the last.
ZONES = (
    "Europe/Berlin",
    "Australia/Lord_Howe",
    "Antarctica/Troll",
    "America/Havana",
    "America/Nuuk",
    "Africa/Cairo",
    "Africa/Casablanca",
)
ALWAYS = {day: ["00:00-24:00"] for day in ("monday", "wednesday", "saturday", "sunday")}
NIGHTS = {
    day: ["00:00-00:30", "01:15-02:45", "22:00-24:00"]
    for day in ("monday", "tuesday", "thursday", "friday", "saturday", "sunday")
}
HOURS = ({**OFFICE["hours"], "sunday": ["01:30-04:00", "04:00-06:00"]}, ALWAYS, NIGHTS)
YEAR = (datetime(2026, 1, 1, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC))
CHANGES = {zone: list(list_clock_changes(zone, *YEAR)) for zone in ZONES}


@st.composite
def scenes(draw: st.DrawFn) -> tuple[dict[str, Any], datetime]:
    """Draw a calendar and a minute within some days of a change of its clock."""
    zone = draw(st.sampled_from(ZONES))
    change = draw(st.sampled_from(CHANGES[zone]))
    start = change + draw(st.integers(-3 * 24 * 60, 24 * 60)) * MINUTE
    day = (change + draw(st.integers(-2, 2)) * 24 * HOUR).date().isoformat()
    entries: dict[str, list[Any]] = {"holidays": [], "half_days": [], "worked_days": []}
    kind = draw(st.sampled_from((*entries, "none")))
    hours = draw(st.sampled_from(HOURS))
    weekday = WEEKDAYS[date.fromisoformat(day).weekday()]
    if kind == "holidays":
        entries[kind] = [{"date": day, "name": "x"}]
    if kind == "worked_days":
        entries[kind] = [{"date": day, "name": "x", "hours": ["00:30-03:30"]}]
    if kind == "half_days" and weekday in hours:
        until = draw(st.sampled_from(["02:00", "02:40"])) if hours[weekday][0] < "02" else "10:30"
        entries[kind] = [{"date": day, "name": "x", "until": until}]
    return vary(zone=zone, hours=hours, **entries), start


@given(scenes(), st.integers(0, 40 * 60))
@settings(max_examples=100, deadline=None)
def test_added_time_ends_where_the_oracle_has_counted_it(
    scene: tuple[dict[str, Any], datetime], amount: int
) -> None:
    document, start = scene
    found = add_working_time(make_calendar(document), start, amount * MINUTE)
    assert found == find_by_minutes(document, start, amount)


@given(scenes(), st.integers(0, 6 * 24 * 60))
@settings(max_examples=30, deadline=None)
def test_working_time_is_what_the_oracle_counts(scene: tuple[dict[str, Any], datetime], length: int) -> None:
    document, start = scene
    calendar, end = make_calendar(document), start + length * MINUTE
    counted = count_open_minutes(document, start, end) * MINUTE
    assert measure_working_time(calendar, start, end) == counted
    assert measure_working_time(calendar, end, start) == -counted


@given(scenes())
@settings(max_examples=40, deadline=None)
def test_openings_are_those_of_the_oracle(scene: tuple[dict[str, Any], datetime]) -> None:
    document, start = scene
    calendar, moment = make_calendar(document), start
    assert is_open(calendar, start) is shows_open(document, start)
    while not shows_open(document, moment):
        moment += MINUTE
    assert find_opening(calendar, start) == moment
    moment = start
    while not shows_open(document, moment - MINUTE):
        moment -= MINUTE
    assert find_closing(calendar, start) == moment


@given(scenes(), st.integers(1, 3 * 10**9))
@settings(max_examples=100, deadline=None)
def test_what_is_added_is_taken_away_again(scene: tuple[dict[str, Any], datetime], amount: int) -> None:
    """It leads to the same moment, or to the opening that came after it, where time began to count."""
    document, start = scene
    calendar, term = make_calendar(document), timedelta(microseconds=amount * 13)
    due = add_working_time(calendar, start, term)
    assert measure_working_time(calendar, start, due) == term
    assert subtract_working_time(calendar, due, term) == find_opening(calendar, start)
    begin = subtract_working_time(calendar, start, term)
    assert measure_working_time(calendar, begin, start) == term
    assert add_working_time(calendar, begin, term) == find_closing(calendar, start)


@given(scenes(), st.integers(0, 3_000), st.integers(0, 3_000), st.integers(0, 600))
@settings(max_examples=100, deadline=None)
def test_later_starts_and_longer_terms_never_end_earlier(
    scene: tuple[dict[str, Any], datetime], later: int, amount: int, more: int
) -> None:
    document, start = scene
    calendar = make_calendar(document)
    due = add_working_time(calendar, start, amount * MINUTE)
    assert start <= due <= add_working_time(calendar, start + later * MINUTE, amount * MINUTE)
    assert due <= add_working_time(calendar, start, (amount + more) * MINUTE)
    assert add_working_time(calendar, due, more * MINUTE) >= due
    if amount:
        whole = add_working_time(calendar, start, (amount + more) * MINUTE)
        assert add_working_time(calendar, due, more * MINUTE) == whole


@given(
    st.datetimes(datetime.fromisoformat("2026-02-01"), datetime.fromisoformat("2027-11-01")),
    st.integers(-9_000, 9_000),
)
@example(datetime.fromisoformat("2026-12-24T12:00"), 1)
def test_a_negative_amount_goes_the_other_way(start: datetime, amount: int) -> None:
    moment = start.replace(tzinfo=UTC)
    added = add_working_time(OFFICE_CALENDAR, moment, amount * MINUTE)
    assert added == subtract_working_time(OFFICE_CALENDAR, moment, -amount * MINUTE)


def test_each_kind_of_clock_change_counts_as_the_clock_shows_it() -> None:
    """It tries all zones with a change in 2026; changes that look alike are tried once."""
    tried = set[tuple[Any, ...]]()
    for zone in sorted(available_timezones()):
        here = ZoneInfo(zone)
        for change in list_clock_changes(zone, *YEAR):
            before, after = change.astimezone(here), (change + HOUR).astimezone(here)
            kind = (before.strftime("%A %H:%M"), before.utcoffset(), after.utcoffset())
            if kind in tried:
                continue
            tried.add(kind)
            document = vary(zone=zone, hours={**ALWAYS, **NIGHTS}, holidays=[], half_days=[], worked_days=[])
            start, end = change - 5 * HOUR, change + 6 * HOUR
            counted = count_open_minutes(document, start, end) * MINUTE
            assert measure_working_time(make_calendar(document), start, end) == counted, zone
    assert len(tried) > 20


CASES = [
    # In the hours, over the noon of a Monday, to the very end of a day, and a minute beyond.
    ("2026-12-21 10:00", 2 * HOUR, "2026-12-21 12:00"),
    ("2026-12-21 10:00", 2 * HOUR + MINUTE, "2026-12-21 13:01"),
    ("2026-12-21 10:00", 6 * HOUR, "2026-12-21 17:00"),
    ("2026-12-21 10:00", 6 * HOUR + MINUTE, "2026-12-22 09:01"),
    # It begins before hours, after hours, on a Sunday, on a holiday.
    ("2026-12-22 05:00", HOUR, "2026-12-22 10:00"),
    ("2026-12-22 19:00", HOUR, "2026-12-23 10:00"),
    ("2026-12-27 11:00", HOUR, "2026-12-28 10:00"),
    ("2026-12-25 11:00", HOUR, "2026-12-26 11:00"),
    # Over the half day, the holiday and the Saturday that is worked.
    ("2026-12-24 11:00", 2 * HOUR, "2026-12-26 11:00"),
    ("2026-12-24 11:00", 6 * HOUR, "2026-12-28 10:00"),
    ("2026-12-31 16:00", 2 * HOUR, "2027-01-04 10:00"),
    # Nothing is added to a moment that is no working time.
    ("2026-12-25 11:00", 0 * HOUR, "2026-12-25 11:00"),
]


@pytest.mark.parametrize(("start", "amount", "due"), CASES)
def test_working_time_of_the_office(start: str, amount: timedelta, due: str) -> None:
    assert add_working_time(OFFICE_CALENDAR, at(start), amount) == at(due)


@pytest.mark.parametrize(
    ("moment", "is_working"),
    [
        ("2026-12-22 08:59:59.999999", False),
        ("2026-12-22 09:00", True),
        ("2026-12-22 16:59:59.999999", True),
        ("2026-12-22 17:00", False),
        ("2026-12-24 12:00", False),
        ("2026-12-25 10:00", False),
        ("2026-12-26 10:00", True),
    ],
)
def test_the_opening_is_working_time_and_the_closing_is_not(moment: str, is_working: bool) -> None:
    assert is_open(OFFICE_CALENDAR, at(moment)) is is_working


def test_a_skipped_hour_counts_never_and_a_repeated_one_twice() -> None:
    calendar = make_calendar(vary(hours={"sunday": ["01:00-05:00"]}, half_days=[]))
    for day, hours in (("2026-03-22", 4), ("2026-03-29", 3), ("2026-10-25", 5)):
        assert measure_working_time(calendar, at(f"{day} 00:00"), at(f"{day} 12:00")) == hours * HOUR


def test_a_start_between_minutes_is_kept() -> None:
    start = at("2026-12-22 09:00:00.000007")
    assert add_working_time(OFFICE_CALENDAR, start, HOUR) == start + HOUR


@pytest.mark.parametrize(
    "ask",
    [
        lambda calendar: add_working_time(calendar, at("2027-12-31 10:00"), 100 * HOUR),
        lambda calendar: subtract_working_time(calendar, at("2026-01-02 10:00"), 100 * HOUR),
        lambda calendar: find_opening(calendar, at("2027-12-31 18:00")),
        lambda calendar: find_closing(calendar, at("2026-01-01 01:00")),
        lambda calendar: is_open(calendar, at("2028-01-03 10:00")),
        lambda calendar: add_working_time(calendar, at("2025-12-31 10:00"), HOUR),
        lambda calendar: measure_working_time(calendar, at("2027-12-31 10:00"), at("2028-01-01 00:01")),
    ],
)
def test_nothing_is_computed_outside_of_the_years(ask: Callable[[Any], object]) -> None:
    with pytest.raises(Rejected) as refusal:
        ask(OFFICE_CALENDAR)
    assert refusal.value.code == "CALENDAR_YEARS_EXCEEDED"
    assert "office" in refusal.value.message and refusal.value.remedy


def test_the_last_instant_of_the_years_is_in_them() -> None:
    day = at("2027-12-31 00:00"), at("2028-01-01 00:00")
    assert measure_working_time(OFFICE_CALENDAR, *day) == 6 * HOUR


def test_a_calendar_that_is_open_never_again_is_refused_and_does_not_loop() -> None:
    """One worked day is all that it has, and twenty years are the most that it may have."""
    worked = [{"date": "2026-01-05", "name": "x", "hours": ["09:00-10:00"]}]
    document = vary(
        years={"first": 2026, "last": 2045}, hours={}, holidays=[], half_days=[], worked_days=worked
    )
    calendar = make_calendar(document)
    with pytest.raises(Rejected, match="2046-01-01"):
        add_working_time(calendar, at("2026-01-05 09:30"), HOUR)


def test_a_moment_wants_a_zone() -> None:
    with pytest.raises(Defect, match="no time zone"):
        is_open(OFFICE_CALENDAR, datetime.fromisoformat("2026-12-22T09:00"))
