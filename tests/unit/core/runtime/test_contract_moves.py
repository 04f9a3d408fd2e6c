"""A document moves along to a newer version of its contract if that accepts it as it is."""

from copy import deepcopy
from typing import Any

import pytest

from signet.core.contracts.contract import Contract
from signet.core.repair.move_check import MoveInput, assess
from tests.support.core.valid_workflow import CONTRACT, read_envelope
from tests.unit.core.repair.test_move_check import DRAFT, WAITING, Change, at, codes, define, load

INDEXED: dict[str, Any] = {"type": "string", "indexed": True, "max_length": 100}


def under(change: Change = lambda contract: None, version: int = 4) -> Contract:
    contract = deepcopy(CONTRACT) | {"version": version}
    change(contract)
    return read_envelope(contract).contract


@pytest.mark.parametrize(
    ("field", "changes"),
    [
        ("vendor", None),
        ("vendor", {"max_length": 5}),
        ("vendor", {"personal": True}),
        ("vendor", {"unique": True, "required": True, "max_length": 100}),
        ("vendor", {"indexed": True, "max_length": 100}),
        ("wanted", {"type": "string", "required": True}),
        # It takes the column of another field.
        ("agent", INDEXED),
    ],
)
def test_a_document_that_would_not_be_right_under_its_new_contract_stays(
    field: str, changes: dict[str, Any] | None
) -> None:
    def index_number(contract: dict[str, Any]) -> None:
        contract["fields"]["number"] = INDEXED

    def change_field(contract: dict[str, Any]) -> None:
        index_number(contract)
        if changes is None:
            del contract["fields"][field]
            contract["actions"]["spawn"]["set"] = {"title": "for nobody"}
        else:
            contract["fields"][field] = contract["fields"].get(field, {}) | changes

    old = define(load(), contract=under(index_number, 3))
    report = assess(old, define(load(), 2, contract=under(change_field)), MoveInput([at(DRAFT, WAITING)]))
    assert codes(report) == ["FIELDS_CHANGED"]
    named = "number" if field == "agent" else field
    assert f"declares {named} differently" in report.obstacles[0].sentence


def test_a_document_goes_along_to_a_contract_that_takes_it_as_it_is() -> None:
    def add_fields(contract: dict[str, Any]) -> None:
        contract["fields"]["vendor"]["label"] = "Who sold it"
        contract["fields"] |= {
            "remark": {"type": "string", "personal": True},
            "zone": INDEXED,
        }

    old, new = define(load(), contract=under(version=3)), define(load(), 2, contract=under(add_fields))
    for status in (None, "draft", "amended"):
        assert assess(old, new, MoveInput([at(DRAFT, WAITING)], document_status=status)).is_safe
    gone = assess(old, new, MoveInput([at(DRAFT, WAITING)], document_status="parked"))
    assert codes(gone) == ["STATUS_GONE"]
    older = assess(
        define(load(), contract=under()), define(load(), 2, contract=under(version=3)), MoveInput([])
    )
    assert codes(older) == ["CONTRACT_OLDER"]
