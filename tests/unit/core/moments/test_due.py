"""The ends of waits: durations on the wall clock, dates and moments."""

from datetime import UTC, datetime, time

import pytest

from signet.core.moments.due import LAST_MOMENT, add_duration, find_until, is_until_text
from signet.core.moments.durations import parse_duration
from signet.zones import find_zone

BERLIN = find_zone("Europe/Berlin")


@pytest.mark.parametrize(
    ("begins", "duration", "due"),
    [
        # A day of 23 hours, and one of 25; hours are hours.
        ("2026-03-28T12:00+01:00", "P1D", "2026-03-29T12:00+02:00"),
        ("2026-03-28T12:00+01:00", "PT24H", "2026-03-29T13:00+02:00"),
        ("2026-10-24T12:00+02:00", "P1D", "2026-10-25T12:00+01:00"),
        ("2026-10-24T12:00+02:00", "P1W", "2026-10-31T12:00+01:00"),
        # In the gap it ends with the gap, and of two it is the first.
        ("2026-03-28T02:30+01:00", "P1D", "2026-03-29T03:00+02:00"),
        ("2026-10-24T02:30+02:00", "P1D", "2026-10-25T02:30+02:00"),
        # Hours alone do not go over the wall clock.
        ("2026-10-25T02:30+01:00", "PT1H", "2026-10-25T03:30+01:00"),
        ("2026-10-25T02:30+02:00", "PT1H", "2026-10-25T02:30+01:00"),
        ("2026-10-25T02:30+01:00", "PT1S", "2026-10-25T02:30:01+01:00"),
        # The end of the month clamps, and what is clamped stays so.
        ("2026-01-31T09:00+01:00", "P1M", "2026-02-28T09:00+01:00"),
        ("2028-01-31T09:00+01:00", "P1M", "2028-02-29T09:00+01:00"),
        ("2028-02-29T09:00+01:00", "P1Y", "2029-02-28T09:00+01:00"),
        ("2026-01-31T09:00+01:00", "P1M1D", "2026-03-01T09:00+01:00"),
        ("2026-12-15T09:00+01:00", "P1M", "2027-01-15T09:00+01:00"),
        ("2026-11-30T09:00+01:00", "P3M", "2027-02-28T09:00+01:00"),
        # Months and days first, then hours: 12:00 of the next day, and two hours over the change.
        ("2026-03-28T01:00+01:00", "P1DT2H", "2026-03-29T04:00+02:00"),
        # The day before in UTC is the day of the zone.
        ("2026-01-30T23:30+00:00", "P1M", "2026-02-27T23:30+00:00"),
    ],
)
def test_a_duration_is_added(begins: str, duration: str, due: str) -> None:
    found = add_duration(datetime.fromisoformat(begins), parse_duration(duration), BERLIN)
    assert (found, found.tzinfo) == (datetime.fromisoformat(due), UTC)


def test_the_calendar_ends() -> None:
    late = datetime(9999, 12, 31, 12, tzinfo=UTC)
    for duration in ("P1Y", "P1D", "PT24H"):
        assert add_duration(late, parse_duration(duration), BERLIN) == LAST_MOMENT


@pytest.mark.parametrize(
    ("text", "at", "due"),
    [
        ("2026-07-01", time(), "2026-06-30T22:00+00:00"),
        ("2026-07-01", time(9, 30), "2026-07-01T07:30+00:00"),
        ("2026-03-29", time(2, 30), "2026-03-29T01:00+00:00"),
        ("2026-10-25", time(2, 30), "2026-10-25T00:30+00:00"),
        # A moment is the same in any zone and at any time of the day.
        ("2026-07-01T12:00:00Z", time(9), "2026-07-01T12:00+00:00"),
        ("2026-07-01T12:00:00.5+02:00", time(9), "2026-07-01T10:00:00.500000+00:00"),
    ],
)
def test_until_a_date_or_a_moment(text: str, at: time, due: str) -> None:
    assert is_until_text(text)
    assert find_until(text, BERLIN, at) == datetime.fromisoformat(due)


@pytest.mark.parametrize(
    "text", ["", "soon", "2026-02-29", "2026-7-1", "2026-07-01T12:00:00", "20260701", "None"]
)
def test_other_text_is_no_date(text: str) -> None:
    assert not is_until_text(text)
    assert find_until(text, BERLIN) is None


def test_dates_at_the_ends_of_the_calendar() -> None:
    west, east = find_zone("America/New_York"), find_zone("Asia/Tokyo")
    assert find_until("9999-12-31", west, time(23)) == LAST_MOMENT
    assert find_until("0001-01-01", east) is None
    assert find_until("9999-12-31", east) == datetime(9999, 12, 30, 15, tzinfo=UTC)
