"""The firings of a schedule in order, and what a clock change makes of the times that it names.

A tick is the moment of a firing: strictly later than the one before.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from enum import StrEnum
from itertools import takewhile

from signet.core.moments.wall_time import (
    ClockChange,
    WallPolicy,
    choose_moments,
    find_moment,
    read_wall_time,
    write_wall_time,
)
from signet.core.schedules.schedule import EPOCH, CronTimes, DayRange, EveryTimes, Schedule

# No schedule fires before 1970, or later than this.
LAST_TICK = datetime(9900, 1, 1, tzinfo=UTC)
# A schedule that does not fire for so long never does.
HORIZON = timedelta(days=50 * 366)
MAX_RANGE_TICKS = 10_000
_INSTANT = timedelta(microseconds=1)
_DAY = timedelta(days=1)


class Fate(StrEnum):
    """The fate of a wall time."""

    USUAL = "usual"
    MOVED = "moved"  # in a gap: it fires at the gap's end
    SKIPPED = "skipped"  # in a gap: it does not fire
    MERGED = "merged"  # it comes to the moment of the firing before, and is one with it
    ONLY_FIRST = "only_first"  # the clock shows it twice, and it fires at the first
    ONLY_LAST = "only_last"
    FIRST_OF_TWO = "first_of_two"  # it fires both times
    LAST_OF_TWO = "last_of_two"

    @property
    def fires(self) -> bool:
        return self not in (Fate.SKIPPED, Fate.MERGED)


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A wall time that a schedule names, with its moment and its fate; a skipped one has the gap's end."""

    at: datetime
    wall: datetime
    fate: Fate = Fate.USUAL


@dataclass(frozen=True, slots=True)
class TooManyTicks:
    """A range with more ticks than may be asked for at once."""

    limit: int


def list_occurrences(schedule: Schedule, after: datetime, until: datetime) -> Iterator[Occurrence]:
    """List what the schedule names after one moment and up to another, in order."""
    first, last = _find_bounds(schedule, after, until)
    fired: datetime | None = None
    while first < last:
        for occurrence in _list_times(schedule, first, last):
            excluded = _find_exclusion(schedule, occurrence.at)
            if excluded is not None:
                first = _find_end(excluded.last, schedule.zone)
                break
            if occurrence.at == fired and occurrence.fate.fires:
                occurrence = replace(occurrence, fate=Fate.MERGED)
            elif occurrence.fate.fires:
                fired = occurrence.at
            yield occurrence
        else:
            return


def list_firings(schedule: Schedule, after: datetime, until: datetime) -> Iterator[datetime]:
    """List the ticks after one moment and up to another, strictly increasing."""
    return (found.at for found in list_occurrences(schedule, after, until) if found.fate.fires)


def find_next(schedule: Schedule, after: datetime) -> datetime | None:
    """Return the first tick after a moment; None where there is none in 50 years."""
    return next(list_firings(schedule, after, end_of_search(after)), None)


def list_ticks(
    schedule: Schedule, first: datetime, last: datetime, limit: int = MAX_RANGE_TICKS
) -> tuple[datetime, ...] | TooManyTicks:
    """Return the ticks from one moment to another, with both, to fill a range."""
    ticks = list[datetime]()
    for tick in list_firings(schedule, first - _INSTANT, last):
        if len(ticks) == limit:
            return TooManyTicks(limit)
        ticks.append(tick)
    return tuple(ticks)


def end_of_search(after: datetime) -> datetime:
    return min(after, LAST_TICK) + HORIZON


def _find_bounds(schedule: Schedule, after: datetime, until: datetime) -> tuple[datetime, datetime]:
    """Return the bounds with the days on which the schedule starts and ends."""
    first, last = max(after, EPOCH), min(until, LAST_TICK)
    if schedule.starts is not None:
        first = max(first, _find_midnight(schedule.starts, schedule.zone) - _INSTANT)
    if schedule.ends is not None:
        last = min(last, _find_end(schedule.ends, schedule.zone))
    return first.astimezone(UTC), last.astimezone(UTC)


def _find_midnight(day: date, zone: tzinfo) -> datetime:
    known = min(max(day, EPOCH.date()), LAST_TICK.date())
    return find_moment(datetime.combine(known, time()), zone)


def _find_end(day: date, zone: tzinfo) -> datetime:
    """Return the last instant of a day."""
    return _find_midnight(min(day, LAST_TICK.date()) + _DAY, zone) - _INSTANT


def _find_exclusion(schedule: Schedule, at: datetime) -> DayRange | None:
    if not schedule.excluded:
        return None
    day = write_wall_time(at, schedule.zone).date()
    return next((days for days in schedule.excluded if days.holds(day)), None)


def _list_times(schedule: Schedule, after: datetime, until: datetime) -> Iterator[Occurrence]:
    if isinstance(schedule.times, EveryTimes):
        found = _list_intervals(schedule.times, schedule.zone, after)
    else:
        in_order = _order(_read_cron(schedule.times, schedule.zone, after))
        found = (occurrence for occurrence in in_order if occurrence.at > after)
    return takewhile(lambda occurrence: occurrence.at <= until, found)


def _list_intervals(times: EveryTimes, zone: tzinfo, after: datetime) -> Iterator[Occurrence]:
    count = (after - times.anchor) // times.interval + 1
    at = (times.anchor + count * times.interval).astimezone(UTC)
    while True:
        yield Occurrence(at, write_wall_time(at, zone))
        at += times.interval


def _read_cron(times: CronTimes, zone: tzinfo, after: datetime) -> Iterator[Sequence[Occurrence]]:
    # A wall time before this one may come again later, where the clock is put back within a day.
    put_back = _offset(after, zone) - _offset(after + _DAY, zone)
    first = write_wall_time(after, zone) - max(put_back, timedelta())
    for wall in times.cron.list_wall_times(first):
        yield _read_fates(wall, zone, times.policy)


def _read_fates(wall: datetime, zone: tzinfo, policy: WallPolicy) -> Sequence[Occurrence]:
    reading = read_wall_time(wall, zone)
    if reading.change is None:
        return (Occurrence(reading.moments[0], wall),)
    chosen = choose_moments(reading, policy)
    if reading.change is ClockChange.GAP:
        return (Occurrence(reading.moments[0], wall, Fate.MOVED if chosen else Fate.SKIPPED),)
    if policy.fold == "twice":
        fates = (Fate.FIRST_OF_TWO, Fate.LAST_OF_TWO)
        return [Occurrence(at, wall, fate) for at, fate in zip(chosen, fates, strict=True)]
    return (Occurrence(chosen[0], wall, Fate.ONLY_FIRST if policy.fold == "first" else Fate.ONLY_LAST),)


def _order(read: Iterator[Sequence[Occurrence]]) -> Iterator[Occurrence]:
    """Yield by moment: in a fold, the second time of one wall time comes after the first of the next."""
    held: list[Occurrence] = []
    for occurrences in read:
        # What comes later has no moment before this one.
        reached = occurrences[0].at
        held = sorted((*held, *occurrences), key=lambda occurrence: occurrence.at)
        while held and held[0].at <= reached:
            yield held.pop(0)
    yield from held


def _offset(moment: datetime, zone: tzinfo) -> timedelta:
    return moment.astimezone(zone).utcoffset() or timedelta()
