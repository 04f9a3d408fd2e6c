"""The seats that are made again where a stage had only abstentions."""

from dataclasses import replace
from typing import Any

import pytest

from signet.core.approvals.eligibility import Seat
from signet.core.approvals.seats.abstentions import has_only_abstentions, list_seats_for_others
from signet.core.approvals.seats.assignment import MAX_SEATS
from tests.support.core.approval_policies import make_stage, role

STAGE = make_stage(role("finance"))
GONE = Seat(1, 1, holder_role="finance", status="abstained", decided_by="ann", on_behalf_of="ben")
OTHER = Seat(1, 2, holder_role="board", status="abstained", decided_by="cleo")
NAMED = Seat(1, 3, holder_user_id="dora", status="abstained", decided_by="dora")


def test_the_seat_of_a_role_is_made_again_behind_the_others() -> None:
    (again,) = list_seats_for_others(STAGE, [GONE])
    assert again == Seat(1, 2, holder_role="finance")


def test_a_person_is_not_asked_again() -> None:
    assert [seat.position for seat in list_seats_for_others(STAGE, [GONE, OTHER, NAMED])] == [4, 5]
    assert list_seats_for_others(STAGE, [NAMED]) == []


@pytest.mark.parametrize(("quorum", "asked"), [("any", 1), ("all", 1), (1, 1), (2, 2)])
def test_one_of_a_role_will_do_unless_a_number_must_approve(quorum: Any, asked: int) -> None:
    seats = [GONE, replace(GONE, position=2, decided_by="eve")]
    stage = make_stage(role("finance"), role("finance"), quorum=quorum)
    assert len(list_seats_for_others(stage, seats)) == asked


def test_nothing_is_made_while_any_other_vote_is_there_or_may_come() -> None:
    assert list_seats_for_others(STAGE, [GONE, replace(OTHER, status="open", decided_by=None)]) == []
    assert not has_only_abstentions([GONE, replace(OTHER, status="approved")])
    assert not has_only_abstentions([replace(GONE, status="lapsed")])
    assert has_only_abstentions([GONE, replace(OTHER, status="lapsed")])


def test_a_stage_has_no_more_seats_than_it_may() -> None:
    seats = [replace(GONE, position=number) for number in range(1, MAX_SEATS + 1)]
    assert len(list_seats_for_others(STAGE, seats[1:])) == 1
    assert list_seats_for_others(STAGE, seats) == []
