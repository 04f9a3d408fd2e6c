"""A person who rejected is asked again, as long as they can decide, or the document's people see to it."""

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from signet.core.approvals.barring_changes import MAX_CHANGES
from signet.core.approvals.eligibility import Seat
from signet.core.approvals.rejecters import RejecterStanding, ask_rejecters_again
from signet.core.tenants.eligibility_changes import EligibilityChange, EligibilityKind
from tests.support.core.approval_policies import make_stage, role

STAGE = make_stage(role("voter"))
OPEN = (Seat(1, 1, holder_role="voter"),)
REJECTED = (Seat(1, 1, holder_role="voter", status="rejected", decided_by="ann"),)
AGAIN = (Seat(1, 1, holder_user_id="ann", needed_role="voter"),)
ACTIVE = {"ann": ("voter", "clerk")}


def change(
    kind: EligibilityKind, user_id: str | None = None, role: str | None = None, other: str | None = None
) -> EligibilityChange:
    return EligibilityChange(kind, datetime(2026, 1, 1, tzinfo=UTC), "carl", ("carl",), user_id, role, other)


def test_who_rejected_is_asked_again() -> None:
    assert ask_rejecters_again(STAGE, OPEN, REJECTED, RejecterStanding(ACTIVE, ())) == AGAIN
    assert ask_rejecters_again(STAGE, OPEN, (), RejecterStanding({}, ())) == OPEN


@pytest.mark.parametrize(
    "standing",
    [
        RejecterStanding({}, ()),
        RejecterStanding({"ann": ("clerk",)}, ()),
        RejecterStanding(ACTIVE, ("ann",)),
        RejecterStanding(ACTIVE, ("ann",), (change("role_given", "ben", "owner"),)),
        RejecterStanding(ACTIVE, ("ann",), (change("role_deleted", None, "owner"),)),
    ],
)
def test_the_policy_asks_where_they_can_never_decide(standing: RejecterStanding) -> None:
    assert ask_rejecters_again(STAGE, OPEN, REJECTED, standing) == OPEN


@pytest.mark.parametrize(
    "changes",
    [
        [change("member_disabled", "ann")],
        [change("role_taken", "ann", "voter")],
        [change("delegation_given", "ben", None, "ann")],
        [change("role_widened", None, "clerk")],
        [change("role_deleted", None, "voter")],
        [change("role_given", "ben", "owner")] * (MAX_CHANGES + 1),
    ],
)
def test_it_stays_with_them_where_the_documents_people_touched_it(
    changes: Sequence[EligibilityChange],
) -> None:
    standing = RejecterStanding(ACTIVE, ("ann",), changes)
    assert ask_rejecters_again(STAGE, OPEN, REJECTED, standing) == AGAIN
