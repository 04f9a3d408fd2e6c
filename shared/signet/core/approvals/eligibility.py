"""The right to fill a seat at the moment of deciding: as its holder, by a role, or as a delegate.

Each person counts once in a stage, also when another person votes for them. A person's own seat goes
before the seat of another. Separation of duties bars the voter and the person that they vote for.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, Literal, Protocol
from uuid import UUID

from signet.core.approvals.pins import Pins, list_pinned_persons
from signet.core.compiler.node_configurations import Vote
from signet.core.contracts.compiled_contract import CompiledContract, Denial
from signet.core.tenants.responsible import NOBODY, ResponsiblePersons

Origin = Literal["resolved", "escalated", "break_glass"]
# A vote lapses when a gate may not use it any more; another seat is then asked in its place.
SeatStatus = Literal["open", "approved", "rejected", "abstained", "closed", "lapsed"]
# The code of a person without a voice in the stage.
NOT_ASKED = "APPROVAL_NOT_YOURS"
ConflictCheck = Callable[[str], Denial | None]
GrantCheck = Callable[[str, "Delegation | None", "Seat"], Denial | None]


class AuthoredDocument(Protocol):
    """A document, with the persons responsible for its content and for what is asked of it now."""

    @property
    def creator_responsible(self) -> Collection[str]: ...

    @property
    def editor_responsible(self) -> Collection[str]: ...

    @property
    def requester_responsible(self) -> Collection[str]: ...


@dataclass(frozen=True, slots=True)
class PeopleBehind:
    """The people behind a decision, by their part in its document, in its pins or in its request.

    Separation of duties judges them by their part. All of them together may have granted a voter nothing.
    """

    creator: ResponsiblePersons = NOBODY
    editors: ResponsiblePersons = NOBODY
    requesters: ResponsiblePersons = NOBODY

    @property
    def everyone(self) -> ResponsiblePersons:
        return self.creator | self.editors | self.requesters


def find_people_behind(
    document: AuthoredDocument | None, requesters: Collection[str], pins: Pins | None
) -> PeopleBehind:
    """Find everyone behind a decision: those of the document and of its pins, and all who asked for it.

    Who asks now counts beside the persons that the request was made for.
    """
    asking = document.requester_responsible if document is not None else NOBODY
    authors = find_authors(document, pins)
    return PeopleBehind(authors.creator, authors.editors, frozenset(requesters).union(asking))


def find_authors(document: AuthoredDocument | None, pins: Pins | None) -> PeopleBehind:
    """Find the people behind a content alone: who last changed what is pinned counts as an editor.

    A request of an older release pins nothing.
    """
    pinned = list_pinned_persons(pins or {})
    if document is None:
        return PeopleBehind(editors=pinned)
    return PeopleBehind(frozenset(document.creator_responsible), pinned.union(document.editor_responsible))


def separation_conflict(contract: CompiledContract, behind: PeopleBehind) -> ConflictCheck:
    """Return the check that separation of duties makes of each person who would decide.

    Nothing else says what a part bars, so that a new rule holds wherever people decide.
    """
    return partial(
        contract.find_conflict_of_duties,
        creator=behind.creator,
        editors=behind.editors,
        requesters=behind.requesters,
    )


@dataclass(frozen=True, slots=True)
class Seat:
    """One voice in a stage; exactly one of `holder_user_id` and `holder_role` is set."""

    stage: int
    position: int
    holder_user_id: str | None = None
    holder_role: str | None = None
    origin: Origin = "resolved"
    status: SeatStatus = "open"
    decided_by: str | None = None
    on_behalf_of: str | None = None
    # The person that the policy asks, where they were disabled and the seat was handed over.
    handed_over_from: str | None = None
    # The role that a named holder must have besides, when they vote and when a gate uses the vote.
    needed_role: str | None = None
    # The people whose manager was asked for, from the lowest on: the holder has the seat by their lines. Also
    # those who have no manager to ask. None in a seat of an older release.
    lines: Sequence[str] | None = ()
    # The database sets it: the beginning of the transaction that wrote the row. None in memory.
    asked_at: datetime | None = None

    def belongs_to(self, user_id: str, roles: Collection[str]) -> bool:
        if self.needed_role is not None and self.needed_role not in roles:
            return False
        return self.holder_user_id == user_id if self.holder_role is None else self.holder_role in roles


@dataclass(frozen=True, slots=True)
class Delegation:
    """The right of `delegate_id` to decide for `user_id`, for a time, about one entity type or all."""

    id: UUID
    user_id: str
    delegate_id: str
    entity_type: str | None
    from_time: datetime
    to_time: datetime
    is_revoked: bool = False
    # Who gave it, with the persons who are responsible for that, and when. A vote by it rests on this giving.
    created_by: str | None = None
    given_by: Sequence[str] = ()
    given_at: datetime | None = None

    def covers(self, entity_type: str | None, now: datetime) -> bool:
        is_in_scope = self.entity_type is None or self.entity_type == entity_type
        return is_in_scope and not self.is_revoked and self.from_time <= now < self.to_time


def parse_delegation(stored: Mapping[str, Any]) -> Delegation:
    """Parse a delegation that a statement about votes brings along as JSON."""
    moments = {name: datetime.fromisoformat(stored[name]) for name in ("from_time", "to_time", "given_at")}
    return Delegation(**{**stored, **moments, "id": UUID(stored["id"])})


@dataclass(frozen=True, slots=True)
class VotingContext:
    """The facts that hold at the moment of a decision."""

    entity_type: str | None
    now: datetime
    # The active members that matter here, with the roles that they hold now. All others may do nothing.
    roles: Mapping[str, Collection[str]]
    delegations: Sequence[Delegation]
    # Made by `separation_conflict` and `entitlement`: why a person may not vote from any seat.
    find_conflict: ConflictCheck
    # Those whose approval counts already in another stage, or in another approval that the same gate uses.
    approved_elsewhere: Collection[str] = ()
    # Returns why a voter may not fill a seat, for themselves or for another, by what was granted meanwhile.
    find_barring_grant: GrantCheck | None = None


@dataclass(frozen=True, slots=True)
class Allowed:
    position: int
    on_behalf_of: str | None = None
    delegation_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class _Claim:
    seat: Seat
    delegation: Delegation | None

    @property
    def rank(self) -> tuple[bool, bool, bool, int, str, str]:
        """Own seats come first, then seats of persons. An escalated seat decides more than a resolved one."""
        theirs = self.delegation
        return (
            theirs is not None,
            self.seat.holder_role is not None,
            self.seat.origin == "resolved",
            self.seat.position,
            theirs.user_id if theirs else "",
            str(theirs.id) if theirs else "",
        )


def choose_seat(
    person: str,
    seats: Sequence[Seat],
    voting: VotingContext,
    *,
    vote: Vote = "approved",
    is_open: bool = True,
) -> Allowed | Denial:
    """Return the one seat of the stage that the person would fill now, or the reason for none.

    `is_open` belongs to the request: a closed request takes no vote. An approval must be of another person
    than those before it; nobody is kept from rejecting.
    """
    if not is_open:
        return Denial("APPROVAL_CLOSED", "this approval is closed")
    denial: Denial | None = None
    for claim in sorted(_list_claims(person, seats, voting), key=lambda claim: claim.rank):
        obstacle = _find_obstacle(person, claim, seats, voting, vote)
        if obstacle is None:
            theirs = claim.delegation
            if theirs is None:
                return Allowed(claim.seat.position)
            return Allowed(claim.seat.position, theirs.user_id, theirs.id)
        denial = denial or obstacle
    return denial or Denial(NOT_ASKED, f"{person} is not asked to decide about this")


def is_asked(
    person: str,
    seats: Sequence[Seat],
    roles: Mapping[str, Collection[str]],
    delegations: Sequence[Delegation],
) -> bool:
    """Return whether the person has a voice in one of these seats, or had one: others learn nothing."""
    voices = {person, *(d.user_id for d in delegations if d.delegate_id == person)} & roles.keys()
    held = person in roles and any(seat.belongs_to(voice, roles[voice]) for seat in seats for voice in voices)
    return held or person in list_counted(seats)


def find_earlier_vote(person: str, seats: Iterable[Seat]) -> Denial | None:
    """Return that the person has voted before, where they are not asked any more."""
    for seat in seats:
        if seat.status == "lapsed" or person not in (seat.decided_by, seat.on_behalf_of):
            continue
        voice = f"{person} has voted already"
        if seat.on_behalf_of is not None:
            voice = f"{seat.decided_by} has voted for {seat.on_behalf_of} already"
        return Denial("APPROVAL_SEAT_TAKEN", f"{voice}: {seat.status} in stage {seat.stage}")
    return None


def list_open_holders(seats: Iterable[Seat]) -> tuple[set[str], set[str]]:
    """Return the people and the roles that hold open seats."""
    open_seats = [seat for seat in seats if seat.status == "open"]
    users = {seat.holder_user_id for seat in open_seats if seat.holder_user_id is not None}
    return users, {seat.holder_role for seat in open_seats if seat.holder_role is not None}


def can_anyone_vote(seats: Sequence[Seat], voting: VotingContext) -> bool:
    has_open = any(seat.status == "open" for seat in seats)
    return has_open and any(
        isinstance(choose_seat(person, seats, voting), Allowed) for person in voting.roles
    )


def _list_claims(person: str, seats: Sequence[Seat], voting: VotingContext) -> Iterator[_Claim]:
    if person not in voting.roles:
        return
    delegations = [
        delegation
        for delegation in voting.delegations
        if delegation.delegate_id == person
        # A person who has left gives nothing. Delegations do not pass on those that a person was given.
        and delegation.user_id in voting.roles
        and delegation.covers(voting.entity_type, voting.now)
    ]
    for seat in seats:
        if seat.status == "lapsed":
            continue
        if seat.belongs_to(person, voting.roles[person]):
            yield _Claim(seat, None)
        for delegation in delegations:
            if seat.belongs_to(delegation.user_id, voting.roles[delegation.user_id]):
                yield _Claim(seat, delegation)


def _find_obstacle(
    person: str, claim: _Claim, seats: Sequence[Seat], voting: VotingContext, vote: Vote
) -> Denial | None:
    voters = [person] if claim.delegation is None else [person, claim.delegation.user_id]
    for voter in voters:
        conflict = voting.find_conflict(voter)
        if conflict is not None:
            return conflict
    if voting.find_barring_grant is not None:
        barred = voting.find_barring_grant(person, claim.delegation, claim.seat)
        if barred is not None:
            return barred
    counted = list_counted(seats)
    for voter in voters:
        if voter in counted:
            return Denial("APPROVAL_SEAT_TAKEN", f"the vote of {voter} is counted already")
        if vote == "approved" and voter in voting.approved_elsewhere:
            sentence = f"{voter} has approved this before; another approval needs another person"
            return Denial("APPROVAL_SAME_PERSON", sentence)
    match claim.seat.status:
        case "open":
            return None
        case "closed":
            return Denial("APPROVAL_CLOSED", "this approval is closed")
        case _:
            return Denial("APPROVAL_SEAT_TAKEN", f"{claim.seat.decided_by} has decided here already")


def list_counted(seats: Iterable[Seat]) -> frozenset[str]:
    """Return everyone already counted in the stage: voters, and the people they voted for."""
    return frozenset(
        person
        for seat in seats
        if seat.status != "lapsed"
        for person in (seat.decided_by, seat.on_behalf_of)
        if person is not None
    )


def list_approving_voices(seats: Iterable[Seat]) -> frozenset[str]:
    """Return everyone whose approval stands on these seats, and the people they voted for."""
    return list_counted(seat for seat in seats if seat.status == "approved")


def find_delegation_cycle(new: Delegation, existing: Sequence[Delegation]) -> tuple[str, ...] | None:
    """Return the people of a circle that the new delegation would close, for one moment and entity type."""
    for moment in _list_moments(new, existing):
        for entity_type in _list_scopes(new, existing):
            if new.covers(entity_type, moment):
                edges = [delegation for delegation in existing if delegation.covers(entity_type, moment)]
                path = _find_path(new.delegate_id, new.user_id, edges)
                if path is not None:
                    return (new.user_id, *path)
    return None


def _list_moments(new: Delegation, existing: Sequence[Delegation]) -> list[datetime]:
    """Return the moments to try: overlapping delegations overlap when the last of them begins."""
    return sorted({new.from_time, *(delegation.from_time for delegation in existing)})


def _list_scopes(new: Delegation, existing: Sequence[Delegation]) -> list[str | None]:
    if new.entity_type is not None:
        return [new.entity_type]
    # None stands for the types that no delegation names.
    return [
        None,
        *sorted({delegation.entity_type for delegation in existing if delegation.entity_type is not None}),
    ]


def _find_path(start: str, end: str, edges: Sequence[Delegation]) -> tuple[str, ...] | None:
    paths: dict[str, tuple[str, ...]] = {start: (start,)}
    waiting = [start]
    for person in waiting:
        if person == end:
            return paths[person]
        for edge in edges:
            if edge.user_id == person and edge.delegate_id not in paths:
                paths[edge.delegate_id] = (*paths[person], edge.delegate_id)
                waiting.append(edge.delegate_id)
    return None
