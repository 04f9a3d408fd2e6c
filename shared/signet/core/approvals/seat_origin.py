"""The origin of a seat: the workflow has seated it, and when it was due.

Worker processes write seats. A workflow seats all of a stage at once. Later it adds those of an escalation
that is due, and those that take the place of a lapsed vote. A vote from any other seat counts for nothing.
"""

from collections.abc import Sequence
from datetime import timedelta

from signet.core.approvals.eligibility import Seat
from signet.core.approvals.policy import Stage
from signet.core.approvals.seats import is_drawn
from signet.core.validation.strict_model import parse_duration_seconds

UNPROVEN = "APPROVAL_UNPROVEN"


def find_foreign_seat(stage: Stage, seats: Sequence[Seat], seat: Seat, *, nobody_else: bool) -> str | None:
    """Return why the workflow has not drawn the seat. `nobody_else`: no other seat of the stage can vote."""
    if not is_drawn(stage, seat):
        return f"the policy draws no such seat as {seat.position} of stage {seat.stage}"
    if seat.origin == "break_glass" or seat.asked_at is None or _replaces_lapsed(seats, seat):
        return None
    began = min(other.asked_at for other in (*seats, seat) if other.asked_at is not None)
    if seat.asked_at == began:
        return None
    if seat.origin == "resolved":
        return f"seat {seat.position} was added to stage {seat.stage} after it was asked"
    if stage.escalate is None or nobody_else:
        return None
    due = began + timedelta(seconds=parse_duration_seconds(stage.escalate.after))
    if seat.asked_at >= due:
        return None
    return (
        f"seat {seat.position} of stage {seat.stage} was escalated to before it was due, at {due.isoformat()}"
    )


def _replaces_lapsed(seats: Sequence[Seat], seat: Seat) -> bool:
    """Return whether the seat is asked again because the vote of one like it has lapsed."""
    return any(other.status == "lapsed" and _describe(other) == _describe(seat) for other in seats)


def _describe(seat: Seat) -> tuple[str | None, ...]:
    return seat.holder_user_id, seat.holder_role, seat.needed_role, seat.origin
