"""Short helpers that make stages and seats for the tests."""

from collections.abc import Mapping, Sequence
from typing import Any

from signet.core.approvals.eligibility import Origin, Seat
from signet.core.approvals.policy import Policy, Stage
from signet.core.approvals.votes import record_vote
from signet.core.compiler.node_configurations import Quorum, Vote
from signet.core.validation.strict_model import parse_strictly

VOTES: tuple[Vote, ...] = ("approved", "rejected", "abstained")


def user(name: str) -> dict[str, Any]:
    return {"by": "user", "user": name}


def role(name: str, pick: str = "first_available") -> dict[str, Any]:
    return {"by": "role", "role": name, "pick": pick}


def manager(of: str = "actor.user_id", levels: int = 1) -> dict[str, Any]:
    return {"by": "manager", "of": of, "levels": levels}


def expression(text: str) -> dict[str, Any]:
    return {"by": "expression", "expression": text}


def make_stage(*approvers: Mapping[str, Any], quorum: Quorum = "all", **more: Any) -> Stage:
    stage, findings = parse_strictly(Stage, {"approvers": list(approvers), "quorum": quorum, **more})
    assert stage is not None, findings
    return stage


def make_policy(*stages: Stage) -> Policy:
    return Policy(stages=stages)


def stage_of(quorum: Quorum, people: int = 4, *, escalates: bool = False) -> Stage:
    """Make a stage. Its approvers do not matter where seats are given, but a quorum wants enough of them."""
    more = {"escalate": {"after": "P1D", "to": user("boss")}} if escalates else {}
    return make_stage(*(user(f"u{n}") for n in range(1, people + 1)), quorum=quorum, **more)


def sit(*holders: str, origin: Origin = "resolved", first: int = 1) -> tuple[Seat, ...]:
    """Make seats of persons, and of roles where a name begins with @."""
    return tuple(
        Seat(1, position, None, holder[1:], origin)
        if holder.startswith("@")
        else Seat(1, position, holder, None, origin)
        for position, holder in enumerate(holders, first)
    )


def vote(stage: Stage, seats: Sequence[Seat], **votes: Vote) -> tuple[Seat, ...]:
    """Record votes by the names of the seats' holders, in this order."""
    for name, given in votes.items():
        position = next(seat.position for seat in seats if name in (seat.holder_user_id, seat.holder_role))
        seats = record_vote(stage, seats, position, given, decided_by=name)
    return tuple(seats)
