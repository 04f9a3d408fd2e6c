"""The report of which deadlines a change of a calendar would move, before it is saved."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from signet.core.calendars.terms import WorkingTerm, find_due
from signet.core.calendars.working_calendar import WorkingCalendar, list_intervals_of_day
from signet.core.calendars.zone_clock import make_instant
from signet.core.errors import Rejected

MAX_REPORTED_WAITS = 10_000
MAX_CHANGED_DAYS = 5
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class CalendarWait:
    """Something that waits for the end of a term, with the due moment that was computed for it."""

    id: str
    started_at: datetime
    term: WorkingTerm
    due_at: datetime


@dataclass(frozen=True, slots=True)
class DeadlineMove:
    wait: CalendarWait
    # None where the new calendar gives none; `code` says why.
    new_due_at: datetime | None
    code: str | None
    # The due moment is not what the old calendar gives: it comes from a version before that.
    is_older: bool
    # The new due moment has passed already: the wait would end at once.
    is_past: bool
    # The first dates between start and due moment whose working time is not the same.
    changed_days: tuple[date, ...]

    @property
    def by(self) -> timedelta | None:
        return None if self.new_due_at is None else self.new_due_at - self.wait.due_at


@dataclass(frozen=True, slots=True)
class ChangeReport:
    kept: int
    moves: tuple[DeadlineMove, ...]


def report_change(
    old: WorkingCalendar, new: WorkingCalendar, waits: Sequence[CalendarWait], now: datetime
) -> ChangeReport:
    """Report each wait whose due moment would be another one; the earliest come first."""
    if len(waits) > MAX_REPORTED_WAITS:
        raise Rejected(
            "CALENDAR_WAITS_TOO_MANY",
            f"A report tells about at most {MAX_REPORTED_WAITS} waits, and these are {len(waits)}.",
            remedy="Report them in parts.",
        )
    changed = tuple(_list_changed_days(old, new))
    moves = [move for wait in waits if (move := _find_move(old, new, wait, now, changed)) is not None]
    moves.sort(key=lambda move: (move.wait.due_at, move.wait.id))
    return ChangeReport(len(waits) - len(moves), tuple(moves))


def _find_move(
    old: WorkingCalendar, new: WorkingCalendar, wait: CalendarWait, now: datetime, changed: Sequence[date]
) -> DeadlineMove | None:
    due, code = _try_due(new, wait)
    if due == wait.due_at:
        return None
    last = max(wait.due_at, due) if due is not None else wait.due_at
    begin = bisect_left(changed, new.read_date(make_instant(wait.started_at)))
    end = bisect_right(changed, new.read_date(make_instant(last)))
    return DeadlineMove(
        wait=wait,
        new_due_at=due,
        code=code,
        is_older=_try_due(old, wait)[0] != wait.due_at,
        is_past=due is not None and due <= now,
        changed_days=tuple(changed[begin:end][:MAX_CHANGED_DAYS]),
    )


def _try_due(calendar: WorkingCalendar, wait: CalendarWait) -> tuple[datetime | None, str | None]:
    try:
        return find_due(calendar, wait.started_at, wait.term), None
    except Rejected as refusal:
        return None, refusal.code


def _list_changed_days(old: WorkingCalendar, new: WorkingCalendar) -> Iterator[date]:
    """Yield the dates with another working time, as far as both calendars know their holidays."""
    day = max(old.first, new.first)
    while day <= min(old.last, new.last):
        if list_intervals_of_day(old, day) != list_intervals_of_day(new, day):
            yield day
        day += _DAY
