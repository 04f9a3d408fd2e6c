"""Seats that the workflow has drawn, and those that were added to a stage."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from signet.core.approvals.eligibility import Seat
from signet.core.approvals.seats.foreign_seats import find_foreign_seat, find_other_bench
from signet.core.calendars.terms import MAX_CLOCK_CHANGE
from tests.support.core.approval_policies import make_stage, role, user

BEGAN = datetime(2026, 3, 1, 12, tzinfo=UTC)
STAGE = make_stage(role("finance"), user("ann"), escalate={"after": "P1D", "to": role("boss")})
FIRST = Seat(1, 1, holder_role="finance", asked_at=BEGAN)
SECOND = Seat(1, 2, holder_user_id="ann", asked_at=BEGAN)
LATER = replace(FIRST, position=3, asked_at=BEGAN + timedelta(minutes=1))
WIDER = Seat(1, 4, holder_role="boss", origin="escalated", asked_at=BEGAN + timedelta(minutes=1))


def find(seat: Seat, *others: Seat, nobody_else: bool = False) -> str:
    seats = (FIRST, SECOND, *others, seat)
    return str(find_foreign_seat(STAGE, seats, seat, nobody_else=nobody_else))


@pytest.mark.parametrize(
    "seat",
    [
        FIRST,
        SECOND,
        replace(WIDER, asked_at=BEGAN),
        replace(WIDER, asked_at=BEGAN + timedelta(days=1)),
        replace(WIDER, asked_at=None),
        Seat(1, 5, holder_user_id="eve", origin="break_glass", asked_at=BEGAN + timedelta(hours=1)),
    ],
)
def test_the_workflow_draws_these(seat: Seat) -> None:
    assert find(seat) == "None"


def test_others_were_added() -> None:
    assert find(LATER) == "seat 3 was added to stage 1 after it was asked"
    assert find(WIDER) == (
        "seat 4 of stage 1 was escalated to before it was due, at 2026-03-02T12:00:00+00:00"
    )
    assert find(replace(FIRST, holder_role="clerk")) == "the policy draws no such seat as 1 of stage 1"


def test_a_seat_takes_the_place_of_a_lapsed_vote() -> None:
    lapsed = replace(FIRST, position=6, status="lapsed", decided_by="zoe")
    assert find(LATER, lapsed) == "None"
    assert find(LATER, replace(lapsed, holder_role="other")) != "None"


def test_a_seat_takes_the_place_of_the_abstention_of_a_role() -> None:
    abstained = replace(FIRST, position=6, status="abstained", decided_by="zoe")
    assert find(LATER, abstained) == "None"
    assert find(LATER, replace(abstained, holder_role="other")) != "None"
    own = replace(SECOND, position=7, asked_at=LATER.asked_at)
    assert find(own, replace(SECOND, position=6, status="abstained", decided_by="ann")) != "None"


def test_a_seat_of_the_wider_circle_counts_where_nobody_else_may_vote() -> None:
    assert find(WIDER, nobody_else=True) == "None"
    assert find(LATER, nobody_else=True) != "None"


ROLE, PERSON = replace(FIRST, status="approved"), replace(SECOND, status="approved")
AGAIN = replace(ROLE, position=3)


@pytest.mark.parametrize(
    ("seats", "reason"),
    [
        ((ROLE, PERSON), "None"),
        ((replace(PERSON, holder_user_id="bea", handed_over_from="ann"), ROLE), "None"),
        ((replace(ROLE, status="lapsed"), AGAIN, PERSON), "None"),
        ((replace(ROLE, status="abstained"), AGAIN, PERSON), "None"),
        # The person is asked who rejected before, in place of their role.
        ((Seat(1, 1, holder_user_id="fay", needed_role="finance"), PERSON), "None"),
        # A stage that could not begin has none of its own: a wider circle decides.
        ((replace(WIDER, status="approved"),), "None"),
        ((ROLE,), "ann has no seat"),
        ((PERSON,), "the role finance has no seat"),
        ((PERSON, replace(ROLE, status="lapsed")), "the role finance has no seat"),
        ((PERSON, ROLE, AGAIN), "the role finance has more seats than the policy draws"),
    ],
)
def test_who_is_named_has_a_seat_and_a_role_has_no_more_than_drawn(
    seats: tuple[Seat, ...], reason: str
) -> None:
    assert str(find_other_bench(STAGE, seats)) == reason


def test_a_role_that_takes_turns_and_a_line_are_not_counted() -> None:
    stage = make_stage({**role("finance"), "pick": "round_robin"}, {"by": "manager", "of": "entity.owner"})
    assert find_other_bench(stage, [Seat(1, 1, holder_user_id="ann", needed_role="finance")]) is None


@pytest.mark.parametrize(
    ("after", "least"),
    [
        ({"days": 1}, timedelta(0)),
        ({"days": 3, "calendar": "office"}, timedelta(days=2) - MAX_CLOCK_CHANGE),
        ({"hours": 5, "minutes": 30}, timedelta(hours=5, minutes=30)),
    ],
)
def test_an_escalation_in_business_time_comes_no_sooner_than_any_calendar_has_it(
    after: dict[str, Any], least: timedelta
) -> None:
    stage = make_stage(role("finance"), user("ann"), escalate={"after": after, "to": role("boss")})
    due = replace(WIDER, asked_at=BEGAN + least)
    assert find_foreign_seat(stage, (FIRST, SECOND, due), due, nobody_else=False) is None
    early = replace(WIDER, asked_at=BEGAN + least - timedelta(microseconds=1))
    found = find_foreign_seat(
        stage, (replace(FIRST, asked_at=BEGAN), SECOND, early), early, nobody_else=False
    )
    assert (found is None) is (least == timedelta(0))
