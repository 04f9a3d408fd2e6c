"""The clock changes of 2025 to 2028, against an oracle that reads the clock minute by minute.

Each change is tried once, under one of the zones that have it. `make clocks` (SIGNET_TEST_CAMPAIGN) tries it
under each of them, over whole days, with more expressions.
"""

import os
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from zoneinfo import ZoneInfo

import pytest

from signet.core.moments.wall_time import Fold, Gap
from signet.core.schedules.cron import Cron, parse_cron
from signet.core.schedules.firings import find_next, list_firings
from signet.core.schedules.schedule import CronTimes, Schedule, choose_policy
from signet.zones import find_zone
from tests.zones.oracle import (
    ClockWindow,
    Fits,
    list_changes,
    list_expected,
    list_zone_names,
    load_zone,
    read_clock,
    read_offset,
)

IS_CAMPAIGN = bool(os.environ.get("SIGNET_TEST_CAMPAIGN"))
AROUND = timedelta(hours=30 if IS_CAMPAIGN else 4)
RANDOM_EXPRESSIONS = 6 if IS_CAMPAIGN else 1
GAPS: tuple[Gap, ...] = ("skip", "once")
FOLDS: tuple[Fold, ...] = ("first", "last", "twice")
SHARES = 8
Change = tuple[str, datetime]


@cache
def list_all_changes() -> tuple[Change, ...]:
    """List the changes of all zones; without a campaign each that is the same in several zones once."""
    found = dict[tuple[object, ...], Change]()
    for name in list_zone_names():
        zone = load_zone(name)
        for moment in list_changes(zone):
            before = read_offset(moment - timedelta(minutes=1), zone)
            key = (moment, before, read_offset(moment, zone), name if IS_CAMPAIGN else "")
            found.setdefault(key, (name, moment))
    return tuple(found.values())


def list_expressions(moment: datetime, zone: ZoneInfo, drawn: random.Random) -> Iterator[tuple[str, Fits]]:
    """List expressions about the hours around a change, each with what the oracle knows of it."""
    before = (moment - timedelta(minutes=1)).astimezone(zone)
    after = moment.astimezone(zone)
    hours = sorted({(hour.hour + step) % 24 for hour in (before, after) for step in (-1, 0, 1)})
    named = ",".join(map(str, hours))
    yield f"15 {named} * * *", lambda wall: wall.minute == 15 and wall.hour in hours
    yield f"0,30 {named} * * *", lambda wall: wall.minute in (0, 30) and wall.hour in hours
    yield "*/20 * * * *", lambda wall: wall.minute % 20 == 0
    yield "10 */2 * * *", lambda wall: wall.minute == 10 and wall.hour % 2 == 0
    for _ in range(RANDOM_EXPRESSIONS):
        yield draw_expression(after, hours, drawn)


def draw_expression(day: datetime, hours: list[int], drawn: random.Random) -> tuple[str, Fits]:
    minutes = set(drawn.sample(range(60), drawn.randint(1, 4)))
    some = set(drawn.sample(hours, drawn.randint(1, len(hours))))
    text = f"{','.join(map(str, minutes))} {','.join(map(str, some))}"

    def fits(wall: datetime) -> bool:
        return wall.minute in minutes and wall.hour in some

    match drawn.randint(0, 3):
        case 0:
            return f"{text} {day.day} * *", lambda wall: fits(wall) and wall.day == day.day
        case 1:
            weekday = day.isoweekday()
            return (
                f"{text} * {day.month} {weekday}",
                lambda wall: fits(wall) and wall.month == day.month and wall.isoweekday() == weekday,
            )
        case 2:
            other = day.isoweekday() % 7 + 1
            # Either of them is enough.
            return (
                f"{text} {day.day} * {other}",
                lambda wall: fits(wall) and (wall.day == day.day or wall.isoweekday() == other),
            )
        case _:
            return f"{text} * * *", fits


def check(change: Change, window: ClockWindow, text: str, fits: Fits) -> None:
    name, moment = change
    cron = parse_cron(text)
    assert isinstance(cron, Cron), cron
    for gap in GAPS:
        for fold in FOLDS:
            schedule = Schedule(CronTimes(cron, choose_policy(cron, gap, fold)), find_zone(name))
            expected = list_expected(window, fits, gap, fold)
            found = list(list_firings(schedule, window.first, window.last))
            assert found == expected, f"{text} in {name} around {moment}, gap {gap}, fold {fold}"
            # Asked from any moment on, the next is the same.
            for begins in (moment - timedelta(minutes=7), moment, moment + timedelta(minutes=37)):
                later = [tick for tick in expected if tick > begins]
                if later:
                    assert find_next(schedule, begins) == later[0], f"{text} in {name} after {begins}"
    named_none = Schedule(CronTimes(cron, choose_policy(cron)), find_zone(name))
    default = ("once", "first") if cron.has_fixed_hour else ("skip", "twice")
    found = list(list_firings(named_none, window.first, window.last))
    assert found == list_expected(window, fits, *default), f"{text} in {name} around {moment}"


@pytest.mark.parametrize("share", range(SHARES))
def test_no_firing_is_lost_or_doubled(share: int) -> None:
    tried = list_all_changes()[share::SHARES]
    assert tried
    for change in tried:
        name, moment = change
        zone, drawn = load_zone(name), random.Random(f"{name} {moment}")
        window = read_clock(zone, moment - AROUND, moment + AROUND)
        for text, fits in list_expressions(moment, zone, drawn):
            check(change, window, text, fits)


def test_the_changes_that_are_tried() -> None:
    changes = list_all_changes()
    assert len(changes) >= (1_000 if IS_CAMPAIGN else 80)
    assert {moment.year for _, moment in changes} == {2025, 2026, 2027, 2028}
    shifts = set()
    for name, moment in changes:
        zone = load_zone(name)
        before, after = read_offset(moment - timedelta(minutes=1), zone), read_offset(moment, zone)
        assert before is not None and after is not None
        shifts.add(abs(after - before))
    assert shifts >= {timedelta(minutes=30), timedelta(hours=1), timedelta(hours=2)}


def test_the_oracle_reads_a_clock() -> None:
    zone = load_zone("Europe/Berlin")
    spring, autumn = datetime(2026, 3, 29, 1, tzinfo=UTC), datetime(2026, 10, 25, 1, tzinfo=UTC)
    assert {spring, autumn} < set(list_changes(zone))
    hour = timedelta(hours=1)
    in_spring, in_autumn = (read_clock(zone, change - hour, change + hour) for change in (spring, autumn))
    assert len(in_spring.left_out) == 60 and set(in_spring.left_out.values()) == {spring}
    assert [len(shown) for shown in in_autumn.shown.values()] == [2] * 60 + [1]

    def fits(wall: datetime) -> bool:
        return (wall.hour, wall.minute) == (2, 30)

    half = timedelta(minutes=30)
    assert list_expected(in_spring, fits, "once", "twice") == [spring]
    assert list_expected(in_spring, fits, "skip", "twice") == []
    assert list_expected(in_autumn, fits, "skip", "twice") == [autumn - half, autumn + half]
