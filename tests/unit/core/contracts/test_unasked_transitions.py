"""Slots before automatic transitions, which ask nobody until a patch fills them."""

from typing import Any

import pytest

from signet.core.contracts.contract import Contract
from signet.core.contracts.unasked_transitions import find_unasked_transitions
from signet.core.validation.strict_model import parse_strictly


def read(transition: dict[str, Any], slot: dict[str, Any]) -> Contract:
    document = {
        "contract": "bill",
        "fields": {},
        "states": {
            "draft": {"edit": "editable", "initial": True},
            "active": {"edit": "locked", "settled": True},
        },
        "transitions": {"approve": {"from": ["draft"], "to": "active", **transition}},
        "slots": {"approval": {"transition": "approve", **slot}},
    }
    contract, findings = parse_strictly(Contract, document)
    assert contract is not None, findings
    return contract


AUTOMATIC = {"kind": "automatic", "permission": "bill:approve"}


def test_a_slot_before_an_automatic_transition_with_a_permission_asks_nobody_yet() -> None:
    (finding,) = find_unasked_transitions(read(AUTOMATIC, {}))
    assert (finding.code, finding.severity, finding.place) == (
        "NOBODY_ASKED_YET",
        "warning",
        "/slots/approval",
    )
    assert "'approve'" in finding.sentence and "'bill:approve'" in finding.sentence
    assert "'approval'" in finding.remedy


@pytest.mark.parametrize(
    ("transition", "slot"),
    [
        ({"kind": "automatic"}, {}),
        ({**AUTOMATIC, "kind": "requested"}, {}),
        (AUTOMATIC, {"position": "after"}),
        (AUTOMATIC, {"requires": {"approvals": 1}}),
    ],
)
def test_other_slots_wait_or_expect_nobody(transition: dict[str, Any], slot: dict[str, Any]) -> None:
    assert list(find_unasked_transitions(read(transition, slot))) == []
