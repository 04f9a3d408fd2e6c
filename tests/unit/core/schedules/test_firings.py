"""Firings by hand-made examples; `tests/properties/test_clock_changes.py` tries all zones."""

from datetime import UTC, date, datetime, timedelta
from itertools import islice, pairwise

import pytest

from signet.core.moments.wall_time import Fold, Gap
from signet.core.schedules.cron import Cron
from signet.core.schedules.firings import (
    LAST_TICK,
    Fate,
    TooManyTicks,
    find_next,
    list_firings,
    list_occurrences,
    list_ticks,
)
from signet.core.schedules.schedule import CronTimes, DayRange, EveryTimes, Schedule, choose_policy
from signet.zones import find_zone

BERLIN = find_zone("Europe/Berlin")


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def make_cron(
    text: str, gap: Gap | None = None, fold: Fold | None = None, zone: str = "Europe/Berlin"
) -> Schedule:
    cron = Cron(text)
    return Schedule(CronTimes(cron, choose_policy(cron, gap, fold)), find_zone(zone))


def show(schedule: Schedule, after: str, until: str) -> list[str]:
    return [f"{tick:%dT%H:%M}" for tick in list_firings(schedule, utc(after), utc(until))]


SPRING, AUTUMN = ("2026-03-28T12:00", "2026-03-29T12:00"), ("2026-10-24T12:00", "2026-10-25T12:00")


@pytest.mark.parametrize(
    ("text", "gap", "ticks"),
    [
        ("30 2 * * *", "once", ["29T01:00"]),
        ("30 2 * * *", "skip", []),
        # Two in one gap are one firing, and so are one in it and one at its end.
        ("0,30 2 * * *", "once", ["29T01:00"]),
        ("0 1-4 * * *", "once", ["29T00:00", "29T01:00", "29T02:00"]),
        ("0 1-4 * * *", "skip", ["29T00:00", "29T01:00", "29T02:00"]),
        ("30 2,3 * * *", "once", ["29T01:00", "29T01:30"]),
    ],
)
def test_a_gap(text: str, gap: Gap, ticks: list[str]) -> None:
    assert show(make_cron(text, gap), *SPRING) == ticks


@pytest.mark.parametrize(
    ("fold", "ticks"),
    [
        ("first", ["25T00:15", "25T00:45", "25T02:15"]),
        ("last", ["25T01:15", "25T01:45", "25T02:15"]),
        ("twice", ["25T00:15", "25T00:45", "25T01:15", "25T01:45", "25T02:15"]),
    ],
)
def test_a_fold(fold: Fold, ticks: list[str]) -> None:
    schedule = make_cron("15,45 2-3 * * *", fold=fold)
    assert show(schedule, *AUTUMN)[:-1] == ticks
    # From between the two, what is still to come comes.
    for number, tick in enumerate(list_firings(schedule, utc(AUTUMN[0]), utc(AUTUMN[1]))):
        assert find_next(schedule, tick - timedelta(microseconds=1)) == tick
        assert (
            show(schedule, tick.isoformat()[:16], AUTUMN[1])[: len(ticks) - number - 1] == ticks[number + 1 :]
        )


def test_each_hour_fires_at_each_hour_that_passes() -> None:
    for begins, ends in (SPRING, AUTUMN):
        ticks = list(list_firings(make_cron("0 * * * *"), utc(begins), utc(ends)))
        assert [later - earlier for earlier, later in pairwise(ticks)] == [timedelta(hours=1)] * 23
    assert show(make_cron("0 */2 * * *"), "2026-10-24T22:30", "2026-10-25T04:00") == [
        "25T00:00",
        "25T01:00",
        "25T03:00",
    ]


def test_the_fates_of_times() -> None:
    def list_fates(schedule: Schedule, when: tuple[str, str]) -> list[tuple[str, Fate]]:
        found = list_occurrences(schedule, utc(when[0]), utc(when[1]))
        return [(f"{occurrence.wall:%H:%M}", occurrence.fate) for occurrence in found]

    assert list_fates(make_cron("0,30 2-3 * * *"), SPRING) == [
        ("02:00", Fate.MOVED),
        ("02:30", Fate.MERGED),
        ("03:00", Fate.MERGED),
        ("03:30", Fate.USUAL),
    ]
    assert list_fates(make_cron("30 2-3 * * *", "skip"), SPRING) == [
        ("02:30", Fate.SKIPPED),
        ("03:30", Fate.USUAL),
    ]
    assert list_fates(make_cron("30 2 * * *"), AUTUMN) == [("02:30", Fate.ONLY_FIRST)]
    assert list_fates(make_cron("30 2 * * *", fold="last"), AUTUMN) == [("02:30", Fate.ONLY_LAST)]
    assert list_fates(make_cron("30 2 * * *", fold="twice"), AUTUMN) == [
        ("02:30", Fate.FIRST_OF_TWO),
        ("02:30", Fate.LAST_OF_TWO),
    ]


