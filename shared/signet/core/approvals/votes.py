"""The verdict that the votes of a stage come to, and the action that follows.

    all   the first rejection rejects; approved when everybody voted and anybody approved
    any   the first approval or rejection decides
    n     approved at n approvals; rejected once that many cannot be reached any more

An abstention is a vote for neither side. A stage is deadlocked if it had only abstentions, or if nobody may
fill its open seats. It escalates once, and pauses with the reason the next time. Where holders of its seats
were disabled or lost the role, that escalation waits for its time. An escalation adds seats, and so does
break-glass. The first approval or rejection from one of them decides the stage; the first people asked may
still vote.

Counting looks at seats, not at the order of votes. The first vote decides only because a decided stage takes
no other vote: `record_vote` refuses it.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Literal

from signet.core.approvals.eligibility import Seat
from signet.core.approvals.policy import Policy, Stage
from signet.core.approvals.seats.assignment import Deadlock
from signet.core.compiler.node_configurations import Vote
from signet.core.errors import Defect


@dataclass(frozen=True, slots=True)
class StageVerdict:
    """The state of a stage; `deadlock` is its reason exactly where the state is `deadlocked`."""

    state: Literal["open", "approved", "rejected", "deadlocked"]
    deadlock: Deadlock | None = None

    @property
    def is_decided(self) -> bool:
        return self.state in ("approved", "rejected")


OPEN, APPROVED, REJECTED = StageVerdict("open"), StageVerdict("approved"), StageVerdict("rejected")


def count_votes(stage: Stage, seats: Sequence[Seat], *, can_vote: bool = True) -> StageVerdict:
    """Count the seats of this stage alone; `can_vote` tells if anybody may fill an open one now."""
    seats = [seat for seat in seats if seat.status != "lapsed"]
    escalated = [seat for seat in seats if seat.origin != "resolved"]
    asked = [seat for seat in seats if seat.origin == "resolved"]
    decided = _count_any(escalated) or _count_asked(stage, asked)
    if decided is not None:
        return decided
    if not seats:
        return StageVerdict("deadlocked", Deadlock.NOBODY_FOUND)
    if _number(seats, "abstained") == len(seats):
        return StageVerdict("deadlocked", Deadlock.ALL_ABSTAINED)
    # No vote could help here; only open seats of an escalation could.
    if isinstance(stage.quorum, int) and len(asked) < stage.quorum and not _number(escalated, "open"):
        return StageVerdict("deadlocked", Deadlock.QUORUM_UNREACHABLE)
    if can_vote and _number(seats, "open"):
        return OPEN
    return StageVerdict("deadlocked", Deadlock.NOBODY_ELIGIBLE)


def _count_asked(stage: Stage, seats: Sequence[Seat]) -> StageVerdict | None:
    match stage.quorum:
        case "all":
            return _count_all(seats)
        case "any":
            return _count_any(seats)
        case _:
            return _count_to(stage.quorum, seats)


def _count_all(seats: Sequence[Seat]) -> StageVerdict | None:
    if _number(seats, "rejected"):
        return REJECTED
    approvals = _number(seats, "approved")
    return APPROVED if approvals and approvals + _number(seats, "abstained") == len(seats) else None


def _count_any(seats: Sequence[Seat]) -> StageVerdict | None:
    # Only one of the two votes can be there. Should both be, nothing is approved.
    if _number(seats, "rejected"):
        return REJECTED
    return APPROVED if _number(seats, "approved") else None


def _count_to(quorum: int, seats: Sequence[Seat]) -> StageVerdict | None:
    approvals, rejections = _number(seats, "approved"), _number(seats, "rejected")
    if approvals >= quorum:
        return APPROVED
    can_reach = approvals + _number(seats, "open") >= quorum
    # Abstentions alone do not reject; nor does a stage with fewer seats than its quorum.
    if can_reach or not approvals + rejections or len(seats) < quorum:
        return None
    return REJECTED


def _number(seats: Sequence[Seat], status: str) -> int:
    return sum(seat.status == status for seat in seats)


def record_vote(
    stage: Stage,
    seats: Sequence[Seat],
    position: int,
    vote: Vote,
    *,
    decided_by: str,
    on_behalf_of: str | None = None,
) -> tuple[Seat, ...]:
    """Return the seats with this vote. The caller has asked `choose_seat` if the person may vote."""
    if count_votes(stage, seats).is_decided:
        raise Defect("APPROVAL_DECIDED_TWICE", "a vote for a stage that is decided")
    if all(seat.position != position or seat.status != "open" for seat in seats):
        raise Defect("APPROVAL_SEAT_NOT_OPEN", f"a vote for seat {position}, which is not open")
    return tuple(
        replace(seat, status=vote, decided_by=decided_by, on_behalf_of=on_behalf_of)
        if seat.position == position
        else seat
        for seat in seats
    )


def is_reason_missing(stage: Stage, vote: Vote, reason: str | None) -> bool:
    return vote in stage.reason_required_for and not (reason or "").strip()


def list_approved_stages(policy: Policy, seats: Sequence[Seat]) -> frozenset[int]:
    """List the stages that are approved; after a vote has lapsed, later stages may be."""
    return frozenset(
        number
        for number, stage in enumerate(policy.stages, 1)
        if count_votes(stage, [seat for seat in seats if seat.stage == number]).state == "approved"
    )


class NextAction(StrEnum):
    WAIT = "wait"
    BEGIN_STAGE = "begin_stage"
    APPROVE = "approve"
    REJECT = "reject"
    ESCALATE = "escalate"
    PAUSE = "pause"


@dataclass(frozen=True, slots=True)
class Next:
    """The next action; `stage` is the one to begin or to escalate, `reason` its cause."""

    act: NextAction
    stage: int | None = None
    reason: Deadlock | None = None


def has_escalated(seats: Sequence[Seat]) -> bool:
    return any(seat.origin == "escalated" for seat in seats)


def waits_for_lost_holders(following: Next, *, is_late: bool, has_lost_holder: bool) -> bool:
    """Return whether an escalation waits for its `after`, because holders of open seats lost eligibility.

    Otherwise a person of the wider circle could disable those who are asked, and decide at once.
    """
    is_for_want_of_people = following.reason is not Deadlock.ALL_ABSTAINED
    return following.act is NextAction.ESCALATE and is_for_want_of_people and has_lost_holder and not is_late


def next_action(
    policy: Policy,
    stage: int,
    verdict: StageVerdict,
    *,
    escalated: bool,
    approved: Collection[int] = (),
) -> Next:
    """Return the action that follows. There always is one, so that no request hangs.

    `approved` are stages that need no further vote.
    """
    match verdict.state:
        case "open":
            return Next(NextAction.WAIT)
        case "rejected":
            return Next(NextAction.REJECT)
        case "approved":
            left = [number for number in range(stage + 1, len(policy.stages) + 1) if number not in approved]
            return Next(NextAction.BEGIN_STAGE, left[0]) if left else Next(NextAction.APPROVE)
        case _:
            if policy.stage(stage).escalate is None or escalated:
                return Next(NextAction.PAUSE, reason=verdict.deadlock)
            return Next(NextAction.ESCALATE, stage, verdict.deadlock)
