"""The right to fill a seat: its holder, holders of its role, a delegate; nobody barred, nobody twice."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import pytest

import signet
from signet.core.approvals.eligibility import (
    Allowed,
    Delegation,
    PeopleBehind,
    Seat,
    VotingContext,
    can_anyone_vote,
    choose_seat,
    find_authors,
    find_earlier_vote,
    find_people_behind,
    separation_conflict,
)
from signet.core.approvals.votes import record_vote
from signet.core.contracts.compiled_contract import Denial
from tests.support.core.approval_policies import sit, stage_of, vote
from tests.unit.core.contracts.test_compiled_contract import load

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
ALL = stage_of("all")
NOT_YOURS, TAKEN, CLOSED, BARRED = (
    "APPROVAL_NOT_YOURS",
    "APPROVAL_SEAT_TAKEN",
    "APPROVAL_CLOSED",
    "SEPARATION_OF_DUTIES",
)


def delegate(user: str, to: str, number: int = 1, scope: str | None = None) -> Delegation:
    return Delegation(UUID(int=number), user, to, scope, NOW - HOUR, NOW + HOUR)


def stand(
    people: Mapping[str, Collection[str]] | str,
    *delegations: Delegation,
    barred: Collection[str] = (),
    entity_type: str = "invoice",
) -> VotingContext:
    """Return a voting context. `people` are with their roles, or names of people without any."""
    roles = dict.fromkeys(people.split(), ()) if isinstance(people, str) else people

    def find_conflict(person: str) -> Denial | None:
        return Denial(BARRED, f"{person} made it") if person in barred else None

    return VotingContext(entity_type, NOW, roles, delegations, find_conflict)


def choose(person: str, seats: Sequence[Seat], voting: VotingContext) -> int | str | tuple[int, str | None]:
    """Return the seat's position, with the delegator if there is one, or the code of the denial."""
    choice = choose_seat(person, seats, voting)
    if isinstance(choice, Denial):
        return choice.code
    return choice.position if choice.on_behalf_of is None else (choice.position, choice.on_behalf_of)


def list_voters(seats: Sequence[Seat], voting: VotingContext) -> tuple[str, ...]:
    people = sorted(voting.roles)
    return tuple(person for person in people if isinstance(choose_seat(person, seats, voting), Allowed))


@pytest.mark.parametrize(
    ("person", "chosen"),
    [("ada", 1), ("cfo", 2), ("second", 2), ("bob", NOT_YOURS), ("stranger", NOT_YOURS), ("gone", NOT_YOURS)],
)
def test_the_holder_and_whoever_holds_the_role(person: str, chosen: object) -> None:
    voting = stand({"ada": (), "cfo": ["finance"], "second": ["x", "finance"], "bob": ["ada"]})
    assert choose(person, sit("ada", "@finance", "gone"), voting) == chosen


def test_a_role_that_was_taken_away_opens_no_seat() -> None:
    assert choose("cfo", sit("@finance"), stand({"cfo": ["finance"]})) == 1
    assert choose("cfo", sit("@finance"), stand({"cfo": []})) == NOT_YOURS


def test_a_named_holder_needs_the_role_of_the_seat() -> None:
    """It is the holder who needs it, and not the delegate who votes for them."""
    seats = (Seat(1, 1, "ada", needed_role="cfo"),)
    assert choose("ada", seats, stand({"ada": ["cfo"]})) == 1
    assert choose("ada", seats, stand({"ada": ["clerk"]})) == NOT_YOURS
    assert choose("bob", seats, stand({"ada": ["cfo"], "bob": ["cfo"]})) == NOT_YOURS
    assert choose("dora", seats, stand({"ada": ["cfo"], "dora": []}, delegate("ada", "dora"))) == (1, "ada")
    voting = stand({"ada": ["clerk"], "dora": ["cfo"]}, delegate("ada", "dora"))
    assert choose("dora", seats, voting) == NOT_YOURS


def test_a_closed_request_takes_no_vote() -> None:
    closed = tuple(replace(seat, status="closed") for seat in sit("ada"))
    assert choose("ada", closed, stand("ada")) == CLOSED
    denial = choose_seat("ada", sit("ada"), stand("ada"), is_open=False)
    assert isinstance(denial, Denial) and denial.code == CLOSED


def test_a_lapsed_vote_is_no_seat_to_fill() -> None:
    lapsed = tuple(replace(seat, status="lapsed") for seat in sit("ada"))
    assert choose("ada", lapsed, stand("ada")) == NOT_YOURS


def test_a_bar_comes_after_the_duties_and_before_the_seat() -> None:
    bar = Denial("VOTE_BARRED_BY_GRANT", "ada gave it to themselves")
    barring = replace(stand("ada"), find_barring_grant=lambda person, delegation, seat: bar)
    assert choose_seat("ada", sit("ada"), barring) == bar
    both = replace(stand("ada", barred={"ada"}), find_barring_grant=lambda person, delegation, seat: bar)
    assert choose("ada", sit("ada"), both) == BARRED
    free = replace(stand("ada"), find_barring_grant=lambda person, delegation, seat: None)
    assert choose("ada", sit("ada"), free) == 1


