"""Whole requests: with any voters, delegates and order, a request decides or pauses with a reason."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import NAMESPACE_OID, uuid5

from hypothesis import given
from hypothesis import strategies as st

from signet.core.approvals.eligibility import (
    Allowed,
    Delegation,
    Seat,
    VotingContext,
    can_anyone_vote,
    choose_seat,
)
from signet.core.approvals.policy import Policy
from signet.core.approvals.seats.assignment import ApproverData, Deadlock, seat_escalation, seat_stage
from signet.core.approvals.votes import (
    Next,
    NextAction,
    StageVerdict,
    count_votes,
    has_escalated,
    next_action,
    record_vote,
)
from signet.core.compiler.node_configurations import Quorum, Vote
from signet.core.contracts.compiled_contract import Denial
from tests.support.core.approval_policies import (
    VOTES,
    expression,
    make_policy,
    make_stage,
    manager,
    role,
    sit,
    stage_of,
    user,
)

NOW = datetime(2026, 3, 2, tzinfo=UTC)
PEOPLE = ("ada", "bob", "cy", "dan", "eve")
ROLES = ("r", "s")
QUORUMS: tuple[Quorum, ...] = ("all", "any", 1, 2, 3)


def delegate(user_id: str, to: str) -> Delegation:
    hour = timedelta(hours=1)
    return Delegation(uuid5(NAMESPACE_OID, f"{user_id}>{to}"), user_id, to, None, NOW - hour, NOW + hour)


def stand(
    roles: dict[str, tuple[str, ...]], delegations: Sequence[Delegation], barred: Sequence[str] = ()
) -> VotingContext:
    def find_conflict(person: str) -> Denial | None:
        return Denial("SEPARATION_OF_DUTIES", "no") if person in barred else None

    return VotingContext("invoice", NOW, roles, delegations, find_conflict)


@given(st.sampled_from(QUORUMS), st.integers(1, 5), st.data())
def test_any_order_of_votes_abstentions_and_delegations_gives_one_outcome(
    quorum: Quorum, seats: int, data: st.DataObject
) -> None:
    """There are as many people as seats, and some send a delegate: the outcome is that of their own votes."""
    holders = [f"u{n}" for n in range(seats)]
    votes = dict(zip(holders, data.draw(st.tuples(*[st.sampled_from(VOTES)] * seats)), strict=True))
    absent = data.draw(st.sets(st.sampled_from(holders)))
    delegations = [delegate(holder, f"for_{holder}") for holder in holders]
    voting = stand(dict.fromkeys([*holders, *(f"for_{h}" for h in holders)], ()), delegations)
    stage, outcomes = stage_of(quorum, 5), set()
    for _ in range(3):
        now: tuple[Seat, ...] = sit(*holders)
        order = data.draw(st.permutations(holders))
        for holder in order:
            clicks = f"for_{holder}" if holder in absent else holder
            choice = choose_seat(clicks, now, voting)
            assert isinstance(choice, Allowed)
            assert choice.on_behalf_of == (holder if holder in absent else None)
            if not count_votes(stage, now).is_decided:
                now = record_vote(stage, now, choice.position, votes[holder], decided_by=clicks,
                           on_behalf_of=choice.on_behalf_of)  # fmt: skip
        outcome = count_votes(stage, now)
        opinions = [votes[holder] for holder in order if votes[holder] != "abstained"]
        if quorum == "any" and opinions:
            assert outcome.state == opinions[0]
        else:
            outcomes.add(outcome)
    assert len(outcomes) <= 1


APPROVERS = st.one_of(
    st.sampled_from(PEOPLE).map(user),
    st.sampled_from(ROLES).map(role),
    st.sampled_from(ROLES).map(lambda name: role(name, "round_robin")),
    st.integers(1, 2).map(lambda levels: manager(levels=levels)),
    st.just(expression("context.people")),
)


@st.composite
def draw_policy(draw: st.DrawFn) -> Policy:
    stages = []
    for _ in range(draw(st.integers(1, 3))):
        approvers = draw(st.lists(APPROVERS, min_size=1, max_size=4))
        quorum = draw(st.sampled_from(["all", "any", *range(1, len(approvers) + 1)]))
        to: dict[str, Any] | None = draw(st.none() | APPROVERS)
        more = {} if to is None else {"escalate": {"after": "P1D", "to": to}}
        stages.append(make_stage(*approvers, quorum=quorum, **more))
    return make_policy(*stages)


class WholeRequest:
    """A request as the engine runs it: seats are made, votes are recorded, the next action is taken."""

    def __init__(self, policy: Policy, approver_data: ApproverData, voting: VotingContext) -> None:
        self.policy, self.approver_data, self.voting = policy, approver_data, voting
        self.number, self.votes, self.escalations = 0, 0, 0
        self.seats: tuple[Seat, ...] = ()
        self.end: Next | None = None
        self.go_on(Next(NextAction.BEGIN_STAGE, 1))

    def go_on(self, following: Next) -> None:
        verdict = None
        match following.act:
            case NextAction.WAIT:
                return
            case NextAction.BEGIN_STAGE:
                assert following.stage == self.number + 1
                self.number, self.escalations = following.stage, 0
                assignment = seat_stage(self.number, self.policy.stage(self.number), self.approver_data)
                self.seats = assignment.seats
                verdict = StageVerdict("deadlocked", assignment.deadlock) if assignment.deadlock else None
            case NextAction.ESCALATE:
                verdict = self.escalate()
            case _:
                self.end = following
                return
        self.go_on(self.look(verdict))

    def escalate(self) -> StageVerdict | None:
        self.escalations += 1
        escalation = self.policy.stage(self.number).escalate
        assert escalation is not None
        assignment = seat_escalation(self.number, escalation, self.approver_data, self.seats)
        self.seats += assignment.seats
        return StageVerdict("deadlocked", assignment.deadlock) if assignment.deadlock else None

    def look(self, verdict: StageVerdict | None = None) -> Next:
        can_vote = can_anyone_vote(self.seats, self.voting)
        verdict = verdict or count_votes(self.policy.stage(self.number), self.seats, can_vote=can_vote)
        escalated = has_escalated(self.seats) or self.escalations > 0
        return next_action(self.policy, self.number, verdict, escalated=escalated)

    def vote(self, person: str, given_vote: Vote) -> bool:
        choice = choose_seat(person, self.seats, self.voting, is_open=self.end is None)
        if isinstance(choice, Denial):
            return False
        stage, before = self.policy.stage(self.number), self.seats
        self.seats = record_vote(stage, before, choice.position, given_vote, decided_by=person,
                          on_behalf_of=choice.on_behalf_of)  # fmt: skip
        changed = [seat for seat in before if seat not in self.seats]
        assert [seat.status for seat in changed] == ["open"]
        self.votes += 1
        self.check_voices()
        self.go_on(self.look())
        return True

    def check_voices(self) -> None:
        voices = [v for s in self.seats for v in (s.decided_by, s.on_behalf_of) if v is not None]
        assert len(voices) == len(set(voices)), "somebody counts twice"
        assert all(self.voting.find_conflict(voice) is None for voice in voices), "a barred person counts"
        assert len({seat.position for seat in self.seats}) == len(self.seats)


@st.composite
def draw_request(draw: st.DrawFn) -> WholeRequest:
    people = draw(st.sets(st.sampled_from(PEOPLE)))
    roles = {person: tuple(draw(st.sets(st.sampled_from(ROLES)))) for person in sorted(people)}
    pairs = st.tuples(st.sampled_from(PEOPLE), st.sampled_from(PEOPLE))
    delegations = [delegate(*pair) for pair in draw(st.lists(pairs, max_size=4)) if pair[0] != pair[1]]
    barred = sorted(draw(st.sets(st.sampled_from(PEOPLE), max_size=2)))
    named = draw(st.lists(st.sampled_from([*PEOPLE, None]), max_size=3))
    approver_data = ApproverData(
        values={"actor.user_id": draw(st.sampled_from(PEOPLE)), "context.people": named},
        managers={"ada": "bob", "bob": "cy", "dan": "cy"},
        members={each: [p for p in roles if each in roles[p]] for each in ROLES},
        turns=dict.fromkeys(ROLES, draw(st.integers(0, 9))),
        barred=draw(st.sampled_from([(), tuple(barred)])),
    )
    return WholeRequest(draw(draw_policy()), approver_data, stand(roles, delegations, barred))


@given(draw_request(), st.data())
def test_a_request_never_hangs(request: WholeRequest, data: st.DataObject) -> None:
    """It ends after at most as many votes as it has seats."""
    while request.end is None:
        assert request.look().act is NextAction.WAIT
        order = data.draw(st.permutations(PEOPLE))
        votes = data.draw(st.tuples(*[st.sampled_from(VOTES)] * len(PEOPLE)))
        # While it waits there is a person who may vote, and a vote always leaves one open seat fewer.
        assert any(request.vote(person, each) for person, each in zip(order, votes, strict=True))
        assert request.votes <= 3 * len(PEOPLE)
    assert (request.end.act is NextAction.PAUSE) == (request.end.reason is not None)
    assert request.end.act in (NextAction.APPROVE, NextAction.REJECT, NextAction.PAUSE)
    assert not any(request.vote(person, "approved") for person in PEOPLE)


@given(draw_request(), st.data())
def test_an_approval_has_an_approver_in_every_stage_and_a_rejection_one_who_voted(
    request: WholeRequest, data: st.DataObject
) -> None:
    approvals = {0: 1}
    for _ in range(3 * len(PEOPLE)):
        for person in PEOPLE:
            number, wanted = request.number, data.draw(st.sampled_from(VOTES))
            if request.end is None and request.vote(person, wanted):
                approvals[number] = approvals.get(number, 0) + (wanted == "approved")
    assert request.end is not None
    if request.end.act is NextAction.APPROVE:
        assert all(approvals.get(number, 0) > 0 for number in range(1, len(request.policy.stages) + 1))
    if request.end.act is NextAction.REJECT:
        assert any(seat.status in ("approved", "rejected") for seat in request.seats)


@given(draw_request(), st.data())
def test_whether_anybody_may_vote_has_nothing_to_do_with_delegates(
    request: WholeRequest, data: st.DataObject
) -> None:
    """A wave does not even read the delegations."""
    alone = replace(request.voting, delegations=())
    while request.end is None:
        assert can_anyone_vote(request.seats, request.voting) == can_anyone_vote(request.seats, alone)
        wanted = data.draw(st.sampled_from(VOTES))
        assert any(request.vote(person, wanted) for person in data.draw(st.permutations(PEOPLE)))
    assert can_anyone_vote(request.seats, request.voting) == can_anyone_vote(request.seats, alone)


def test_a_deadlock_escalates_once_and_then_pauses() -> None:
    policy = make_policy(make_stage(user("ada"), escalate={"after": "P1D", "to": user("bob")}))
    request = WholeRequest(policy, ApproverData(), stand(dict.fromkeys(PEOPLE, ()), ()))
    assert request.vote("ada", "abstained") and request.end is None
    assert [seat.origin for seat in request.seats] == ["resolved", "escalated"]
    assert request.vote("bob", "abstained")
    assert request.end == Next(NextAction.PAUSE, reason=Deadlock.ALL_ABSTAINED)


def test_an_escalation_decides_for_those_who_were_not_found() -> None:
    escalation = {"after": "P1D", "to": user("bob")}
    policy = make_policy(make_stage(user("ada"), manager(levels=9), escalate=escalation))
    approver_data = ApproverData(values={"actor.user_id": "ada"})
    request = WholeRequest(policy, approver_data, stand(dict.fromkeys(PEOPLE, ()), ()))
    assert not request.vote("ada", "approved")
    assert request.vote("bob", "approved") and request.end == Next(NextAction.APPROVE)


def test_who_is_barred_is_escalated_past_at_once() -> None:
    policy = make_policy(make_stage(user("ada"), escalate={"after": "P1D", "to": role("r")}))
    roles = {"ada": ("r",), "bob": ("r",), "cy": ()}
    request = WholeRequest(policy, ApproverData(), stand(roles, [delegate("ada", "cy")], ["ada"]))
    assert [seat.origin for seat in request.seats] == ["resolved", "escalated"]
    assert not request.vote("ada", "approved") and not request.vote("cy", "approved")
    assert request.vote("bob", "rejected") and request.end == Next(NextAction.REJECT)


def test_with_nobody_left_to_escalate_to_it_pauses() -> None:
    policy = make_policy(make_stage(user("ada"), escalate={"after": "P1D", "to": manager()}))
    approver_data = ApproverData(values={"actor.user_id": "nobody"})
    request = WholeRequest(policy, approver_data, stand({}, ()))
    assert request.end == Next(NextAction.PAUSE, reason=Deadlock.NOBODY_FOUND)


def test_a_vote_for_a_seat_that_was_closed_meanwhile_finds_it_closed() -> None:
    closed = tuple(replace(seat, status="closed") for seat in sit("ada"))
    choice = choose_seat("ada", closed, stand({"ada": ()}, ()))
    assert isinstance(choice, Denial) and choice.code == "APPROVAL_CLOSED"
