"""The proof of an approval: its votes, counted again from the decisions and their rows in the audit trail.

The status of a request and of its seats is a cache. A gate believes the decisions alone. Only people's calls
write them, each with a row in the chain of its document.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, get_args

from signet.core.approvals.eligibility import Delegation, Seat
from signet.core.approvals.policy import Policy
from signet.core.approvals.seats.foreign_seats import find_other_bench, is_drawn
from signet.core.approvals.votes import count_votes
from signet.core.compiler.node_configurations import Vote
from signet.core.contracts.compiled_contract import Denial

_VOTES = get_args(Vote)


@dataclass(frozen=True, slots=True)
class PinnedSubject:
    """The subject of a request: each of its decisions names the same."""

    document_version: int
    snapshot_hash: str
    definition_hash: str
    policy_hash: str
    pins_hash: str | None


_PINNED = tuple(column.name for column in fields(PinnedSubject))


@dataclass(frozen=True, slots=True)
class RecordedVote:
    """A decision, with what its audit row says of it; None where there is no such row."""

    id: str
    stage: int
    position: int
    decision: Vote
    decided_by: str
    on_behalf_of: str | None
    subject: PinnedSubject
    audited: Mapping[str, Any] | None
    # The delegation that it was given by.
    delegation: Delegation | None = None

    @property
    def represented_people(self) -> tuple[str, ...]:
        """Return the person who voted, and the one that they voted for."""
        return (self.decided_by,) if self.on_behalf_of is None else (self.decided_by, self.on_behalf_of)


@dataclass(frozen=True, slots=True)
class RequestProof:
    """An approved request with its seats, and the votes that are on record for it."""

    id: str
    policy: Policy
    subject: PinnedSubject
    seats: Sequence[Seat]
    votes: Sequence[RecordedVote]


def find_unproven(proof: RequestProof) -> str | None:
    """Return why the votes on record do not prove that the request is approved."""
    for vote in proof.votes:
        reason = _find_contradiction(vote, proof.subject) or _find_seat_not_drawn(vote, proof)
        if reason is not None:
            return reason
    counted = recount(proof)
    for number, stage in enumerate(proof.policy.stages, 1):
        of_stage = [seat for seat in counted if seat.stage == number]
        if count_votes(stage, of_stage).state != "approved":
            return f"no votes on record approve stage {number}"
        other = find_other_bench(stage, of_stage)
        if other is not None:
            return f"stage {number} was not asked as the policy draws it: {other}"
    return None


def recount(proof: RequestProof) -> list[Seat]:
    """Return the seats as the decisions fill them, and not as their rows say."""
    votes = {(vote.stage, vote.position): vote for vote in proof.votes}
    return [_fill(seat, votes.get((seat.stage, seat.position))) for seat in proof.seats]


def _fill(seat: Seat, vote: RecordedVote | None) -> Seat:
    if seat.status == "lapsed":
        return seat
    if vote is None:
        # A vote that is on the seat and not on record does not count.
        return replace(seat, status="open", decided_by=None, on_behalf_of=None) if _has_vote(seat) else seat
    return replace(seat, status=vote.decision, decided_by=vote.decided_by, on_behalf_of=vote.on_behalf_of)


def _has_vote(seat: Seat) -> bool:
    return seat.status in _VOTES


def _find_seat_not_drawn(vote: RecordedVote, proof: RequestProof) -> str | None:
    """Return that the vote was given from a seat which the policy does not draw."""
    seat = find_seat(proof, vote)
    if seat is not None and is_drawn(proof.policy.stage(vote.stage), seat):
        return None
    return f"the policy draws no such seat as {vote.position} of stage {vote.stage}"


def _find_contradiction(vote: RecordedVote, subject: PinnedSubject) -> str | None:
    if vote.subject != subject:
        return f"the vote of {vote.decided_by} in stage {vote.stage} is about something else"
    if vote.audited is None:
        return f"the vote of {vote.decided_by} in stage {vote.stage} is not in the audit trail"
    detail = vote.audited.get("detail")
    of_vote = detail.get("approval") if isinstance(detail, Mapping) else None
    if not isinstance(of_vote, Mapping):
        return f"the audit row of the vote of {vote.decided_by} says nothing of it"
    said = {
        "action": vote.audited.get("action"),
        "actor_id": vote.audited.get("actor_id"),
        "on_behalf_of": vote.audited.get("on_behalf_of"),
        **{name: of_vote.get(name) for name in ("decision_id", "stage", "seat", *_PINNED)},
    }
    recorded = {
        "action": f"decide:{vote.decision}",
        "actor_id": vote.decided_by,
        "on_behalf_of": vote.on_behalf_of,
        "decision_id": vote.id,
        "stage": vote.stage,
        "seat": vote.position,
        **asdict(subject),
    }
    if said != recorded:
        return f"the audit row of the vote of {vote.decided_by} says something else"
    return None


@dataclass(frozen=True, slots=True)
class LapsedVote:
    """A vote that a gate may not use any more, and the reason."""

    vote: RecordedVote
    denial: Denial


def list_lapsed(
    proofs: Iterable[RequestProof],
    find_denial: Callable[[RequestProof, RecordedVote], Denial | None],
) -> list[tuple[RequestProof, LapsedVote]]:
    """List the votes for an approval whose voters may not give it now."""
    lapsed = []
    for proof in proofs:
        for vote in list_approving(proof):
            denial = find_denial(proof, vote)
            if denial is not None:
                lapsed.append((proof, LapsedVote(vote, denial)))
    return lapsed


def list_approving(proof: RequestProof) -> list[RecordedVote]:
    """List the votes that approve, without those that have lapsed."""
    lapsed = {(seat.stage, seat.position) for seat in proof.seats if seat.status == "lapsed"}
    return [
        vote
        for vote in proof.votes
        if vote.decision == "approved" and (vote.stage, vote.position) not in lapsed
    ]


def find_seat(proof: RequestProof, vote: RecordedVote) -> Seat | None:
    place = vote.stage, vote.position
    return next((seat for seat in proof.seats if (seat.stage, seat.position) == place), None)


def find_repeated(proofs: Sequence[RequestProof]) -> str | None:
    """Return a person whose approval counts twice, although a policy asks for different people."""
    counted: Counter[str] = Counter()
    strict: set[str] = set()
    for proof in proofs:
        for vote in list_approving(proof):
            counted.update(set(vote.represented_people))
            if proof.policy.same_person is None:
                strict.update(vote.represented_people)
    return next((person for person in sorted(strict) if counted[person] > 1), None)
