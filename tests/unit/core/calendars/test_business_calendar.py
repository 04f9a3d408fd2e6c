"""Hours, times and dates as authors write them."""

from datetime import date

import pytest

from signet.core.calendars.business_calendar import (
    CoveredYears,
    WorkingSpan,
    cut_hours,
    fits_years,
    parse_day,
    parse_span,
    parse_time,
)


@pytest.mark.parametrize(
    ("written", "span"),
    [("09:00-17:30", (540, 1050)), ("00:00-24:00", (0, 1440)), ("23:59-24:00", (1439, 1440))],
)
def test_hours_are_minutes_of_one_day(written: str, span: tuple[int, int]) -> None:
    assert parse_span(written) == span


@pytest.mark.parametrize(
    "written",
    [
        "22:00-06:00",
        "09:00-09:00",
        "9:00-17:00",
        "09:60-17:00",
        "09:00-17:60",
        "09:00-24:01",
        "09:00 - 17:00",
    ],
)
def test_hours_over_midnight_and_other_texts_are_refused(written: str) -> None:
    with pytest.raises(ValueError, match="over midnight they are two"):
        parse_span(written)


@pytest.mark.parametrize("written", [None, 9, ["09:00-17:00"]])
def test_hours_are_text(written: object) -> None:
    with pytest.raises(ValueError, match="wants hours"):
        parse_span(written)


def test_a_time_is_a_minute_of_the_day() -> None:
    assert (parse_time("12:30"), parse_time("24:00")) == (750, 1440)


@pytest.mark.parametrize("written", [None, 750, "12.30", "12:60", "25:00"])
def test_other_times_are_refused(written: object) -> None:
    with pytest.raises(ValueError, match=r"such as 12:30"):
        parse_time(written)


def test_a_date_is_one_that_exists() -> None:
    assert parse_day("2028-02-29") == parse_day(date(2028, 2, 29)) == date(2028, 2, 29)


@pytest.mark.parametrize("written", [None, 20261225, "2026-02-29", "25.12.2026", "2026-12-25T00:00:00"])
def test_other_dates_are_refused(written: object) -> None:
    with pytest.raises(ValueError, match="wants a date that exists"):
        parse_day(written)


def test_a_half_day_keeps_what_lies_before_its_end() -> None:
    spans = (WorkingSpan(540, 720), WorkingSpan(780, 1020))
    assert cut_hours(spans, 600) == (WorkingSpan(540, 600),)
    assert cut_hours(spans, 780) == (WorkingSpan(540, 720),)
    assert cut_hours(spans, 900) == (WorkingSpan(540, 720), WorkingSpan(780, 900))
    assert cut_hours(spans, 540) == ()


@pytest.mark.parametrize(
    ("first", "last", "fits"),
    [(2026, 2026, True), (2026, 2045, True), (2026, 2046, False), (2027, 2026, False)],
)
def test_the_years_are_at_most_twenty(first: int, last: int, fits: bool) -> None:
    assert fits_years(CoveredYears(first=first, last=last)) is fits
