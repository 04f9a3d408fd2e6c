"""Votes on record, counted again: each contradiction is named, and only what is proven counts."""

from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

import pytest

from signet.core.approvals.eligibility import Seat
from signet.core.approvals.policy import Policy
from signet.core.approvals.proof import (
    PinnedSubject,
    RecordedVote,
    RequestProof,
    find_repeated,
    find_unproven,
    list_approving,
    list_lapsed,
    recount,
)
from signet.core.contracts.compiled_contract import Denial
from tests.support.core.approval_policies import make_policy, make_stage, user

SUBJECT = PinnedSubject(3, "5" * 64, "d" * 64, "b" * 64, "e" * 64)


def policy_of(*stages: str, **terms: Any) -> Policy:
    policy = make_policy(*(make_stage(user(name)) for name in stages))
    return policy.model_copy(update=terms)


def make_vote(stage: int, person: str, decision: Any = "approved", **changes: Any) -> RecordedVote:
    vote = RecordedVote(f"vote-{stage}-{person}", stage, 1, decision, person, None, SUBJECT, None)
    vote = replace(vote, **changes)
    approval = {
        "decision_id": vote.id,
        "stage": vote.stage,
        "seat": vote.position,
        **asdict(SUBJECT),
    }
    audited = {
        "action": f"decide:{vote.decision}",
        "actor_id": vote.decided_by,
        "on_behalf_of": vote.on_behalf_of,
        "detail": {"approval": approval},
    }
    return vote if "audited" in changes else replace(vote, audited=audited)


def make_proof(*votes: RecordedVote, **changes: Any) -> RequestProof:
    seats = [
        Seat(stage, 1, name, status="approved", decided_by=name) for stage, name in ((1, "ann"), (2, "ben"))
    ]
    return replace(RequestProof("r", policy_of("ann", "ben"), SUBJECT, seats, votes), **changes)


GOOD = make_vote(1, "ann"), make_vote(2, "ben")


def test_votes_that_are_on_record_prove_the_approval() -> None:
    assert find_unproven(make_proof(*GOOD)) is None


@pytest.mark.parametrize(
    ("votes", "reason"),
    [
        ((), "no votes on record approve stage 1"),
        (GOOD[:1], "no votes on record approve stage 2"),
        ((GOOD[0], make_vote(2, "ben", "rejected")), "no votes on record approve stage 2"),
        ((GOOD[0], make_vote(2, "ben", audited=None)), "is not in the audit trail"),
        ((GOOD[0], make_vote(2, "ben", audited={"detail": 1})), "says nothing of it"),
        ((GOOD[0], make_vote(2, "ben", audited={"detail": {"approval": {}}})), "says something else"),
        ((GOOD[0], make_vote(2, "ben", subject=replace(SUBJECT, pins_hash=None))), "is about something else"),
    ],
)
def test_anything_else_proves_nothing(votes: tuple[RecordedVote, ...], reason: str) -> None:
    assert reason in str(find_unproven(make_proof(*votes)))


@pytest.mark.parametrize(
    "change",
    [
        {"actor_id": "eve"},
        {"action": "decide:rejected"},
        {"on_behalf_of": "eve"},
        *({"detail": {"approval": {name: "other"}}} for name in ("decision_id", "stage", "seat")),
        *({"detail": {"approval": {name: "0" * 64}}} for name in ("snapshot_hash", "policy_hash")),
    ],
)
def test_each_word_of_the_audit_row_counts(change: dict[str, Any]) -> None:
    audited: Any = GOOD[1].audited
    own = dict(audited["detail"]["approval"])
    if "detail" in change:
        change = {"detail": {"approval": {**own, **change["detail"]["approval"]}}}
    forged = replace(GOOD[1], audited={**audited, **change})
    assert "says something else" in str(find_unproven(make_proof(GOOD[0], forged)))


def test_a_vote_from_a_seat_that_the_policy_does_not_draw_is_none() -> None:
    """A worker writes seats: one that names a stranger proves nothing, also where the vote is on record."""
    proof = make_proof(*GOOD)
    for seat in (replace(proof.seats[0], holder_user_id="eve"), replace(proof.seats[0], origin="escalated")):
        forged = replace(proof, seats=[seat, *proof.seats[1:]])
        assert "draws no such seat" in str(find_unproven(forged))


def test_a_stage_without_a_seat_that_its_policy_draws_proves_nothing() -> None:
    policy = make_policy(make_stage(user("ann"), user("zoe"), quorum=1), make_stage(user("ben")))
    assert find_unproven(make_proof(*GOOD, policy=policy)) == (
        "stage 1 was not asked as the policy draws it: zoe has no seat"
    )


def test_seats_say_nothing_of_their_own() -> None:
    counted = recount(make_proof(GOOD[0]))
    assert [(seat.status, seat.decided_by) for seat in counted] == [("approved", "ann"), ("open", None)]
    closed = make_proof(seats=[Seat(1, 1, "ann", status="closed")])
    assert [seat.status for seat in recount(closed)] == ["closed"]


def test_a_lapsed_seat_stays_so_and_its_vote_counts_for_nothing() -> None:
    lapsed = Seat(1, 1, "ann", status="lapsed", decided_by="ann")
    proof = make_proof(*GOOD, seats=[lapsed, *make_proof().seats[1:]])
    assert [seat.status for seat in recount(proof)] == ["lapsed", "approved"]
    assert list_approving(proof) == [GOOD[1]]
    assert "stage 1" in str(find_unproven(proof))


def never(_: RequestProof, __: RecordedVote) -> Denial | None:
    return None


def deny(name: str) -> Callable[[RequestProof, RecordedVote], Denial | None]:
    return lambda _, vote: Denial("PERMISSION_DENIED", "no") if vote.decided_by == name else None


@pytest.mark.parametrize(
    ("find_denial", "lapsed"),
    [(never, []), (deny("ben"), [("ben", "PERMISSION_DENIED")]), (deny("dora"), [])],
)
def test_votes_lapse_that_may_not_be_given_any_more(find_denial: Any, lapsed: list[tuple[str, str]]) -> None:
    found = list_lapsed([make_proof(*GOOD)], find_denial)
    assert [(lapse.vote.decided_by, lapse.denial.code) for _, lapse in found] == lapsed


def test_a_rejection_never_lapses() -> None:
    proof = make_proof(make_vote(1, "ann", "rejected"))
    assert list_lapsed([proof], deny("ann")) == []


def test_a_person_counts_once_over_all_approvals_of_a_gate() -> None:
    twice = make_proof(make_vote(1, "ann")), make_proof(make_vote(1, "ann"))
    assert find_repeated(twice) == "ann"
    assert find_repeated([make_proof(*GOOD)]) is None
    assert find_repeated([make_proof(GOOD[0], make_vote(2, "dora", on_behalf_of="ann"))]) == "ann"
    allowed = [replace(proof, policy=policy_of("ann", "ben", same_person="allowed")) for proof in twice]
    assert find_repeated(allowed) is None
    assert find_repeated([allowed[0], twice[1]]) == "ann"
