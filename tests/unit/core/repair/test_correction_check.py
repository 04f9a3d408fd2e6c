"""Corrections, as evidence of what people decided and the definition allow them."""

from dataclasses import replace
from uuid import UUID

import pytest

from signet.core.approvals.given_decision import GivenDecision
from signet.core.repair.correction_check import check_correction
from tests.support.core.valid_workflow import CONTRACT
from tests.unit.core.runtime.test_execution import approval, load

USED = GivenDecision("approval", "usr:approval:a", is_used=True, is_behind_gate=False, has_returned=False)
WAITING = replace(USED, is_used=False)
BEHIND = replace(WAITING, is_behind_gate=True)
ASKED = replace(USED, kind="request", name="release")
SMALL = "entity.grand_total < 9"
NOTED = {"nodes": [{"id": "note", "type": "script", "config": {"set": {"noted": "1"}}}]}
OF_ORIGIN = replace(WAITING, origin_id=UUID(int=7))


def refuse(status: str, *given: GivenDecision, is_amendment: bool = False) -> str:
    """Return the sentence of the refusal; empty where it is possible."""
    workflow = load({"approval": {"nodes": [approval("a")]}})
    rejected = check_correction(workflow, status, given, is_amendment=is_amendment, deciding=())
    if rejected is None:
        return ""
    assert rejected.code == "CORRECTION_NOT_POSSIBLE" and "Amend it" in rejected.remedy
    return rejected.message


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (USED, "at usr:approval:a"),
        (BEHIND, "at usr:approval:a"),
        (ASKED, "request for 'release'"),
        (OF_ORIGIN, "00000007"),
        (replace(OF_ORIGIN, has_returned=True), "00000007"),
    ],
)
def test_what_would_be_used_is_not_corrected(given: GivenDecision, said: str) -> None:
    assert said in refuse("submitted", WAITING, given)


@pytest.mark.parametrize(
    "given", [WAITING, *(replace(one, has_returned=True) for one in (USED, BEHIND, ASKED))]
)
def test_what_people_are_asked_about_again_is_corrected(given: GivenDecision) -> None:
    assert refuse("submitted", given) == ""


@pytest.mark.parametrize("is_amendment", [False, True])
def test_what_the_definition_let_through_is_not_corrected(is_amendment: bool) -> None:
    assert "comes to 'active' by an approval, or past it" in refuse("active", is_amendment=is_amendment)


@pytest.mark.parametrize(
    ("condition", "deciding", "is_refused"),
    [(SMALL, ("release",), True), (SMALL, (), False), (None, ("release",), False)],
)
def test_what_a_condition_let_past_a_request_that_decides_is_not_corrected(
    condition: str | None, deciding: tuple[str, ...], *, is_refused: bool
) -> None:
    transitions = {**CONTRACT["transitions"], "release": {**CONTRACT["transitions"]["submit"]}}
    transitions["submit"] = {**CONTRACT["transitions"]["submit"], "condition": condition}
    workflow = load({"checks": NOTED}, {**CONTRACT, "transitions": transitions})
    rejected = check_correction(workflow, "submitted", (), is_amendment=False, deciding=deciding)
    assert (rejected is not None) == is_refused
    assert rejected is None or "the condition of 'submit' lets a document past" in rejected.message
