"""The ticks that were missed: which fire late, and which are skipped, with the cause.

Ticks are missed while a tenant is suspended, a schedule is paused, or nothing runs.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import islice
from typing import Literal

from signet.core.schedules.firings import list_firings
from signet.core.schedules.schedule import Schedule

CatchUp = Literal["latest", "all", "none"]
MAX_WINDOW = timedelta(days=31)
MAX_LATE_FIRINGS = 100
# So late is a tick still on time: a worker may be slow, or wake up for it first.
ON_TIME = timedelta(minutes=5)
# Of ticks before the window, decided at once; the next call goes on behind them.
MAX_OLD_TICKS = 10_000


@dataclass(frozen=True, slots=True)
class CatchUpPolicy:
    """The reach of a catch-up: how old a missed tick may be, which of them fire, and how many at most."""

    window: timedelta = timedelta(hours=24)
    which: CatchUp = "latest"
    at_most: int = 10

    def __post_init__(self) -> None:
        if not timedelta() < self.window <= MAX_WINDOW:
            raise ValueError("wants a window of at most 31 days")
        if not 1 <= self.at_most <= MAX_LATE_FIRINGS:
            raise ValueError(f"wants between 1 and {MAX_LATE_FIRINGS} late firings")


class SkipCause(StrEnum):
    """The cause for which a tick did not fire; history entries keep the value."""

    BEFORE_WINDOW = "before_window"
    NOT_THE_LATEST = "not_the_latest"
    NO_CATCH_UP = "no_catch_up"
    OVER_THE_CAP = "over_the_cap"


@dataclass(frozen=True, slots=True)
class SkippedTicks:
    """Ticks one after another that are skipped for one cause. The schedule has all between first and last."""

    first: datetime
    last: datetime
    count: int
    cause: SkipCause


@dataclass(frozen=True, slots=True)
class DecidedTicks:
    """The fate of each tick up to a moment. Where that lies before now, more is to be decided."""

    fire: tuple[datetime, ...]
    skipped: tuple[SkippedTicks, ...]
    decided_until: datetime


@dataclass
class _Skips:
    found: list[SkippedTicks] = field(default_factory=list)

    def add(self, ticks: Sequence[datetime], cause: SkipCause) -> None:
        if ticks:
            self.found.append(SkippedTicks(ticks[0], ticks[-1], len(ticks), cause))


def decide_ticks(
    schedule: Schedule, last: datetime, now: datetime, policy: CatchUpPolicy | None = None
) -> DecidedTicks:
    """Decide the ticks after the last one that was decided, up to now."""
    policy, skips = policy or CatchUpPolicy(), _Skips()
    opens = now - policy.window
    old = tuple(islice(list_firings(schedule, last, opens), MAX_OLD_TICKS))
    skips.add(old, SkipCause.BEFORE_WINDOW)
    if len(old) == MAX_OLD_TICKS:
        return DecidedTicks((), tuple(skips.found), old[-1])
    due = tuple(list_firings(schedule, max(last, opens), now))
    fire = _choose(due, now, policy, skips)
    return DecidedTicks(fire, tuple(skips.found), now)


def _choose(
    due: tuple[datetime, ...], now: datetime, policy: CatchUpPolicy, skips: _Skips
) -> tuple[datetime, ...]:
    if policy.which == "latest":
        skips.add(due[:-1], SkipCause.NOT_THE_LATEST)
        return due[-1:]
    if policy.which == "none":
        late = tuple(tick for tick in due if tick < now - ON_TIME)
        skips.add(late, SkipCause.NO_CATCH_UP)
        due = due[len(late) :]
    skips.add(due[: -policy.at_most], SkipCause.OVER_THE_CAP)
    return due[-policy.at_most :]
