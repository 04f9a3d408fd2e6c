"""Seats of a document that is asked about again, unchanged, after it was rejected.

Another holder of the role cannot be chosen by asking again: the person whose voice rejected it is asked. A
person who can never decide from that seat is not. Then the stage asks as its policy says, unless the people
of the document brought that about.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from signet.core.approvals.barring_changes import MAX_CHANGES
from signet.core.approvals.eligibility import Seat
from signet.core.approvals.policy import Stage
from signet.core.approvals.seats.foreign_seats import is_drawn
from signet.core.tenants.eligibility_changes import EligibilityChange


@dataclass(frozen=True, slots=True)
class Rejecter:
    """A person whose voice rejected the same content, and the role of the seat that they had."""

    person: str
    needed_role: str | None


@dataclass(frozen=True, slots=True)
class RejectedRequest:
    """A rejected request about the same content, of this document or of another that says the same."""

    id: UUID
    seats: Sequence[Seat]


@dataclass(frozen=True, slots=True)
class RejecterStanding:
    """The facts by which rejecters can decide: active members with their roles, and those who have approved.

    Approvals of other stages are meant, and other approvals that the same gate uses. The changes are those
    that the people of the document made since it was first asked about.
    """

    roles: Mapping[str, Collection[str]]
    approved_elsewhere: Collection[str]
    changes: Sequence[EligibilityChange] = ()


def join_rejected_seats(rejected: Iterable[RejectedRequest]) -> list[Seat]:
    """Join the seats that rejected, one for each place; the newest request comes first."""
    seats: dict[tuple[int, int], Seat] = {}
    for request in rejected:
        for seat in request.seats:
            if seat.status == "rejected":
                seats.setdefault((seat.stage, seat.position), seat)
    return list(seats.values())


def list_rejecters(seats: Iterable[Seat], rejected: Iterable[Seat]) -> list[Rejecter]:
    """List the rejecters of seats that are asked again."""
    places = {(seat.stage, seat.position) for seat in seats}
    return [
        find_rejecter(seat)
        for seat in rejected
        if seat.status == "rejected" and (seat.stage, seat.position) in places
    ]


def find_barred_rejecters(rejecters: Iterable[Rejecter], standing: RejecterStanding) -> frozenset[str]:
    """Find the rejecters who can never decide from their seat."""
    return frozenset(
        rejecter.person
        for rejecter in rejecters
        if rejecter.person in standing.approved_elsewhere
        or rejecter.person not in standing.roles
        or rejecter.needed_role not in (None, *standing.roles[rejecter.person])
    )


def ask_rejecters_again(
    stage: Stage, seats: Sequence[Seat], rejected: Sequence[Seat], standing: RejecterStanding
) -> tuple[Seat, ...]:
    """Ask each seat from which the same content was rejected of the person whose voice rejected it.

    Where a delegate rejected, the person that they did it for is asked. That person needs the role of the
    old seat.
    """
    rejecters = list_rejecters(seats, rejected)
    barred = find_barred_rejecters(rejecters, standing)
    released = {r.person for r in rejecters if r.person in barred and not _was_touched(r, standing)}
    before = {(seat.stage, seat.position): seat for seat in rejected if seat.status == "rejected"}
    again = {
        at: _ask_again(seat, find_rejecter(before[at]))
        for seat in seats
        if (at := (seat.stage, seat.position)) in before and find_rejecter(before[at]).person not in released
    }
    # A seat that was handed over is not drawn a second time: who held it first is asked.
    return tuple(
        again[at] if (at := (seat.stage, seat.position)) in again and is_drawn(stage, again[at]) else seat
        for seat in seats
    )


def _was_touched(rejecter: Rejecter, standing: RejecterStanding) -> bool:
    """Return whether the people of the document changed anything of the rejecter, or of a role of theirs."""
    roles = {rejecter.needed_role, *standing.roles.get(rejecter.person, ())} - {None}
    # Among too many changes one may be hidden.
    return len(standing.changes) > MAX_CHANGES or any(
        rejecter.person in (change.user_id, change.other_user_id)
        or (change.user_id is None and change.role in roles)
        for change in standing.changes
    )


def find_rejecter(seat: Seat) -> Rejecter:
    """Find the person whose voice rejected from a seat: a delegate's is that of the other person."""
    person = seat.on_behalf_of or seat.decided_by or ""
    return Rejecter(person, seat.holder_role or seat.needed_role)


def _ask_again(seat: Seat, rejecter: Rejecter) -> Seat:
    return replace(seat, holder_user_id=rejecter.person, holder_role=None, needed_role=rejecter.needed_role)
