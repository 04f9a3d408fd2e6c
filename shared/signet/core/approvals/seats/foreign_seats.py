"""Seats that the workflow has not drawn: what the policy does not name, adds later, or leaves out.

Worker processes write seats. A vote from any other seat counts for nothing, and neither does a stage that was
not asked as its policy draws it.
"""

from collections import Counter
from collections.abc import Sequence
from datetime import timedelta

from signet.core.approvals.eligibility import Seat
from signet.core.approvals.policy import Stage
from signet.core.calendars.terms import find_least
from signet.core.compiler.node_configurations import Approver, ByManager, ByRole, ByUser, Deadline
from signet.core.moments.durations import parse_duration_seconds


def is_drawn(stage: Stage, seat: Seat) -> bool:
    """Return whether the policy draws such a seat, as far as it names people and roles.

    A seat by break-glass is drawn by two operators. A seat that was handed over is that of its first holder.
    """
    if seat.origin == "break_glass":
        return True
    if seat.origin == "resolved":
        return any(_gives(approver, seat) for approver in stage.approvers)
    return stage.escalate is not None and _gives(stage.escalate.to, seat)


def find_other_bench(stage: Stage, seats: Sequence[Seat]) -> str | None:
    """Return why a stage has not the seats that its policy draws, as far as it names people and roles.

    Each of them has a seat when the stage begins. One that could not begin has none, and others decide.
    """
    drawn = [seat for seat in seats if seat.origin == "resolved" and seat.status != "lapsed"]
    if not drawn:
        return None
    for approver in stage.approvers:
        if isinstance(approver, ByUser) and not any(_gives(approver, seat) for seat in drawn):
            return f"{approver.user} has no seat"
    asked = Counter(a.role for a in stage.approvers if isinstance(a, ByRole) and a.pick == "first_available")
    for role, count in asked.items():
        # In place of the role, the person may be asked who rejected before.
        if sum(role in (seat.holder_role, seat.needed_role) for seat in drawn) < count:
            return f"the role {role} has no seat"
        # An abstention of one holder has the role asked again.
        if sum(seat.holder_role == role and seat.status != "abstained" for seat in drawn) > count:
            return f"the role {role} has more seats than the policy draws"
    return None


def is_handed(seat: Seat) -> bool:
    """Return whether people have seated the holder: by break-glass, or in place of a member who has left."""
    return seat.origin == "break_glass" or seat.handed_over_from is not None


def comes_by_line(stage: Stage, seat: Seat) -> bool:
    """Return whether the holder may have the seat by a reporting line, and the policy does not name them."""
    if seat.holder_user_id is None or seat.origin == "break_glass":
        return False
    wider = stage.escalate if seat.origin == "escalated" else None
    approvers = stage.approvers if wider is None else (wider.to,)
    is_named = any(isinstance(approver, ByUser) and _gives(approver, seat) for approver in approvers)
    return not is_named and any(isinstance(approver, ByManager) for approver in approvers)


def _gives(approver: Approver, seat: Seat) -> bool:
    match approver:
        case ByUser():
            return (seat.handed_over_from or seat.holder_user_id) == approver.user
        case ByRole():
            return approver.role in (seat.holder_role, seat.needed_role)
        case ByManager():
            return seat.holder_user_id is not None
        case _:
            return seat.holder_user_id is not None and approver.who in (None, seat.needed_role)


# A workflow seats all of a stage at once. Later it adds those of an escalation that is due, and those that
# take the place of a lapsed vote. A role is also asked again after the abstention of one of its holders.
# Worker processes write seats: a vote from any other counts for nothing.


def find_foreign_seat(stage: Stage, seats: Sequence[Seat], seat: Seat, *, nobody_else: bool) -> str | None:
    """Return why the workflow has not drawn the seat. `nobody_else`: no other seat of the stage can vote."""
    if not is_drawn(stage, seat):
        return f"the policy draws no such seat as {seat.position} of stage {seat.stage}"
    if seat.origin == "break_glass" or seat.asked_at is None or _takes_place(seats, seat):
        return None
    began = min(other.asked_at for other in (*seats, seat) if other.asked_at is not None)
    if seat.asked_at == began:
        return None
    if seat.origin == "resolved":
        return f"seat {seat.position} was added to stage {seat.stage} after it was asked"
    if stage.escalate is None or nobody_else:
        return None
    due = began + _find_least(stage.escalate.after)
    if seat.asked_at >= due:
        return None
    return (
        f"seat {seat.position} of stage {seat.stage} was escalated to before it was due, at {due.isoformat()}"
    )


def _find_least(term: Deadline) -> timedelta:
    """Return how long an escalation waits at the least: no calendar of the tenant is known here."""
    return timedelta(seconds=parse_duration_seconds(term)) if isinstance(term, str) else find_least(term)


def _takes_place(seats: Sequence[Seat], seat: Seat) -> bool:
    """Return whether the seat is asked again: the vote of one like it has lapsed, or its role abstained."""
    left = ("lapsed",) if seat.holder_role is None else ("lapsed", "abstained")
    return any(other.status in left and _describe_holder(other) == _describe_holder(seat) for other in seats)


def _describe_holder(seat: Seat) -> tuple[str | None, ...]:
    return seat.holder_user_id, seat.holder_role, seat.needed_role, seat.origin
