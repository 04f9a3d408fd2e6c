"""Delegations of votes, and reporting lines that seats came by: each bars by its own giving."""

from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from signet.core.approvals.barring_changes import CODE, VoteBasis, find_barring_change
from signet.core.approvals.eligibility import Delegation, parse_delegation
from signet.core.tenants.eligibility_changes import EligibilityChange
from tests.unit.core.approvals.test_barring_changes import BASIS, DELEGATED, LATER, OPENED, change, is_barred

GIVEN = Delegation(
    UUID(int=1),
    "ben",
    "dora",
    None,
    OPENED,
    OPENED + timedelta(days=9),
    created_by="mia",
    given_by=("mia",),
    given_at=LATER,
)


def votes_by(**changes: Any) -> VoteBasis:
    """Return what dora's vote for ben rests on, by such a delegation."""
    return replace(DELEGATED, delegation=replace(GIVEN, **changes))


def test_a_delegation_bars_unless_the_delegator_gave_it() -> None:
    assert is_barred(votes_by())
    assert is_barred(votes_by(given_at=OPENED))
    assert is_barred(votes_by(given_by=("ada", "mia"))), "one of those who answer for it"
    assert is_barred(votes_by(given_by=("dora",))), "the delegate took it"
    assert not is_barred(votes_by(given_by=("ben",))), "their own voice is theirs to give"
    assert not is_barred(votes_by(given_by=("hana",))), "a third person may"
    assert not is_barred(votes_by(given_at=OPENED - timedelta(seconds=1)))
    assert not is_barred(votes_by(given_at=None)), "it is not written yet"
    assert is_barred(replace(votes_by(), judges_takings=False)), "a gate asks it too"


def test_the_same_delegation_given_once_more_bars_nobody() -> None:
    again = [
        change("delegation_given", user_id=a, other_user_id=b) for a, b in (("ben", "dora"), ("dora", "ben"))
    ]
    assert not is_barred(votes_by(given_by=("ben",)), *again)
    assert not is_barred(BASIS, *again), "a vote from one's own seat rests on no delegation"


def test_the_refusal_says_who_gave_it_and_what_the_delegator_can_do() -> None:
    denial = find_barring_change(votes_by(), ())
    assert denial is not None and denial.code == CODE
    assert denial.sentence == (
        "mia gave dora a delegation of ben at 2026-01-01 13:00:00 UTC, after this approval was asked for:"
        " ben votes themselves, or gives their voice by a delegation of their own"
    )


def test_a_delegation_is_parsed_as_a_statement_brings_it_along() -> None:
    stored = {
        "id": str(GIVEN.id),
        "user_id": "ben",
        "delegate_id": "dora",
        "entity_type": None,
        "from_time": "2026-01-01T12:00:00+00:00",
        "to_time": "2026-01-10T12:00:00+00:00",
        "created_by": "mia",
        "given_by": ("mia",),
        "given_at": "2026-01-01T13:00:00+00:00",
    }
    assert parse_delegation(stored) == GIVEN


# Ben manages the manager of mia: their seat rests on the lines of mia and of pia.
CLIMBED = replace(
    BASIS,
    is_by_line=True,
    own_seat_roles=(),
    holder_ids=("ben", "lena"),
    line_holders=(),
    own_lines=("mia", "pia"),
    lines=("mia", "pia", "otto"),
)


def set_line(of: str, manager: str = "kim", **more: Any) -> EligibilityChange:
    return change(
        "manager_set", user_id=manager, other_user_id=of, given_by=more.pop("given_by", ("mia",)), **more
    )


@pytest.mark.parametrize("of", ["mia", "pia"])
def test_a_seat_rests_on_each_line_that_was_climbed(of: str) -> None:
    moved = set_line(of)
    assert is_barred(CLIMBED, moved)
    assert is_barred(replace(CLIMBED, judges_takings=False), moved), "a gate asks it too"
    assert not is_barred(CLIMBED, replace(moved, given_by=("frank",))), "frank has set it again"
    assert not is_barred(CLIMBED, replace(moved, persons=("hana",)))
    assert not is_barred(replace(CLIMBED, is_by_line=False, lines=()), moved), "he is asked by name"


def test_a_line_beside_them_bars_nobody() -> None:
    """Mia makes the approver manage another person: their seat has nothing to do with it."""
    assert not is_barred(CLIMBED, set_line("zoe", "ben"))
    assert is_barred(replace(CLIMBED, own_lines=(), lines=()), set_line("zoe", "ben")), (
        "the seat does not tell"
    )


def test_a_line_of_another_seat_bars_the_whole_stage_at_the_vote() -> None:
    moved = set_line("otto")
    assert is_barred(CLIMBED, moved)
    assert is_barred(replace(BASIS, lines=("otto",)), moved), "a seat by a role"
    assert not is_barred(replace(CLIMBED, judges_takings=False), moved), "a gate asks for its own seat alone"


def test_who_gives_up_the_line_by_which_they_are_asked_bars_nobody_else() -> None:
    """A manager further down takes the seat from another person, and so bars the stage."""
    given_up = set_line("otto", "lena", persons=("lena", "mia"), is_given_up=True)
    assert not is_barred(CLIMBED, given_up)
    assert not is_barred(CLIMBED, replace(given_up, user_id="kim")), "to kim"
    assert is_barred(CLIMBED, replace(given_up, is_given_up=False)), "by another act"
    assert is_barred(CLIMBED, replace(given_up, persons=("kim", "mia"), user_id="kim")), "kim is not asked"
