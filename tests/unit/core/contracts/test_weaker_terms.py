"""Contracts that hold people to less than the version before, change by change."""

import copy
from typing import Any

import pytest

from signet.core.contracts.contract import Contract
from signet.core.contracts.weaker_terms import find_weakened
from signet.core.validation.strict_model import parse_strictly

STRICT: dict[str, Any] = {
    "contract": "bill",
    "fields": {
        "number": {"type": "string", "required": True, "unique": True, "min_length": 2, "max_length": 9},
        "payee": {"type": "string", "personal": True},
        "amount": {"type": "decimal", "minimum": 0, "maximum": 100},
        "vendor": {"type": "ref", "entity_type": "vendor"},
        "kind": {"type": "enum", "values": ["goods"]},
        "lines": {
            "type": "list",
            "max_items": 3,
            "of": {"type": "object", "fields": {"sum": {"type": "int", "required": True, "maximum": 5}}},
        },
    },
    "states": {
        "draft": {"edit": "editable", "initial": True},
        "submitted": {"edit": "locked"},
        "active": {"edit": "locked", "settled": True},
    },
    "transitions": {
        "submit": {"from": ["draft"], "to": "submitted", "kind": "requested", "reason_required": True},
        "approve": {
            "from": ["submitted"],
            "to": "active",
            "kind": "requested",
            "permission": "bill:approve",
            "condition": "entity.number != ''",
        },
    },
    "slots": {
        "approval": {
            "transition": "approve",
            "requires": {"approvals": 2, "distinct": True, "role": "controller"},
        },
        "posting": {"transition": "approve", "position": "after"},
    },
    "actions": {
        "take": {"kind": "update", "set": {"number": "1"}},
        "copy": {
            "kind": "create",
            "entity_type": "bill",
            "payload": {"sum": {"type": "int", "maximum": 5}},
            "set": {"number": "1"},
        },
    },
    "conditions": {"bill:approve": "actor.user_id != entity.creator"},
    "separation_of_duties": {"deciding": ["approve"]},
}


def change(path: str, value: Any) -> dict[str, Any]:
    """Return STRICT with one thing changed; None takes it out."""
    document = copy.deepcopy(STRICT)
    *parents, last = path.split("/")
    part = document
    for parent in parents:
        part = part[parent]
    if value is None:
        del part[last]
    else:
        part[last] = value
    return document


def read(document: dict[str, Any]) -> Contract:
    contract, findings = parse_strictly(Contract, document)
    assert contract is not None, findings
    return contract