def test_a_seat_of_a_role_is_filled_once() -> None:
    voting = stand({"cfo": ["finance"], "second": ["finance"]})
    seats = vote(ALL, sit("@finance", "ada"), finance="approved")
    seats = (replace(seats[0], decided_by="cfo"), seats[1])
    denial = choose_seat("second", seats, voting)
    assert denial == Denial(TAKEN, "cfo has decided here already")
    assert choose("cfo", seats, voting) == TAKEN


def test_nobody_fills_two_seats_of_a_stage() -> None:
    voting = stand({"ada": ["finance"]})
    seats = sit("@finance", "ada", "bob")
    assert choose("ada", seats, voting) == 2
    assert choose("ada", vote(ALL, seats, ada="approved"), voting) == TAKEN
    # Two seats of one role need two people.
    twice = sit("@finance", "@finance")
    first = (replace(twice[0], status="approved", decided_by="ada"), twice[1])
    assert choose("ada", first, voting) == TAKEN
    assert not can_anyone_vote(first, voting)


def test_an_escalated_seat_goes_before_the_one_it_escalates() -> None:
    seats = (*sit("ada", "@finance"), *sit("@finance", "ada", origin="escalated", first=3))
    voting = stand({"ada": ["finance"]})
    assert choose("ada", seats, voting) == 4
    assert choose("ada", seats[:3], voting) == 1
    assert choose("ada", seats[1:3], voting) == 3


def test_a_delegate_decides_in_both_names() -> None:
    choice = choose_seat("del", sit("ada", "bob"), stand("ada bob del", delegate("bob", "del", 7)))
    assert choice == Allowed(2, "bob", UUID(int=7))


def test_a_delegate_of_somebody_with_the_role() -> None:
    voting = stand({"cfo": ["finance"], "del": []}, delegate("cfo", "del"))
    assert choose("del", sit("@finance"), voting) == (1, "cfo")
    assert choose("del", sit("@finance"), stand("cfo del", delegate("cfo", "del"))) == NOT_YOURS


@pytest.mark.parametrize(
    ("change", "is_valid"),
    [
        ({}, True),
        ({"from_time": NOW}, True),
        ({"from_time": NOW + timedelta(microseconds=1)}, False),
        ({"to_time": NOW}, False),
        ({"to_time": NOW + timedelta(microseconds=1)}, True),
        ({"entity_type": "invoice"}, True),
        ({"entity_type": "order"}, False),
        ({"is_revoked": True}, False),
    ],
)
def test_a_delegation_is_dated_scoped_and_not_revoked(change: dict[str, object], is_valid: bool) -> None:
    delegation: Delegation = replace(delegate("ada", "del"), **change)  # type: ignore[arg-type]
    assert choose("del", sit("ada"), stand("ada del", delegation)) == ((1, "ada") if is_valid else NOT_YOURS)


def test_a_delegation_is_not_handed_on() -> None:
    voting = stand("ada one two", delegate("ada", "one", 1), delegate("one", "two", 2))
    assert choose("two", sit("ada"), voting) == NOT_YOURS
    assert list_voters(sit("ada"), voting) == ("ada", "one")


def test_nobody_stands_in_for_who_has_left() -> None:
    assert choose("del", sit("ada"), stand("del", delegate("ada", "del"))) == NOT_YOURS


def test_a_seat_of_ones_own_goes_before_anothers() -> None:
    voting = stand({"ada": (), "del": ["finance"]}, delegate("ada", "del"))
    seats = sit("ada", "@finance", "del")
    assert choose("del", seats, voting) == 3
    assert choose("del", seats[:2], voting) == 2
    assert choose("del", seats[:1], voting) == (1, "ada")
    # The delegate who used it has voted.
    assert choose("del", record_vote(ALL, seats, 3, "approved", decided_by="del"), voting) == TAKEN


def test_who_was_voted_for_has_voted() -> None:
    """Otherwise one voice would count twice, or block the seat of its own that it has left."""
    voting = stand(
        {"ada": ["finance"], "one": [], "two": []}, delegate("ada", "one"), delegate("ada", "two", 2)
    )
    seats = sit("@finance", "ada")
    assert choose("one", seats, voting) == (2, "ada")
    voted = (seats[0], replace(seats[1], status="abstained", decided_by="one", on_behalf_of="ada"))
    assert [choose(person, voted, voting) for person in ("ada", "one", "two")] == [TAKEN] * 3


def test_a_delegate_of_two_serves_them_in_a_fixed_order() -> None:
    one, two = delegate("zoe", "del", 1), delegate("ada", "del", 2)
    for order in ((one, two), (two, one)):
        assert choose("del", sit("@finance", "zoe", "ada"), stand("ada zoe del", *order)) == (2, "zoe")
        members = {"ada": ["finance"], "zoe": ["finance"], "del": ()}
        assert choose("del", sit("@finance"), stand(members, *order)) == (1, "ada")
    same = (delegate("ada", "del", 9), delegate("ada", "del", 3))
    choice = choose_seat("del", sit("ada"), stand("ada del", *same))
    assert choice == Allowed(1, "ada", UUID(int=3))


