"""Previews of a change of a calendar: the open waits that follow it and would move, before it is saved."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID

from signet.core.calendars.change_report import CalendarWait, DeadlineMove, report_change
from signet.core.calendars.terms import WorkingTerm
from signet.core.moments.followed import name_calendar
from signet.core.previews.placed_findings import PlacedFinding
from signet.core.tenants.principal import Principal
from signet.engine.access.read import reading
from signet.engine.calendars.calendars import EDIT, parse_calendar_body
from signet.engine.calendars.stored_calendars import calendar_not_found, make_stored_calendar
from signet.engine.definitions.heavy_calls import require_turn
from signet.store.calendars.calendars import find_calendar
from signet.store.database import Database
from signet.store.instances.followers import FollowingWait, list_following

MAX_WAITS = 1_000
# The days of all terms together, each of which is looked at: a few seconds of work.
MAX_DAYS = 50_000
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class MovedDeadline:
    """A wait that would go on at another moment; without one it would be held, and `code` says why.

    `is_past` says that it would go on at once. `changed_days` are the first dates that move it.
    """

    instance_id: UUID
    node_id: str
    due_at: datetime
    new_due_at: datetime | None
    code: str | None
    is_past: bool
    changed_days: Sequence[date]


@dataclass(frozen=True, slots=True)
class CalendarPreview:
    """The waits that would move, the earliest first, and how many of those looked at would not.

    Where `is_whole` is false, more of them wait than a preview looks at.
    """

    findings: Sequence[PlacedFinding]
    kept: int
    moves: Sequence[MovedDeadline]
    is_whole: bool


@dataclass(frozen=True, slots=True)
class CalendarPreviews:
    database: Database

    def run(self, principal: Principal, name: str, document: Any) -> CalendarPreview:
        """Compute every open wait that follows the calendar again; nothing is saved."""
        tenant_id = principal.tenant_id
        with reading(self.database, principal) as read:
            read.require(EDIT)
            written = parse_calendar_body(name, document)
            current = find_calendar(read.connection, tenant_id, name)
            if current is None:
                raise calendar_not_found(name)
            require_turn(read.connection, tenant_id)
            rows = list_following(read.connection, tenant_id, [name_calendar(name)], MAX_WAITS + 1)
            looked_at = _take_bounded(rows)
            old, new = make_stored_calendar(name, current.body), make_stored_calendar(name, written.body)
            waits = [_make_wait(row) for row in looked_at]
            report = report_change(old, new, waits, read.transaction.now)
        by_id = {str(row.id): row for row in looked_at}
        moves = [_show(by_id[move.wait.id], move) for move in report.moves]
        return CalendarPreview(written.findings, report.kept, moves, is_whole=len(looked_at) == len(rows))


def _take_bounded(rows: Iterable[FollowingWait]) -> list[FollowingWait]:
    taken: list[FollowingWait] = []
    days = 0
    for row in rows:
        days += (row.resume_at - _find_start(row)) // _DAY + 1
        if len(taken) == MAX_WAITS or days > MAX_DAYS:
            break
        taken.append(row)
    return taken


def _find_start(row: FollowingWait) -> datetime:
    return datetime.fromisoformat(row.given["arrived_at"])


def _make_wait(row: FollowingWait) -> CalendarWait:
    return CalendarWait(str(row.id), _find_start(row), WorkingTerm(**row.given["term"]), row.resume_at)


def _show(row: FollowingWait, move: DeadlineMove) -> MovedDeadline:
    return MovedDeadline(
        row.instance_id,
        row.node_id,
        row.resume_at,
        move.new_due_at,
        move.code,
        move.is_past,
        move.changed_days,
    )
