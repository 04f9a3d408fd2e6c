"""Durations: what is read, what is refused, and what each reading of them gives."""

from datetime import timedelta

import pytest

from signet.core.moments.durations import (
    MAX_DURATION_SECONDS,
    CalendarDuration,
    parse_duration,
    parse_duration_seconds,
    parse_elapsed,
)

NONSENSE = [
    "",
    "P",
    "PT",
    "P0D",
    "PT0S",
    "1D",
    "P1W2D",
    "PT1D",
    "P1H",
    "P-1D",
    "P1.5D",
    "p1d",
    "P1D ",
    "P1DT",
    "P１D",
]


@pytest.mark.parametrize(
    ("text", "months", "days", "seconds"),
    [
        ("P1Y", 12, 0, 0),
        ("P1Y2M3DT4H5M6S", 14, 3, 4 * 3_600 + 5 * 60 + 6),
        ("P2W", 0, 14, 0),
        ("PT90M", 0, 0, 5_400),
        ("PT1M", 0, 0, 60),
        ("P1M", 1, 0, 0),
        ("P10Y", 120, 0, 0),
        ("P120M", 120, 0, 0),
        ("P3660D", 0, 3_660, 0),
    ],
)
def test_the_parts_of_a_duration(text: str, months: int, days: int, seconds: int) -> None:
    assert parse_duration(text) == CalendarDuration(months, days, seconds)


@pytest.mark.parametrize("text", [*NONSENSE, "P11Y", "P121M", "P10YT1S", "P3661D", "P523W"])
def test_other_text_is_no_duration(text: str) -> None:
    with pytest.raises(ValueError, match="wants a duration such as"):
        parse_duration(text)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("P1DT2H", 93_600), ("P2W", 1_209_600), ("PT72H", 259_200), ("P3660D", MAX_DURATION_SECONDS)],
)
def test_a_deadline_counts_seconds(text: str, seconds: int) -> None:
    assert parse_duration_seconds(text) == seconds


@pytest.mark.parametrize("text", [*NONSENSE, "P1M", "P1Y", "P1M1D", "P3661D"])
def test_a_deadline_takes_no_months(text: str) -> None:
    with pytest.raises(ValueError, match="such as PT30M, PT72H, P3D or P2W, of at most ten years"):
        parse_duration_seconds(text)


def test_an_interval_takes_what_is_as_long_on_each_day() -> None:
    assert parse_elapsed("PT90M") == timedelta(minutes=90)
    for text in ("P1D", "P1W", "P1M", "P1DT1H"):
        with pytest.raises(ValueError, match="days are for a cron expression"):
            parse_elapsed(text)
