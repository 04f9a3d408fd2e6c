"""The bounds of schedules, and the policy of an expression whose author named none."""

from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from signet.core.moments.wall_time import WallPolicy
from signet.core.schedules.cron import Cron
from signet.core.schedules.schedule import (
    EPOCH,
    MAX_EXCLUSIONS,
    CronTimes,
    DayRange,
    EveryTimes,
    Schedule,
    choose_policy,
    write_times,
)

FIXED, EACH_HOUR = Cron("0 2 * * *"), Cron("0 * * * *")


def test_the_policy_where_none_is_named() -> None:
    assert choose_policy(FIXED) == WallPolicy("once", "first")
    assert choose_policy(EACH_HOUR) == WallPolicy("skip", "twice")


def test_what_is_named_holds() -> None:
    assert choose_policy(FIXED, "skip") == WallPolicy("skip", "first")
    assert choose_policy(FIXED, fold="twice") == WallPolicy("once", "twice")
    assert choose_policy(EACH_HOUR, "once", "last") == WallPolicy("once", "last")


def test_no_interval_is_shorter_than_a_minute() -> None:
    assert EveryTimes(timedelta(minutes=1)).anchor == EPOCH
    with pytest.raises(ValueError, match="at least one minute"):
        EveryTimes(timedelta(seconds=59))


def test_exclusions_are_bounded() -> None:
    day = date(2026, 1, 1)
    times = EveryTimes(timedelta(hours=1), datetime(2026, 1, 1, tzinfo=UTC))
    Schedule(times, UTC, excluded=(DayRange(day, day),) * MAX_EXCLUSIONS)
    with pytest.raises(ValueError, match="at most 100"):
        Schedule(times, UTC, excluded=(DayRange(day, day),) * (MAX_EXCLUSIONS + 1))


def test_a_range_of_days_has_both_ends() -> None:
    days = DayRange(date(2026, 12, 24), date(2026, 12, 26))
    assert [day for day in range(22, 29) if days.holds(date(2026, 12, day))] == [24, 25, 26]


def test_the_part_of_a_schedule_in_the_key_of_a_tick() -> None:
    for policy in (WallPolicy("once", "first"), WallPolicy("skip", "twice")):
        assert write_times(CronTimes(FIXED, policy), "Europe/Berlin") == "cron 0 2 * * * in Europe/Berlin"
    east = timezone(timedelta(hours=9))
    every = EveryTimes(timedelta(minutes=90), datetime(2026, 1, 1, 9, tzinfo=east))
    assert write_times(every, "Asia/Tokyo") == "every 5400 from 2026-01-01T00:00:00+00:00"
