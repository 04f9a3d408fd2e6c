"""Stages that had only abstentions: the seat of a role stays open to its other holders."""

from collections.abc import Sequence
from dataclasses import replace

from signet.core.approvals.eligibility import Seat
from signet.core.approvals.policy import Stage
from signet.core.approvals.seats.assignment import MAX_SEATS


def has_only_abstentions(seats: Sequence[Seat]) -> bool:
    left = [seat for seat in seats if seat.status != "lapsed"]
    return bool(left) and all(seat.status == "abstained" for seat in left)


def list_seats_for_others(stage: Stage, seats: Sequence[Seat]) -> list[Seat]:
    """Make the seats of roles again that had only abstentions; nobody who is counted fills another one.

    One of a role will do, unless a number of people must approve.
    """
    if not has_only_abstentions(seats):
        return []
    at_most = stage.quorum if isinstance(stage.quorum, int) else 1
    by_holder: dict[tuple[str, str], list[Seat]] = {}
    for seat in seats:
        if seat.holder_role is not None and seat.status == "abstained":
            by_holder.setdefault((seat.holder_role, seat.origin), []).append(seat)
    again = [seat for of_role in by_holder.values() for seat in of_role[:at_most]]
    first = 1 + max(seat.position for seat in seats)
    if len(seats) + len(again) > MAX_SEATS:
        return []
    return [
        replace(seat, position=position, status="open", decided_by=None, on_behalf_of=None, asked_at=None)
        for position, seat in enumerate(again, first)
    ]
