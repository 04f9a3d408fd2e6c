"""The clock of a zone: what it shows at an instant, and the stretches in which it keeps one distance to UTC.

Nothing else in this room asks a zone. Whether a moment is working time is said by what the clock shows then.
So an hour that the clock skips is no working time, and one that it shows twice counts twice.
"""

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import NamedTuple

from signet.core.errors import Defect

# No zone changes its clock twice within three days: a step finds each change.
_STEP = timedelta(hours=12)
_DAY = timedelta(days=1)
_INSTANT = timedelta(microseconds=1)


class Stretch(NamedTuple):
    """A time from one instant to another during which the clock runs evenly."""

    start: datetime
    end: datetime
    offset: timedelta

    def read(self, moment: datetime) -> datetime:
        return (moment + self.offset).replace(tzinfo=None)

    def find_instant(self, wall: datetime) -> datetime:
        return wall.replace(tzinfo=UTC) - self.offset


def make_instant(moment: datetime) -> datetime:
    """Return the moment in UTC. Without a zone it would mean what the machine's clock shows."""
    if moment.tzinfo is None:
        raise Defect("MOMENT_WITHOUT_ZONE", f"{moment} has no time zone")
    return moment.astimezone(UTC)


def read_wall(zone: tzinfo, moment: datetime) -> datetime:
    """Return what the clock of the zone shows at the moment."""
    return moment.astimezone(zone).replace(tzinfo=None)


def list_stretches(zone: tzinfo, start: datetime, end: datetime) -> Iterator[Stretch]:
    """Yield the stretches from one instant to another, without gaps, in their order."""
    begin, at, offset = start, start, _read_offset(zone, start)
    while at < end:
        following = min(at + _STEP, end)
        next_offset = _read_offset(zone, following)
        if next_offset != offset:
            change = _find_change(zone, at, following)
            yield Stretch(begin, change, offset)
            begin, offset = change, next_offset
        at = following
    if begin < end:
        yield Stretch(begin, end, offset)


def list_stretches_of_day(zone: tzinfo, day: date) -> Iterator[Stretch]:
    """Yield stretches that hold every instant at which the clock shows this date."""
    midnight = datetime.combine(day, time.min, UTC)
    return list_stretches(zone, midnight - _DAY, midnight + 2 * _DAY)


def _read_offset(zone: tzinfo, moment: datetime) -> timedelta:
    return read_wall(zone, moment) - moment.replace(tzinfo=None)


def _find_change(zone: tzinfo, before: datetime, after: datetime) -> datetime:
    """Return the first instant with the offset of `after`; there is one change between the two."""
    offset = _read_offset(zone, after)
    while after - before > _INSTANT:
        middle = before + (after - before) // 2
        if _read_offset(zone, middle) == offset:
            after = middle
        else:
            before = middle
    return after
