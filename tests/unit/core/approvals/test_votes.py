"""Every sequence of votes of up to four seats, against the definition written a second time."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import permutations, product
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from signet.core.approvals.eligibility import Seat, SeatStatus
from signet.core.approvals.seats.assignment import Deadlock
from signet.core.approvals.votes import (
    OPEN,
    Next,
    NextAction,
    StageVerdict,
    count_votes,
    has_escalated,
    is_reason_missing,
    next_action,
    record_vote,
    waits_for_lost_holders,
)
from signet.core.compiler.node_configurations import Quorum, Vote
from signet.core.errors import Defect
from tests.support.core.approval_policies import VOTES, make_policy, make_stage, sit, stage_of, user, vote

QUORUMS: tuple[Quorum, ...] = ("all", "any", 1, 2, 3, 4)
DEADLOCKED = "deadlocked"


def define(quorum: Quorum, votes: Sequence[Vote], seats: int) -> str:
    """Define the state of the stage after these votes in their order."""
    opinions = [each for each in votes if each != "abstained"]
    undecided = "open" if len(votes) < seats else DEADLOCKED
    if quorum == "all":
        if "rejected" in votes:
            return "rejected"
        return "approved" if opinions and len(votes) == seats else undecided
    if quorum == "any":
        return opinions[0] if opinions else undecided
    if seats < quorum:
        return DEADLOCKED
    if votes.count("approved") >= quorum:
        return "approved"
    rest = product(VOTES, repeat=seats - len(votes))
    can_reach = any([*votes, *more].count("approved") >= quorum for more in rest)
    return "rejected" if opinions and not can_reach else undecided


def play(quorum: Quorum, given: Sequence[tuple[int, Vote]], seats: int) -> Iterator[tuple[list[Vote], str]]:
    """Yield the votes so far and the state of the stage after each, until the stage is decided."""
    stage, now = stage_of(quorum), sit(*(f"u{n}" for n in range(1, seats + 1)))
    votes: list[Vote] = []
    yield votes, count_votes(stage, now).state
    for position, each in given:
        if count_votes(stage, now).is_decided:
            with pytest.raises(Defect) as raised:
                record_vote(stage, now, position, each, decided_by="late")
            assert raised.value.code == "APPROVAL_DECIDED_TWICE"
            return
        now = record_vote(stage, now, position, each, decided_by=f"u{position}")
        votes.append(each)
        yield votes, count_votes(stage, now).state


@pytest.mark.parametrize("quorum", QUORUMS)
@pytest.mark.parametrize("seats", [1, 2, 3, 4])
def test_every_sequence_of_votes_is_as_defined(quorum: Quorum, seats: int) -> None:
    for order in permutations(range(1, seats + 1)):
        for given_votes in product(VOTES, repeat=seats):
            for cast_so_far, state in play(quorum, list(zip(order, given_votes, strict=True)), seats):
                assert state == define(quorum, cast_so_far, seats), (order, cast_so_far)


@pytest.mark.parametrize("quorum", QUORUMS)
@pytest.mark.parametrize("seats", [1, 2, 3, 4])
def test_the_order_of_votes_matters_only_where_the_first_decides(quorum: Quorum, seats: int) -> None:
    for votes in product(VOTES, repeat=seats):
        ends = set()
        for order in permutations(range(seats)):
            *_, (_, end) = play(quorum, [(n + 1, votes[n]) for n in order], seats)
            ends.add(end)
            first = next((votes[n] for n in order if votes[n] != "abstained"), DEADLOCKED)
            assert quorum != "any" or end == first
        assert quorum == "any" or len(ends) == 1, votes


@given(st.sampled_from(QUORUMS), st.integers(1, 20), st.data())
def test_larger_stages_too(quorum: Quorum, seats: int, data: st.DataObject) -> None:
    votes = data.draw(st.lists(st.sampled_from(VOTES), min_size=seats, max_size=seats))
    order = data.draw(st.permutations(range(seats)))
    stage, now = stage_of(quorum), sit(*(f"u{n}" for n in range(seats)))
    for n in order:
        if not count_votes(stage, now).is_decided:
            now = record_vote(stage, now, n + 1, votes[n], decided_by=f"u{n}")
    approvals, opinions = votes.count("approved"), seats - votes.count("abstained")
    expected = {
        "all": "rejected" if "rejected" in votes else "approved",
        "any": next((votes[n] for n in order if votes[n] != "abstained"), ""),
    }.get(str(quorum), "approved" if isinstance(quorum, int) and approvals >= quorum else "rejected")
    is_stuck = opinions == 0 or (isinstance(quorum, int) and quorum > seats)
    assert count_votes(stage, now).state == (DEADLOCKED if is_stuck else expected)


def find_states(seats: int, *statuses: SeatStatus) -> Iterator[tuple[Seat, ...]]:
    empty = sit(*(f"u{n}" for n in range(1, seats + 1)))
    for chosen in product(statuses, repeat=seats):
        yield tuple(
            replace(seat, status=status, decided_by=None if status in ("open", "closed") else "x")
            for seat, status in zip(empty, chosen, strict=True)
        )


@pytest.mark.parametrize("quorum", QUORUMS)
def test_another_approval_never_takes_one_away(quorum: Quorum) -> None:
    """One more rejection never approves either."""
    stage = stage_of(quorum)
    for seats in find_states(4, "open", "approved", "rejected", "abstained"):
        before = count_votes(stage, seats).state
        for index, seat in enumerate(seats):
            for status in ("approved", "rejected"):
                after = count_votes(
                    stage, (*seats[:index], replace(seat, status=status), *seats[index + 1 :])
                )
                if status == "approved" and before == "approved":
                    assert after.state == "approved"
                if status == "rejected" and before != "approved":
                    assert after.state != "approved"


@pytest.mark.parametrize("quorum", QUORUMS)
def test_where_nobody_may_vote_nothing_stays_open(quorum: Quorum) -> None:
    stage = stage_of(quorum)
    for seats in find_states(4, *get_args(SeatStatus)):
        able, unable = count_votes(stage, seats), count_votes(stage, seats, can_vote=False)
        assert unable == (able if able != OPEN else StageVerdict("deadlocked", Deadlock.NOBODY_ELIGIBLE))
        assert (able.state == DEADLOCKED) == (able.deadlock is not None)
        assert able != OPEN or any(seat.status == "open" for seat in seats)


@pytest.mark.parametrize("quorum", ["all", "any", 1, 2])
@pytest.mark.parametrize("asked", [0, 1, 2])
@pytest.mark.parametrize("called", [1, 2])
def test_the_first_opinion_of_an_escalation_decides(quorum: Quorum, asked: int, called: int) -> None:
    """The people asked first who have not voted may still vote."""
    stage = stage_of(quorum)
    empty = (*sit("a", "b")[:asked], *sit("x", "y", origin="escalated", first=asked + 1)[:called])
    for order in permutations(range(1, asked + called + 1)):
        for votes in product(VOTES, repeat=asked + called):
            now, firsts, seconds = empty, list[Vote](), list[Vote]()
            for position, each in zip(order, votes, strict=True):
                if count_votes(stage, now).is_decided:
                    break
                now = record_vote(stage, now, position, each, decided_by=str(position))
                (firsts if position <= asked else seconds).append(each)
                ours = define(quorum, firsts, asked)
                theirs = define("any", seconds, called)
                decided = [state for state in (theirs, ours) if state in ("approved", "rejected")]
                has_open = len(seconds) < called or (ours == "open")
                expected = decided[0] if decided else "open" if has_open else DEADLOCKED
                assert count_votes(stage, now).state == expected, (order, votes)


ONE, TWO, THREE = sit("a"), sit("a", "b"), sit("a", "b", "c")
CALLED = (*ONE, *sit("x", origin="escalated", first=2))


@pytest.mark.parametrize(
    ("quorum", "seats", "votes", "can_vote", "deadlock"),
    [
        ("all", (), {}, True, Deadlock.NOBODY_FOUND),
        ("all", TWO, {"a": "abstained", "b": "abstained"}, True, Deadlock.ALL_ABSTAINED),
        ("any", ONE, {"a": "abstained"}, True, Deadlock.ALL_ABSTAINED),
        (2, TWO, {"a": "abstained", "b": "abstained"}, True, Deadlock.ALL_ABSTAINED),
        (2, ONE, {}, True, Deadlock.QUORUM_UNREACHABLE),
        (2, ONE, {"a": "rejected"}, True, Deadlock.QUORUM_UNREACHABLE),
        ("all", ONE, {}, False, Deadlock.NOBODY_ELIGIBLE),
        ("all", TWO, {"a": "approved"}, False, Deadlock.NOBODY_ELIGIBLE),
        (2, THREE, {"a": "approved", "b": "rejected"}, False, Deadlock.NOBODY_ELIGIBLE),
        ("all", CALLED, {"a": "abstained", "x": "abstained"}, True, Deadlock.ALL_ABSTAINED),
        (2, CALLED, {}, False, Deadlock.NOBODY_ELIGIBLE),
    ],
)
def test_why_a_stage_is_deadlocked(
    quorum: Quorum, seats: tuple[Seat, ...], votes: dict[str, Vote], can_vote: bool, deadlock: Deadlock
) -> None:
    seats = vote(stage_of(quorum), seats, **votes)
    assert count_votes(stage_of(quorum), seats, can_vote=can_vote) == StageVerdict("deadlocked", deadlock)


def test_abstentions_do_not_reject_but_leave_a_number_out_of_reach() -> None:
    stage, seats = stage_of(2), sit("a", "b", "c")
    assert count_votes(stage, vote(stage, seats, a="abstained", b="abstained")).state == "open"
    assert (
        count_votes(stage, vote(stage, seats, a="abstained", b="abstained", c="approved")).state == "rejected"
    )
    assert (
        count_votes(stage, vote(stage, seats, a="approved", b="abstained", c="approved")).state == "approved"
    )


@pytest.mark.parametrize("quorum", ["any", "all"])
def test_should_votes_contradict_each_other_nothing_is_approved(quorum: Quorum) -> None:
    first, second = sit("a", "b")
    seats = (
        replace(first, status="approved", decided_by="a"),
        replace(second, status="rejected", decided_by="b"),
    )
    assert count_votes(stage_of(quorum), seats).state == "rejected"


def test_no_seat_is_decided_twice() -> None:
    stage, seats = stage_of("all"), sit("a", "b")
    once = vote(stage, seats, a="approved")
    assert (once[0].status, once[0].decided_by, once[1]) == ("approved", "a", seats[1])
    for position in (1, 3):
        with pytest.raises(Defect) as raised:
            record_vote(stage, once, position, "approved", decided_by="b")
        assert raised.value.code == "APPROVAL_SEAT_NOT_OPEN"


@pytest.mark.parametrize("each", VOTES)
@pytest.mark.parametrize(("reason", "is_empty"), [(None, True), ("", True), (" \n", True), ("late", False)])
def test_a_reason_is_missing_where_the_stage_wants_one(
    each: Vote, reason: str | None, is_empty: bool
) -> None:
    wanting = make_stage(user("a"), reason_required_for=["rejected", "abstained"])
    assert is_reason_missing(wanting, each, reason) == (is_empty and each != "approved")
    assert not is_reason_missing(make_stage(user("a"), reason_required_for=[]), each, reason)


STUCK = StageVerdict("deadlocked", Deadlock.ALL_ABSTAINED)


@pytest.mark.parametrize(
    ("stage", "verdict", "escalated", "following"),
    [
        (1, OPEN, False, Next(NextAction.WAIT)),
        (1, StageVerdict("approved"), False, Next(NextAction.BEGIN_STAGE, 2)),
        (2, StageVerdict("approved"), True, Next(NextAction.APPROVE)),
        (1, StageVerdict("rejected"), False, Next(NextAction.REJECT)),
        (2, StageVerdict("rejected"), False, Next(NextAction.REJECT)),
        (1, STUCK, False, Next(NextAction.PAUSE, reason=Deadlock.ALL_ABSTAINED)),
        (2, STUCK, False, Next(NextAction.ESCALATE, 2, Deadlock.ALL_ABSTAINED)),
        (2, STUCK, True, Next(NextAction.PAUSE, reason=Deadlock.ALL_ABSTAINED)),
    ],
)
def test_what_comes_next(stage: int, verdict: StageVerdict, escalated: bool, following: Next) -> None:
    policy = make_policy(stage_of("all"), stage_of("all", escalates=True))
    assert next_action(policy, stage, verdict, escalated=escalated) == following


def test_an_escalation_for_want_of_people_waits_for_its_time_where_holders_were_lost() -> None:
    following = Next(NextAction.ESCALATE, 1, Deadlock.NOBODY_ELIGIBLE)
    assert waits_for_lost_holders(following, is_late=False, has_lost_holder=True)
    assert not waits_for_lost_holders(following, is_late=True, has_lost_holder=True)
    assert not waits_for_lost_holders(following, is_late=False, has_lost_holder=False)
    for other in (
        Next(NextAction.ESCALATE, 1, Deadlock.ALL_ABSTAINED),
        Next(NextAction.PAUSE, reason=Deadlock.NOBODY_ELIGIBLE),
        Next(NextAction.WAIT),
    ):
        assert not waits_for_lost_holders(other, is_late=False, has_lost_holder=True)


@pytest.mark.parametrize("quorum", ["all", 2])
def test_a_seat_of_break_glass_decides_like_one_of_the_wider_circle(quorum: Quorum) -> None:
    stage, seats = stage_of(quorum), (*sit("a", "b"), *sit("x", origin="break_glass", first=3))
    for each in ("approved", "rejected"):
        assert count_votes(stage, vote(stage, seats, x=each)).state == each
    assert count_votes(stage, vote(stage, seats, a="approved")) == OPEN
    assert not has_escalated(seats), "the stage may still escalate"


def test_whether_a_stage_has_escalated_stands_in_its_seats() -> None:
    assert not has_escalated(sit("a"))
    assert has_escalated((*sit("a"), *sit("x", origin="escalated", first=2)))