REQUIRES = "slots/approval/requires"
WAY = {"from": ["draft"], "to": "active", "kind": "requested"}
CASES = [
    (REQUIRES, None, "REQUIRES_LESS"),
    (REQUIRES, {"approvals": 1, "distinct": True, "role": "controller"}, "REQUIRES_LESS"),
    (REQUIRES, {"approvals": 2, "role": "controller"}, "REQUIRES_LESS"),
    (REQUIRES, {"approvals": 2, "distinct": True}, "REQUIRES_LESS"),
    ("slots/approval", None, "REQUIRES_LESS"),
    ("slots/posting", None, "SLOT_GONE"),
    ("fields/payee", None, "FIELD_GONE"),
    ("fields/number/required", False, "FIELD_LOOSER"),
    ("fields/number/unique", False, "FIELD_LOOSER"),
    ("fields/payee/personal", False, "FIELD_LOOSER"),
    ("fields/number/min_length", 1, "FIELD_LOOSER"),
    ("fields/number/max_length", 10, "FIELD_LOOSER"),
    ("fields/amount/minimum", -1, "FIELD_LOOSER"),
    ("fields/amount/maximum", 101, "FIELD_LOOSER"),
    ("fields/lines/max_items", 4, "FIELD_LOOSER"),
    ("fields/lines/of/fields/sum/required", False, "FIELD_LOOSER"),
    ("fields/lines/of/fields/sum/maximum", 6, "FIELD_LOOSER"),
    ("fields/kind/values", ["goods", "services"], "FIELD_LOOSER"),
    ("fields/amount/scale", 0, "FIELD_CHANGED"),
    ("fields/vendor/entity_type", "payee", "FIELD_CHANGED"),
    ("fields/kind", {"type": "string"}, "FIELD_CHANGED"),
    ("fields/payee/default", "DE-FRAUD", "DEFAULT_CHANGED"),
    ("actions/copy/payload/sum/maximum", 6, "FIELD_LOOSER"),
    ("slots/posting/edit", "editable", "EDIT_WIDER"),
    ("slots/approval/edit", "amend_only", "EDIT_WIDER"),
    ("separation_of_duties/may_decide", ["creator"], "MAY_DECIDE_WIDER"),
    ("separation_of_duties", None, "DECIDING_DROPPED"),
    ("conditions", None, "CONDITION_DROPPED"),
    ("conditions/bill:approve", "true", "CONDITION_CHANGED"),
    ("transitions/approve/condition", None, "CONDITION_DROPPED"),
    ("transitions/approve/condition", "true", "CONDITION_CHANGED"),
    ("transitions/approve/permission", "bill:edit", "PERMISSION_CHANGED"),
    ("transitions/submit/permission", "bill:read", "PERMISSION_CHANGED"),
    ("transitions/approve/rejected_to", "active", "REJECTION_WAY_CHANGED"),
    ("transitions/submit/reason_required", False, "REASON_DROPPED"),
    ("transitions/short_cut", WAY, "WAY_ADDED"),
    ("states/submitted/edit", "editable", "EDIT_WIDER"),
    ("deletable_in", ["draft"], "DELETE_WIDER"),
    ("actions/other", {"kind": "update", "set": {"number": "2"}}, "ACTION_ADDED"),
    ("actions/take/set", {"number": "2"}, "ACTION_CHANGED"),
    ("actions/copy/repeats", "allowed", "REPEATS_ALLOWED"),
    ("actions/take/permission", "bill:read", "PERMISSION_CHANGED"),
]


@pytest.mark.parametrize(("path", "value", "code"), CASES)
def test_what_is_weaker_is_named_and_the_way_back_is_not(path: str, value: Any, code: str) -> None:
    strict, loose = read(STRICT), read(change(path, value))
    found = list(find_weakened(strict, loose))
    assert code in {finding.code for finding in found}
    assert all(finding.severity == "warning" and finding.sentence and finding.place for finding in found)
    assert code.endswith("CHANGED") or code not in {finding.code for finding in find_weakened(loose, strict)}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (REQUIRES, {"approvals": 3, "distinct": True, "role": "controller"}),
        ("label", "typo corrected"),
        ("states/closed", {"edit": "locked", "final": True}),
        ("transitions/approve/reason_required", True),
        ("conditions/bill:edit", "entity.number != ''"),
        ("transitions/submit/condition", "entity.number != ''"),
        ("states/draft/edit", "locked"),
        ("fields/payee/required", True),
        ("fields/amount/maximum", 99),
        ("fields/kind/label", "Kind"),
        ("fields/note", {"type": "string", "default": "none"}),
        ("actions", None),
    ],
)
def test_what_is_stricter_or_the_same_is_not_named(path: str, value: Any) -> None:
    assert not list(find_weakened(read(STRICT), read(change(path, value))))
    assert not list(find_weakened(read(STRICT), read(STRICT)))


@pytest.mark.parametrize(
    ("path", "value", "code"),
    [
        (REQUIRES, {"approvals": 2, "distinct": True, "role": "clerk"}, "REQUIRES_LESS"),
        ("transitions/submit/to", "active", "WAY_ADDED"),
    ],
)
def test_what_is_another_thing_is_named_both_ways(path: str, value: Any, code: str) -> None:
    strict, other = read(STRICT), read(change(path, value))
    assert code in {finding.code for finding in find_weakened(strict, other)}
    assert code in {finding.code for finding in find_weakened(other, strict)}


def test_a_decision_that_nobody_can_ask_for_any_more_is_not_named() -> None:
    document = change("separation_of_duties", None)
    del document["transitions"]["approve"]
    del document["slots"]
    codes = {finding.code for finding in find_weakened(read(STRICT), read(document))}
    assert codes == {"REQUIRES_LESS"}
