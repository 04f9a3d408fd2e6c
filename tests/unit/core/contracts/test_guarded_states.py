"""States behind approvals: an edit there asks again or is accepted by name, and no rejection leads there."""

from copy import deepcopy
from typing import Any

import pytest

from signet.core.contracts.guarded_states import list_editable_behind
from signet.core.contracts.reader import parse_contract

BILL: dict[str, Any] = {
    "contract": "bill",
    "fields": {"number": {"type": "string"}},
    "states": {
        "draft": {"edit": "editable", "initial": True},
        "submitted": {"edit": "editable"},
        "active": {"edit": "locked", "settled": True},
        "paid": {"edit": "locked", "settled": True},
        "declined": {"edit": "locked", "settled": True},
    },
    "transitions": {
        "submit": {"from": ["draft"], "to": "submitted", "kind": "requested"},
        "approve": {"from": ["submitted"], "to": "active", "kind": "automatic", "rejected_to": "draft"},
        "pay": {"from": ["active"], "to": "paid", "kind": "requested"},
        "decline": {"from": ["submitted"], "to": "declined", "kind": "requested"},
    },
    "slots": {"approval": {"transition": "approve", "requires": {"approvals": 1}}},
}


def find(changes: dict[str, Any], *, requires: bool = True) -> list[tuple[str, str]]:
    document = deepcopy(BILL)
    if not requires:
        del document["slots"]["approval"]["requires"]
    for path, value in changes.items():
        *parents, last = path.split("/")
        part = document
        for parent in parents:
            part = part.setdefault(parent, {})
        part[last] = value
    return [(finding.code, finding.place) for finding in parse_contract(document)[1]]


EDITABLE = {"edit": "editable", "settled": True}


def test_the_contract_itself_has_no_findings() -> None:
    assert find({}) == [] and find({}, requires=False) == []


@pytest.mark.parametrize("state", ["active", "paid"])
def test_an_edit_behind_required_approvals_is_refused_unless_it_is_accepted_by_name(state: str) -> None:
    assert find({f"states/{state}": EDITABLE}) == [("EDITABLE_BEHIND_REQUIRED", f"/states/{state}/edit")]
    assert find({f"states/{state}": {**EDITABLE, "after_approval": "editable"}}) == []
    assert find({f"states/{state}": EDITABLE}, requires=False) == []


def test_a_state_that_a_document_comes_to_unasked_may_be_edited() -> None:
    """They come there before the approval, or by a way that wants none."""
    assert find({"states/declined": EDITABLE}) == []
    assert ("EDITABLE_BEHIND_REQUIRED", "/states/active/edit") not in find(
        {
            "states/active": EDITABLE,
            "transitions/renew": {"from": ["draft"], "to": "active", "kind": "requested"},
        }
    )


RELEASE = {"from": ["submitted"], "to": "active", "kind": "requested"}
DECIDED = {"transitions/release": RELEASE, "separation_of_duties/deciding": ["release"]}


def test_a_request_that_decides_is_no_free_way_beside_required_approvals() -> None:
    """Elsewhere the publication warns: there the contract requires no approval."""
    refused, editable = ("EDITABLE_BEHIND_REQUIRED", "/states/active/edit"), {"states/active": EDITABLE}
    assert find({**DECIDED, **editable}) == [refused]
    assert find({**editable, "transitions/release": RELEASE}) == []
    assert find({**DECIDED, "states/active": {**EDITABLE, "after_approval": "editable"}}) == []
    assert find({**DECIDED, **editable}, requires=False) == []
    assert find({"states/declined": EDITABLE, "separation_of_duties/deciding": ["decline"]}) == []


def test_what_is_not_editable_accepts_no_edit() -> None:
    found = [("AFTER_APPROVAL_UNUSED", "/states/active/after_approval")]
    assert find({"states/active": {**BILL["states"]["active"], "after_approval": "editable"}}) == found


RELEASED = {
    "states/released": {"edit": "locked", "settled": True},
    "transitions/approve/rejected_to": "released",
}
PAY = {"from": ["active", "released"], "to": "paid", "kind": "requested"}
PLACE = "/transitions/approve/rejected_to"


def test_a_rejection_leads_not_to_what_the_approval_guards() -> None:
    changes = {**RELEASED, "transitions/pay": PAY}
    assert find(changes) == [("REJECTION_PASSES_REQUIRED", PLACE)]
    assert find(changes, requires=False) == []


def test_a_rejection_that_leads_on_by_a_way_of_its_own_is_named() -> None:
    changes = {
        **RELEASED,
        "states/settled_up": {"edit": "locked", "final": True},
        "transitions/settle": {"from": ["released"], "to": "settled_up", "kind": "requested"},
    }
    assert find(changes) == [("REJECTION_LEADS_ON", PLACE)]


@pytest.mark.parametrize("state", ["draft", "declined", "released"])
def test_a_rejection_leads_back_or_to_an_end(state: str) -> None:
    """The lawful ways beside it. A rejected document may be taken up again from where it ends."""
    again = {"from": ["declined", "released"], "to": "draft", "kind": "requested"}
    assert find({**RELEASED, "transitions/again": again, "transitions/approve/rejected_to": state}) in (
        [],
        [("STATE_UNREACHABLE", "/states/released")],
    )


def test_a_slot_of_nothing_known_is_the_finding_of_another_check() -> None:
    assert find({"slots/lost": {"transition": "fly", "requires": {"approvals": 1}}}) == [
        ("TRANSITION_UNKNOWN", "/slots/lost/transition")
    ]


def test_the_states_behind_an_approval_that_people_may_edit_are_listed() -> None:
    document = {**deepcopy(BILL), "slots": {"approval": {"transition": "approve"}}}
    document["states"] |= {"active": EDITABLE, "paid": EDITABLE, "declined": EDITABLE}
    contract, findings = parse_contract(document)
    assert contract is not None, findings
    assert list_editable_behind(contract, "approval") == ["active", "paid"]
    assert list_editable_behind(contract, "unknown") == []
    document["transitions"]["release"] = RELEASE
    for deciding, listed in (([], []), (["release"], ["active", "paid"])):
        document["separation_of_duties"] = {"deciding": deciding}
        contract, findings = parse_contract(document)
        assert contract is not None, findings
        assert list_editable_behind(contract, "approval") == listed
