"""Missed ticks: which fire late, by each policy."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from signet.core.schedules.catch_up import (
    MAX_OLD_TICKS,
    CatchUp,
    CatchUpPolicy,
    DecidedTicks,
    SkipCause,
    SkippedTicks,
    decide_ticks,
)
from signet.core.schedules.cron import Cron
from signet.core.schedules.firings import list_firings
from signet.core.schedules.schedule import CronTimes, Schedule, choose_policy

HOUR, MINUTE, DAY = timedelta(hours=1), timedelta(minutes=1), timedelta(days=1)
START = datetime(2026, 1, 1, tzinfo=UTC)


def make(text: str) -> Schedule:
    return Schedule(CronTimes(Cron(text), choose_policy(Cron(text))), UTC)


def decide(late: timedelta, which: CatchUp = "latest", **policy: Any) -> DecidedTicks:
    """Decide an hourly schedule whose last tick was at the start."""
    return decide_ticks(make("0 * * * *"), START, START + late, CatchUpPolicy(which=which, **policy))


def hours(*numbers: int) -> tuple[datetime, ...]:
    return tuple(START + number * HOUR for number in numbers)


def test_nothing_is_due_before_its_time() -> None:
    now = START + HOUR - timedelta(microseconds=1)
    assert decide_ticks(make("0 * * * *"), START, now) == DecidedTicks((), (), now)


@pytest.mark.parametrize("which", ["latest", "all", "none"])
def test_a_tick_on_time_fires(which: CatchUp) -> None:
    for late in (timedelta(), MINUTE, 5 * MINUTE):
        assert decide(HOUR + late, which) == DecidedTicks(hours(1), (), START + HOUR + late)


def test_the_latest_fires() -> None:
    skipped = SkippedTicks(START + HOUR, START + 3 * HOUR, 3, SkipCause.NOT_THE_LATEST)
    assert decide(4 * HOUR + 30 * MINUTE) == DecidedTicks(
        hours(4), (skipped,), START + 4 * HOUR + 30 * MINUTE
    )


def test_none_fires_late() -> None:
    skipped = SkippedTicks(START + HOUR, START + 3 * HOUR, 3, SkipCause.NO_CATCH_UP)
    assert decide(4 * HOUR, "none").fire == hours(4)
    assert decide(4 * HOUR, "none").skipped == (skipped,)
    assert decide(HOUR + 5 * MINUTE + timedelta(seconds=1), "none").fire == ()


def test_all_fire_up_to_the_cap() -> None:
    assert decide(4 * HOUR, "all") == DecidedTicks(hours(1, 2, 3, 4), (), START + 4 * HOUR)
    assert decide(4 * HOUR, "all", at_most=4).skipped == ()
    capped = decide(4 * HOUR, "all", at_most=3)
    assert capped.fire == hours(2, 3, 4)
    assert capped.skipped == (SkippedTicks(START + HOUR, START + HOUR, 1, SkipCause.OVER_THE_CAP),)


def test_what_is_older_than_the_window_is_skipped() -> None:
    decided = decide(3 * HOUR, "all", window=HOUR)
    # What is exactly as old as the window is before it.
    assert decided.fire == hours(3)
    assert decided.skipped == (SkippedTicks(START + HOUR, START + 2 * HOUR, 2, SkipCause.BEFORE_WINDOW),)


def test_a_month_without_service() -> None:
    schedule, last, now = make("* * * * *"), START, START + 31 * DAY
    fired, skipped, calls = list[datetime](), list[SkippedTicks](), 0
    while last < now:
        decided = decide_ticks(schedule, last, now)
        fired += decided.fire
        skipped += decided.skipped
        assert last < decided.decided_until <= now
        last, calls = decided.decided_until, calls + 1
    assert fired == [now]
    # Each tick is on record, once.
    minutes = 31 * 24 * 60
    assert sum(ticks.count for ticks in skipped) == minutes - 1
    listed = [tick for run in skipped for tick in list_firings(schedule, run.first - MINUTE, run.last)]
    assert listed == [START + number * MINUTE for number in range(1, minutes)]
    assert [run.cause for run in skipped] == [SkipCause.BEFORE_WINDOW] * 5 + [SkipCause.NOT_THE_LATEST]
    assert max(run.count for run in skipped) == MAX_OLD_TICKS
    assert calls == 5


@pytest.mark.parametrize(
    "wrong", [{"window": timedelta()}, {"window": 32 * DAY}, {"at_most": 0}, {"at_most": 101}]
)
def test_a_policy_is_bounded(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="wants"):
        CatchUpPolicy(**wrong)
