"""An oracle of firings, which shares no code with the product and does not import cronsim.

It reads the clock of a zone minute by minute. Where the clock jumps, the minutes between were left out.
They come to the moment of the jump.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib import resources
from zoneinfo import ZoneInfo

MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)
FROM, TO = datetime(2025, 1, 1, tzinfo=UTC), datetime(2029, 1, 1, tzinfo=UTC)
Fits = Callable[[datetime], bool]


@dataclass(frozen=True)
class ClockWindow:
    """The minutes that a clock shows between two moments, and those that it leaves out."""

    first: datetime
    last: datetime
    shown: Mapping[datetime, Sequence[datetime]]
    left_out: Mapping[datetime, datetime]


def load_zone(name: str) -> ZoneInfo:
    with (resources.files("tzdata") / "zoneinfo" / name).open("rb") as file:
        return ZoneInfo.from_file(file, key=name)


def list_zone_names() -> list[str]:
    return (resources.files("tzdata") / "zones").read_text(encoding="utf-8").split()


def list_changes(zone: ZoneInfo) -> Iterator[datetime]:
    """List the minutes from which on the clock has another offset."""
    day = FROM
    while day < TO:
        if read_offset(day, zone) != read_offset(day + DAY, zone):
            early, late = day, day + DAY
            while late - early > MINUTE:
                middle = early + (late - early) // MINUTE // 2 * MINUTE
                early, late = (
                    (middle, late) if read_offset(middle, zone) == read_offset(day, zone) else (early, middle)
                )
            yield late
        day += DAY


def read_offset(moment: datetime, zone: ZoneInfo) -> timedelta | None:
    return moment.astimezone(zone).utcoffset()


def read_clock(zone: ZoneInfo, first: datetime, last: datetime) -> ClockWindow:
    shown, left_out = defaultdict[datetime, list[datetime]](list), dict[datetime, datetime]()
    before: datetime | None = None
    moment = first
    while moment <= last:
        wall = moment.astimezone(zone).replace(tzinfo=None, fold=0)
        shown[wall].append(moment)
        while before is not None and before + MINUTE < wall:
            before += MINUTE
            left_out[before] = moment
        before, moment = wall, moment + MINUTE
    return ClockWindow(first, last, shown, left_out)


def list_expected(window: ClockWindow, fits: Fits, gap: str, fold: str) -> list[datetime]:
    """List the firings after the window's first minute."""
    moments = set[datetime]()
    for wall, shown in window.shown.items():
        if fits(wall):
            moments.update({"first": shown[:1], "last": shown[-1:], "twice": shown}[fold])
    if gap == "once":
        moments.update(moment for wall, moment in window.left_out.items() if fits(wall))
    return sorted(moment for moment in moments if moment > window.first)
