"""Wall times around clock changes, read and chosen by each policy."""

from datetime import UTC, datetime, timedelta

import pytest

from signet.core.moments.wall_time import (
    ClockChange,
    WallPolicy,
    WallReading,
    choose_moments,
    find_moment,
    read_wall_time,
    write_wall_time,
)
from signet.zones import find_zone


def wall(text: str) -> datetime:
    return datetime.fromisoformat(text)


def utc(text: str) -> datetime:
    return datetime.fromisoformat(f"{text}+00:00")


@pytest.mark.parametrize(
    ("zone", "shown", "moments", "change"),
    [
        ("Europe/Berlin", "2026-03-29T01:59", ["2026-03-29T00:59"], None),
        ("Europe/Berlin", "2026-03-29T02:00", ["2026-03-29T01:00"], ClockChange.GAP),
        ("Europe/Berlin", "2026-03-29T02:59:59.999999", ["2026-03-29T01:00"], ClockChange.GAP),
        ("Europe/Berlin", "2026-03-29T03:00", ["2026-03-29T01:00"], None),
        ("Europe/Berlin", "2026-10-25T01:59", ["2026-10-24T23:59"], None),
        ("Europe/Berlin", "2026-10-25T02:00", ["2026-10-25T00:00", "2026-10-25T01:00"], ClockChange.FOLD),
        ("Europe/Berlin", "2026-10-25T02:59", ["2026-10-25T00:59", "2026-10-25T01:59"], ClockChange.FOLD),
        ("Europe/Berlin", "2026-10-25T03:00", ["2026-10-25T02:00"], None),
        # Half an hour, and two.
        ("Australia/Lord_Howe", "2026-10-04T02:15", ["2026-10-03T15:30"], ClockChange.GAP),
        ("Antarctica/Troll", "2026-03-29T02:30", ["2026-03-29T01:00"], ClockChange.GAP),
        # A day at whose midnight no clock was, and one that no clock showed.
        ("Africa/Cairo", "2026-04-24T00:00", ["2026-04-23T22:00"], ClockChange.GAP),
        ("Pacific/Apia", "2011-12-30T12:00", ["2011-12-30T10:00"], ClockChange.GAP),
        # An offset with seconds.
        ("Africa/Monrovia", "1971-01-01T00:00", ["1971-01-01T00:44:30"], None),
        ("UTC", "2026-10-25T02:00", ["2026-10-25T02:00"], None),
    ],
)
def test_the_moments_of_a_wall_time(
    zone: str, shown: str, moments: list[str], change: ClockChange | None
) -> None:
    rules = find_zone(zone)
    reading = read_wall_time(wall(shown), rules)
    assert reading == WallReading(tuple(map(utc, moments)), change)
    assert find_moment(wall(shown), rules) == utc(moments[0])
    if change is not ClockChange.GAP:
        assert {write_wall_time(moment, rules) for moment in reading.moments} == {wall(shown)}


def test_a_policy_chooses() -> None:
    one, two = utc("2026-01-01T00:00"), utc("2026-01-01T01:00")
    plain, fold = WallReading((one,)), WallReading((one, two), ClockChange.FOLD)
    gap = WallReading((one,), ClockChange.GAP)
    assert choose_moments(gap, WallPolicy(gap="once")) == (one,)
    assert choose_moments(gap, WallPolicy(gap="skip")) == ()
    assert choose_moments(fold, WallPolicy(fold="first")) == (one,)
    assert choose_moments(fold, WallPolicy(fold="last")) == (two,)
    assert choose_moments(fold, WallPolicy(fold="twice")) == (one, two)
    for policy in (WallPolicy("skip", "last"), WallPolicy("once", "twice")):
        assert choose_moments(plain, policy) == (one,)


def test_a_wall_time_is_written_without_zone_or_fold() -> None:
    shown = write_wall_time(utc("2026-10-25T01:30"), find_zone("Europe/Berlin"))
    assert (shown, shown.tzinfo, shown.fold) == (wall("2026-10-25T02:30"), None, 0)
    assert find_moment(shown, UTC) - find_moment(shown, find_zone("Europe/Berlin")) == timedelta(hours=2)
