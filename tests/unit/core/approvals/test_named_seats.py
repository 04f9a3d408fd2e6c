"""People who are asked by name: what lets them decide, or gives them a seat."""

from dataclasses import replace

from signet.core.approvals.eligibility import Seat
from signet.core.approvals.named_seats import list_gap_remedies, list_named_remedies
from signet.core.approvals.seats.assignment import UnseatedApprover, UnseatedReason
from tests.support.core.approval_policies import expression, make_stage, role
from tests.unit.core.approvals.test_entitlement import CHECK

STAGE = make_stage({**expression("entity.owner"), "who": "budget"}, role("voter"))


def test_each_named_holder_has_their_remedy() -> None:
    seats = (
        Seat(1, 1, holder_user_id="gone"),
        Seat(1, 2, holder_user_id="dora", needed_role="budget"),
        Seat(1, 3, holder_user_id="ben"),
        Seat(1, 4, holder_role="voter"),
        Seat(1, 5, holder_user_id="left", status="closed"),
    )
    check = replace(CHECK, seats=seats)
    first, second, third = list_named_remedies(check, {"ben"})
    assert first.startswith("Make gone an active member.")
    assert second == "Give dora the role budget"
    assert "ben rejected this content" in third
    assert list_named_remedies(check, ()) == [first, second]


def test_each_gap_has_its_remedy() -> None:
    gaps = [
        UnseatedApprover(0, UnseatedReason.NO_MANAGER, "ada"),
        UnseatedApprover(0, UnseatedReason.NOT_A_USER, "entity.owner"),
        UnseatedApprover(0, UnseatedReason.NOT_OF_ROLE, "olga"),
        UnseatedApprover(1, UnseatedReason.NOT_OF_ROLE, "olga"),
        UnseatedApprover(1, UnseatedReason.TWICE, "olga"),
    ]
    assert list_gap_remedies(STAGE, gaps) == [
        "Set the manager of ada (PUT /v1/org_chart), or of the manager above them",
        "Correct entity.owner: it must name a member",
        "Give olga the role budget, or correct entity.owner",
    ]
