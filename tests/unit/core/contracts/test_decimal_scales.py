"""Numbers that an action copies into a field of another scale are named."""

from typing import Any

import pytest

from signet.core.contracts.decimal_scales import find_scale_differences
from signet.core.contracts.reader import parse_contract

FIELDS = {
    "amount": {"type": "decimal"},
    "whole": {"type": "int"},
    "fine": {"type": "decimal", "scale": 4},
    "name": {"type": "string"},
    "vendor": {"type": "ref", "entity_type": "vendor", "reads": {"limit": {"type": "decimal", "scale": 3}}},
}
STATES = {"draft": {"edit": "editable", "initial": True, "settled": True}}


def find(kind: str, field: str, value: Any, entity_type: str = "payment") -> list[tuple[str, str]]:
    action = {"kind": kind, "payload": {"sum": {"type": "decimal", "scale": 1}}, "set": {field: value}}
    action |= {"entity_type": entity_type} if kind == "create" else {}
    document = {"contract": "bill", "fields": FIELDS, "states": STATES, "actions": {"take": action}}
    contract, findings = parse_contract(document)
    assert contract is not None, findings
    payment, _ = parse_contract({**document, "contract": "payment", "actions": {}})
    assert payment is not None
    return [(each.code, each.place) for each in find_scale_differences(contract, {"payment": payment})]


def expr(text: str) -> dict[str, str]:
    return {"$expr": text}


@pytest.mark.parametrize("kind", ["update", "create"])
@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("fine", "entity.amount"),
        ("whole", "entity.amount"),
        ("amount", "entity.whole"),
        ("amount", "payload.sum"),
        ("amount", "entity.vendor.limit"),
    ],
)
def test_a_number_of_another_scale_is_named(kind: str, field: str, text: str) -> None:
    assert find(kind, field, expr(text)) == [("SCALE_DIFFERS", f"/actions/take/set/{field}")]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("amount", expr("entity.amount")),
        ("fine", expr("entity.amount * 100")),
        ("name", expr("entity.name")),
        ("name", "{entity.amount}"),
        ("amount", 5),
        ("amount", expr("(")),
        ("amount", expr("context.total")),
        ("vendor", expr("entity.vendor")),
    ],
)
def test_what_is_of_one_scale_or_computed_is_not(field: str, value: Any) -> None:
    assert find("create", field, value) == []


def test_a_type_that_is_not_there_yet_says_nothing() -> None:
    assert find("create", "fine", expr("entity.amount"), entity_type="unknown") == []