def test_separation_of_duties_bars_who_clicks_and_for_whom() -> None:
    delegation = delegate("ada", "del")
    seats = sit("ada")
    assert choose("ada", seats, stand("ada", barred={"ada"})) == BARRED
    assert choose("del", seats, stand("ada del", delegation, barred={"ada"})) == BARRED
    assert choose("del", seats, stand("ada del", delegation, barred={"del"})) == BARRED
    assert choose("ada", seats, stand("ada del", delegation, barred={"del"})) == 1
    # A barred delegator does not bar the delegate from a seat of their own.
    assert choose("del", sit("del"), stand("ada del", delegation, barred={"ada"})) == 1
    # A stranger does not learn of it.
    assert choose("eve", seats, stand("ada eve", barred={"eve"})) == NOT_YOURS


def test_a_second_member_serves_where_the_first_is_barred() -> None:
    members = {"ada": ["finance"], "zoe": ["finance"], "del": ()}
    delegations = (delegate("ada", "del", 1), delegate("zoe", "del", 2))
    assert choose("del", sit("@finance"), stand(members, *delegations, barred={"ada"})) == (1, "zoe")


def test_who_may_vote_now() -> None:
    members = {"ada": (), "bob": ["finance"], "zoe": ["finance"], "del": (), "eve": ()}
    voting = stand(members, delegate("ada", "del"), barred={"zoe"})
    seats = sit("ada", "@finance")
    assert list_voters(seats, voting) == ("ada", "bob", "del")
    assert list_voters(vote(ALL, seats, ada="approved"), voting) == ("bob",)
    assert can_anyone_vote(seats, voting)
    assert not can_anyone_vote(seats, stand(members, barred=set(members)))
    assert not can_anyone_vote((), voting)


# --- people barred by separation of duties ---


@dataclass(frozen=True)
class Authored:
    creator_responsible: frozenset[str] = frozenset({"ann"})
    editor_responsible: frozenset[str] = frozenset({"ed"})
    requester_responsible: frozenset[str] = frozenset()


@pytest.mark.parametrize(
    ("document", "requesters", "barred"),
    [
        (Authored(), (), ["ann", "ed"]),
        (Authored(), ("rob",), ["ann", "ed", "rob"]),
        (Authored(), ("rob", "ruth"), ["ann", "ed", "rob", "ruth"]),
        (None, ("rob",), ["rob"]),
        (None, (), []),
    ],
)
def test_separation_of_duties_bars_who_took_part(
    document: Authored | None, requesters: tuple[str, ...], barred: list[str]
) -> None:
    behind = find_people_behind(document, requesters, None)
    find_conflict = separation_conflict(load(separation_of_duties={"may_decide": []}), behind)
    people = ["ann", "ed", "rob", "ruth", "zoe"]
    assert [person for person in people if find_conflict(person) is not None] == barred


PINS = {"vendor": {"version": 3, "responsible": ["vera"]}}
ASKED = Authored(requester_responsible=frozenset({"rita"}))


def test_who_asks_now_stands_beside_those_that_were_asked_for() -> None:
    behind = find_people_behind(ASKED, {"rob"}, PINS)
    assert behind == PeopleBehind(frozenset({"ann"}), frozenset({"ed", "vera"}), frozenset({"rita", "rob"}))
    assert behind.everyone == {"ann", "ed", "vera", "rita", "rob"}


def test_the_authors_of_a_content_have_asked_for_nothing() -> None:
    assert find_authors(ASKED, PINS).everyone == {"ann", "ed", "vera"}


def test_a_request_of_an_older_release_pins_nothing() -> None:
    assert find_people_behind(ASKED, (), None).everyone == {"ann", "ed", "rita"}


def test_an_instance_without_a_document_has_its_requesters() -> None:
    assert find_people_behind(None, ("rob",), PINS).everyone == {"rob", "vera"}


def test_nothing_else_puts_together_who_is_barred() -> None:
    """A rule that is added there holds everywhere that people decide."""
    sources = Path(signet.__file__).parent
    asking = {file for file in sources.rglob("*.py") if ".find_conflict_of_duties" in file.read_text()}
    assert {file.relative_to(sources).as_posix() for file in asking} == {"core/approvals/eligibility.py"}


def test_who_has_voted_before_is_told_so() -> None:
    own = Seat(1, 1, holder_user_id="ann", status="rejected", decided_by="ann")
    lapsed = Seat(1, 2, holder_user_id="ben", status="lapsed", decided_by="ben")
    other = Seat(2, 1, holder_user_id="cy", status="approved", decided_by="dan", on_behalf_of="cy")
    seats = (own, lapsed, other)
    told = Denial("APPROVAL_SEAT_TAKEN", "ann has voted already: rejected in stage 1")
    assert find_earlier_vote("ann", seats) == told
    assert find_earlier_vote("ben", seats) is None
    for person in ("cy", "dan"):
        denial = find_earlier_vote(person, seats)
        assert denial is not None and denial.sentence == "dan has voted for cy already: approved in stage 2"
