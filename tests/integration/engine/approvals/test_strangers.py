"""A person who is not asked learns nothing from the answer to their vote."""

from uuid import UUID

import pytest

from signet.core.errors import Rejected
from tests.support.approval_requests import Asking


def refusal(asking: Asking, request_id: UUID, user_id: str) -> Rejected:
    before = asking.written()
    with pytest.raises(Rejected) as refused:
        asking.decide(request_id, user_id)
    assert asking.written() == before
    return refused.value


def test_a_stranger_learns_nothing(asking: Asking) -> None:
    """Edit one document and decide about another: those who are asked hear of it, and hugo does not."""
    made = asking.create()
    edited, decided = asking.ask("anna", made=made), asking.ask("anna", "dora", quorum="any")
    asking.edit(made, 1)
    asking.decide(decided, "anna")
    for request_id, code in ((edited, "APPROVAL_STALE"), (decided, "APPROVAL_CLOSED")):
        assert refusal(asking, request_id, "anna").code == code
        answer = refusal(asking, request_id, "hugo")
        assert (answer.code, answer.details) == ("APPROVAL_NOT_YOURS", {})
