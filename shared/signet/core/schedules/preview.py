"""The next firings of a schedule, with those that a clock change touches, for people to read."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType

from signet.core.schedules.firings import Fate, Occurrence, end_of_search, list_occurrences
from signet.core.schedules.schedule import Schedule

MAX_PREVIEWED = 1_000

_REMARKS: Mapping[Fate, str] = MappingProxyType(
    {
        Fate.USUAL: "",
        Fate.MOVED: "the clock skips {wall}: it fires when the gap ends",
        Fate.SKIPPED: "the clock skips {wall}: it does not fire",
        Fate.MERGED: "the clock skips {wall}: it is one with the firing before",
        Fate.ONLY_FIRST: "the clock shows {wall} twice: it fires at the first",
        Fate.ONLY_LAST: "the clock shows {wall} twice: it fires at the last",
        Fate.FIRST_OF_TWO: "the clock shows {wall} twice: this is the first of two firings",
        Fate.LAST_OF_TWO: "the clock shows {wall} twice: this is the last of two firings",
    }
)


@dataclass(frozen=True, slots=True)
class Preview:
    """The firings, and among them the times that do not fire. It may hold fewer than were asked for."""

    occurrences: tuple[Occurrence, ...]

    @property
    def firings(self) -> int:
        return sum(found.fate.fires for found in self.occurrences)


def preview_schedule(schedule: Schedule, after: datetime, count: int) -> Preview:
    """Return so many firings after a moment, with the times between them that do not fire."""
    if not 1 <= count <= MAX_PREVIEWED:
        raise ValueError(f"wants between 1 and {MAX_PREVIEWED} firings")
    occurrences, fired = list[Occurrence](), 0
    for found in list_occurrences(schedule, after, end_of_search(after)):
        occurrences.append(found)
        fired += found.fate.fires
        if fired == count:
            break
    return Preview(tuple(occurrences))


def describe_fate(occurrence: Occurrence) -> str:
    """Say how a clock change touches the time, or nothing where none does."""
    return _REMARKS[occurrence.fate].format(wall=f"{occurrence.wall:%H:%M}")