def test_an_interval_is_time_that_passes() -> None:
    schedule = Schedule(EveryTimes(timedelta(minutes=90), utc("2026-03-28T12:00")), BERLIN)
    ticks = list(islice(list_firings(schedule, utc("2026-03-28T23:59"), LAST_TICK), 4))
    assert [f"{tick:%dT%H:%M}" for tick in ticks] == ["29T00:00", "29T01:30", "29T03:00", "29T04:30"]
    assert find_next(schedule, ticks[0]) == ticks[1]
    # The anchor is one of them, and nothing begins there.
    assert find_next(schedule, utc("2026-03-28T10:29")) == utc("2026-03-28T10:30")
    assert find_next(schedule, utc("2026-03-28T11:59:59")) == utc("2026-03-28T12:00")


def test_days_on_which_it_starts_and_ends() -> None:
    cron = make_cron("0 0,12 * * *")
    schedule = Schedule(cron.times, BERLIN, starts=date(2026, 3, 29), ends=date(2026, 3, 30))
    assert show(schedule, "2026-03-01", "2026-05-01") == ["28T23:00", "29T10:00", "29T22:00", "30T10:00"]
    assert find_next(schedule, utc("2026-03-30T10:00")) is None
    assert show(schedule, "2026-03-29T10:00", "2026-03-29T22:00") == ["29T22:00"]


def test_excluded_days() -> None:
    cron = make_cron("0 12 * * *")
    days = (
        DayRange(date(2026, 12, 24), date(2026, 12, 26)),
        DayRange(date(2026, 12, 26), date(2026, 12, 28)),
    )
    schedule = Schedule(cron.times, BERLIN, excluded=days)
    assert show(schedule, "2026-12-22T12:00", "2026-12-31") == ["23T11:00", "29T11:00", "30T11:00"]
    for_ever = Schedule(cron.times, BERLIN, excluded=(DayRange(date.min, date.max),))
    assert find_next(for_ever, utc("2026-01-01")) is None


def test_a_time_that_is_always_in_a_gap_never_fires() -> None:
    schedule = make_cron("30 2 * 3 SUN#2", "skip", zone="America/New_York")
    # The rule is of 2007.
    assert find_next(schedule, utc("2026-01-01")) is None
    assert find_next(schedule, utc("2006-01-01")) == utc("2006-03-12T07:30")


def test_a_range_is_bounded() -> None:
    schedule = make_cron("0 * * * *")
    first, last = utc("2026-01-01T00:00"), utc("2026-01-01T05:00")
    assert list_ticks(schedule, first, last) == tuple(first + timedelta(hours=hour) for hour in range(6))
    assert list_ticks(schedule, first, last, limit=6) != TooManyTicks(6)
    assert list_ticks(schedule, first, last, limit=5) == TooManyTicks(5)
    assert list_ticks(schedule, last, first) == ()


def test_the_years_that_are_looked_at() -> None:
    hourly = make_cron("0 * * * *")
    every = Schedule(EveryTimes(timedelta(days=3_660)), BERLIN)
    for schedule in (hourly, every):
        assert find_next(schedule, datetime.max.replace(tzinfo=UTC)) is None
        assert find_next(schedule, LAST_TICK) is None
        assert find_next(schedule, datetime.min.replace(tzinfo=UTC)) is None
        begins = find_next(schedule, utc("1960-01-01"))
        assert begins is not None and begins > utc("1970-01-01")
    endless = Schedule(hourly.times, BERLIN, starts=date.min, ends=date.max)
    assert find_next(endless, utc("2026-01-01")) == utc("2026-01-01T01:00")
    assert find_next(Schedule(hourly.times, BERLIN, starts=date.max), utc("2026-01-01")) is None
    assert find_next(hourly, LAST_TICK - timedelta(minutes=1)) == LAST_TICK


def test_an_expression_without_any_time_never_fires() -> None:
    # The compiler refuses it.
    assert find_next(make_cron("0 0 */31 2 MON#5"), utc("2026-01-01")) is None
