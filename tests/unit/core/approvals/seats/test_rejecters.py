"""A person who rejected is asked again, as long as they can decide, or the document's people see to it."""

from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import UUID

import pytest

from signet.core.approvals.barring_changes import MAX_CHANGES
from signet.core.approvals.eligibility import Seat, SeatStatus
from signet.core.approvals.pins import hash_content
from signet.core.approvals.seats.rejecters import (
    RejectedRequest,
    RejecterStanding,
    ask_rejecters_again,
    join_rejected_seats,
)
from signet.core.documents.personal_data import make_reference
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


def test_a_content_is_the_same_in_each_document_of_a_type() -> None:
    data = {"number": "R-1", "contact": make_reference("1", "a" * 64), "note": None}
    again = {"number": "R-1", "contact": make_reference("2", "b" * 64)}
    assert hash_content("invoice", data) == hash_content("invoice", again)
    assert hash_content("invoice", data) != hash_content("order", data)
    assert hash_content("invoice", data) != hash_content("invoice", {"number": "R-2"})


def test_the_newest_rejection_of_each_place_counts() -> None:
    def seat(stage: int, person: str, status: SeatStatus = "rejected") -> Seat:
        return Seat(stage, 1, person, None, "resolved", status=status, decided_by=person)

    newest = RejectedRequest(UUID(int=2), [seat(1, "ann"), seat(3, "cleo", "approved")])
    oldest = RejectedRequest(UUID(int=1), [seat(1, "ben"), seat(2, "dan")])
    assert [seat.decided_by for seat in join_rejected_seats([newest, oldest])] == ["ann", "dan"]
