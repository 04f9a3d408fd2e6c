"""The report of a change: which deadlines move, by how much, and because of which dates."""

from datetime import date, datetime, timedelta
from typing import Any

import pytest

from signet.core.calendars.change_report import (
    MAX_CHANGED_DAYS,
    MAX_REPORTED_WAITS,
    CalendarWait,
    report_change,
)
from signet.core.calendars.terms import WorkingTerm, find_due
from signet.core.errors import Rejected
from tests.support.core.calendars import OFFICE, at, make_calendar, vary

OLD = make_calendar()
NOW = at("2026-12-20 12:00")
NEW_HOLIDAY = [*OFFICE["holidays"], {"date": "2026-12-22", "name": "Outing"}]


def wait(name: str, started_at: str, **term: int) -> CalendarWait:
    """Make a wait as the old calendar has computed it."""
    begin, written = at(started_at), WorkingTerm(**term)
    return CalendarWait(name, begin, written, find_due(OLD, begin, written))


def test_a_calendar_that_is_the_same_moves_nothing() -> None:
    waits = [wait("a", "2026-12-21 10:00", days=1), wait("b", "2026-12-21 10:00", hours=10)]
    report = report_change(OLD, make_calendar(), waits, NOW)
    assert (report.kept, report.moves) == (2, ())


def test_a_new_holiday_moves_what_runs_over_it_and_nothing_else() -> None:
    over = wait("over", "2026-12-21 10:00", days=1)
    hours = wait("hours", "2026-12-21 16:00", hours=2)
    before = wait("before", "2026-12-21 10:00", hours=6)
    behind = wait("behind", "2026-12-22 10:00", days=1)
    new = make_calendar(vary(holidays=NEW_HOLIDAY))
    report = report_change(OLD, new, [over, before, hours, behind], NOW)
    assert report.kept == 2
    # The earliest due moment comes first.
    first, second = report.moves
    assert (first.wait, first.new_due_at, first.by) == (hours, at("2026-12-23 10:00"), timedelta(days=1))
    assert (second.wait, second.new_due_at, second.by) == (over, at("2026-12-23 17:00"), timedelta(days=1))
    for move in report.moves:
        assert (move.code, move.is_older, move.is_past) == (None, False, False)
        assert move.changed_days == (date(2026, 12, 22),)


def test_a_deadline_that_moves_into_the_past_is_named() -> None:
    longer = vary(hours={**OFFICE["hours"], "saturday": ["09:00-17:00"]})
    waiting = wait("a", "2026-12-18 14:00", hours=3)
    (move,) = report_change(OLD, make_calendar(longer), [waiting], NOW).moves
    assert move.new_due_at == at("2026-12-19 11:00")
    assert move.by == at("2026-12-19 11:00") - at("2026-12-21 11:00")
    assert move.is_past
    assert move.changed_days == (date(2026, 12, 19),)
    (later,) = report_change(OLD, make_calendar(longer), [waiting], at("2026-12-19 10:59")).moves
    assert not later.is_past


def test_a_deadline_that_the_new_calendar_does_not_reach_is_named_with_its_refusal() -> None:
    shorter = vary(years={"first": 2026, "last": 2026}, holidays=OFFICE["holidays"][:1])
    waiting = wait("a", "2026-12-30 10:00", days=3)
    (move,) = report_change(OLD, make_calendar(shorter), [waiting], NOW).moves
    assert (move.new_due_at, move.by, move.code) == (None, None, "CALENDAR_YEARS_EXCEEDED")
    assert not move.is_past
    assert move.changed_days == ()


def test_a_due_moment_of_an_older_version_is_told_apart() -> None:
    term = WorkingTerm(days=1)
    older = CalendarWait("a", at("2026-12-21 10:00"), term, at("2026-12-22 12:00"))
    new = make_calendar(vary(holidays=NEW_HOLIDAY))
    (move,) = report_change(OLD, new, [older], NOW).moves
    assert move.is_older
    # Where the new calendar gives what stands, nothing moves.
    assert report_change(new, OLD, [wait("b", "2026-12-21 10:00", days=1)], NOW).moves == ()


def test_another_zone_moves_each_deadline() -> None:
    waiting = wait("a", "2026-12-21 10:00", days=1)
    (move,) = report_change(OLD, make_calendar(vary(zone="Europe/London")), [waiting], NOW).moves
    assert move.by == timedelta(hours=1)
    assert move.changed_days == (date(2026, 12, 21), date(2026, 12, 22))


def test_the_dates_that_differ_are_listed_up_to_a_bound() -> None:
    later = {day: ["10:00-16:00"] for day in OFFICE["hours"]}
    waiting = wait("a", "2026-11-02 10:00", days=15)
    (move,) = report_change(OLD, make_calendar(vary(hours=later)), [waiting], NOW).moves
    assert move.changed_days == tuple(date(2026, 11, day) for day in (2, 3, 4, 5, 6))
    assert len(move.changed_days) == MAX_CHANGED_DAYS


def test_moves_at_one_moment_are_in_the_order_of_their_ids() -> None:
    new = make_calendar(vary(holidays=NEW_HOLIDAY))
    waits = [wait(name, "2026-12-21 10:00", days=1) for name in "cab"]
    assert [move.wait.id for move in report_change(OLD, new, waits, NOW).moves] == ["a", "b", "c"]


def test_a_report_is_bounded() -> None:
    many: list[Any] = [wait("a", "2026-12-21 10:00", days=1)] * (MAX_REPORTED_WAITS + 1)
    with pytest.raises(Rejected) as refusal:
        report_change(OLD, OLD, many, datetime.fromisoformat("2026-12-20T12:00:00+00:00"))
    assert refusal.value.code == "CALENDAR_WAITS_TOO_MANY"
