"""Schedules: when something fires by the wall clock of a zone (cron), or by time that passes (every)."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo

from signet.core.moments.wall_time import Fold, Gap, WallPolicy
from signet.core.schedules.cron import Cron

MIN_INTERVAL = timedelta(minutes=1)
MAX_EXCLUSIONS = 100
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class CronTimes:
    """The wall times of a cron expression, and what becomes of them when the clock changes."""

    cron: Cron
    policy: WallPolicy


@dataclass(frozen=True, slots=True)
class EveryTimes:
    """The moments at whole intervals from an anchor, in time that passes."""

    interval: timedelta
    anchor: datetime = EPOCH

    def __post_init__(self) -> None:
        if self.interval < MIN_INTERVAL:
            raise ValueError("wants an interval of at least one minute")


@dataclass(frozen=True, slots=True)
class DayRange:
    """Days of the zone from the first to the last, with both."""

    first: date
    last: date

    def holds(self, day: date) -> bool:
        return self.first <= day <= self.last


@dataclass(frozen=True, slots=True)
class Schedule:
    """The times of firings in a zone: between two days, with both, and not on excluded ones."""

    times: CronTimes | EveryTimes
    zone: tzinfo
    starts: date | None = None
    ends: date | None = None
    excluded: tuple[DayRange, ...] = ()

    def __post_init__(self) -> None:
        if len(self.excluded) > MAX_EXCLUSIONS:
            raise ValueError(f"wants at most {MAX_EXCLUSIONS} exclusions")


def choose_policy(cron: Cron, gap: Gap | None = None, fold: Fold | None = None) -> WallPolicy:
    """Return the policy of an expression, where its author has not named all of it.

    A fixed hour fires once in a gap, and at the first of two. Else it fires whenever the clock shows it.
    """
    if cron.has_fixed_hour:
        return WallPolicy(gap or "once", fold or "first")
    return WallPolicy(gap or "skip", fold or "twice")


def write_times(times: CronTimes | EveryTimes, zone_name: str) -> str:
    """Write the schedule's part in the key of a tick. The policy is none of it: a tick stays what it was."""
    if isinstance(times, EveryTimes):
        anchor = times.anchor.astimezone(UTC).isoformat()
        return f"every {int(times.interval.total_seconds())} from {anchor}"
    return f"cron {times.cron.text} in {zone_name}"
