"""Corrections, as evidence of what people decided and the definition allow them."""

from dataclasses import replace
from uuid import UUID

import pytest

from signet.core.approvals.given_decision import GivenDecision
from signet.core.repair.correction_check import check_correction
from tests.unit.core.runtime.test_execution import approval, load

USED = GivenDecision("approval", "usr:approval:a", is_used=True, is_behind_gate=False, has_returned=False)
WAITING = replace(USED, is_used=False)
BEHIND = replace(WAITING, is_behind_gate=True)
ASKED = replace(USED, kind="request", name="release")
OF_ORIGIN = replace(WAITING, origin_id=UUID(int=7))


def refuse(status: str, *given: GivenDecision, is_amendment: bool = False) -> str:
    """Return the sentence of the refusal; empty where it is possible."""
    workflow = load({"approval": {"nodes": [approval("a")]}})
    rejected = check_correction(workflow, status, given, is_amendment=is_amendment)
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
    assert (
        refuse("active", is_amendment=is_amendment)
        == "people approved what the document says to come to 'active'"
    )
