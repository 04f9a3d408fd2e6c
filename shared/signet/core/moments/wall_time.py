"""Wall time and the moments that it names: none in a gap, two in a fold, and else one.

In a gap the clock is put forward, and leaves wall times out. In a fold it is put back, and shows wall times
twice. A policy says what becomes of either.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from enum import StrEnum
from typing import Literal

Gap = Literal["skip", "once"]
Fold = Literal["first", "last", "twice"]
_SECOND = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class WallPolicy:
    """The choice for a wall time in a gap, none or the gap's end, and for one in a fold."""

    gap: Gap = "once"
    fold: Fold = "first"


class ClockChange(StrEnum):
    GAP = "gap"
    FOLD = "fold"


@dataclass(frozen=True, slots=True)
class WallReading:
    """The moments of a wall time in order. In a gap it is the gap's end alone."""

    moments: tuple[datetime, ...]
    change: ClockChange | None = None


def read_wall_time(wall: datetime, zone: tzinfo) -> WallReading:
    """Return the moments that a wall time names, before any policy chooses among them."""
    before, after = _offset(wall.replace(tzinfo=zone, fold=0)), _offset(wall.replace(tzinfo=zone, fold=1))
    old, new = (wall - before).replace(tzinfo=UTC), (wall - after).replace(tzinfo=UTC)
    if before == after:
        return WallReading((old,))
    if before > after:
        return WallReading((old, new), ClockChange.FOLD)
    # By the offset from before the change the gap lies behind it, and by the other one ahead of it.
    return WallReading((_find_change(new, old, zone),), ClockChange.GAP)


def choose_moments(reading: WallReading, policy: WallPolicy) -> tuple[datetime, ...]:
    """Return the moments that the policy lets stand."""
    if reading.change is ClockChange.GAP and policy.gap == "skip":
        return ()
    if reading.change is ClockChange.FOLD and policy.fold != "twice":
        return reading.moments[:1] if policy.fold == "first" else reading.moments[1:]
    return reading.moments


def find_moment(wall: datetime, zone: tzinfo) -> datetime:
    """Return the one moment of a wall time: the end of its gap, or the first of two."""
    return read_wall_time(wall, zone).moments[0]


def write_wall_time(moment: datetime, zone: tzinfo) -> datetime:
    """Return what a clock in the zone shows at the moment."""
    return moment.astimezone(zone).replace(tzinfo=None, fold=0)


def _find_change(before: datetime, after: datetime, zone: tzinfo) -> datetime:
    """Return the second between two moments from which on the zone has the offset of the later one."""
    before, after = before.replace(microsecond=0), after.replace(microsecond=0)
    final = _offset(after.astimezone(zone))
    while after - before > _SECOND:
        middle = before + (after - before) // 2
        middle = middle.replace(microsecond=0)
        if _offset(middle.astimezone(zone)) == final:
            after = middle
        else:
            before = middle
    return after


def _offset(moment: datetime) -> timedelta:
    return moment.utcoffset() or timedelta()
