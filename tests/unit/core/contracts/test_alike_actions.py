"""Actions that make documents of one type, and those that make the same."""

from typing import Any

import pytest

from signet.core.contracts.alike_actions import find_actions_of_one_type, list_alike_actions
from signet.core.contracts.contract import Contract
from signet.core.contracts.reader import parse_contract
from tests.support.core.valid_workflow import CONTRACT

MAKE: dict[str, Any] = {"kind": "create", "entity_type": "task", "set": {"title": "x"}}
OTHER: dict[str, Any] = {**MAKE, "set": {"title": "y"}}


def with_actions(**actions: Any) -> Contract:
    contract, mistakes = parse_contract({**CONTRACT, "actions": actions})
    assert contract is not None, mistakes
    return contract


@pytest.mark.parametrize(
    ("actions", "named"),
    [
        ({"one": MAKE}, []),
        ({"one": MAKE, "same": MAKE}, []),
        ({"one": MAKE, "two": OTHER}, ["'one', 'two'"]),
        ({"one": MAKE, "two": OTHER, "same": MAKE}, ["'one', 'two', 'same'"]),
        ({"one": MAKE, "two": {**OTHER, "entity_type": "note"}}, []),
        ({"one": MAKE, "two": {**OTHER, "repeats": "allowed"}}, []),
        ({"one": MAKE, "two": {"kind": "update", "set": {"posted": True}}}, []),
    ],
)
def test_a_publication_names_actions_that_make_documents_of_one_type(
    actions: dict[str, Any], named: list[str]
) -> None:
    found = list(find_actions_of_one_type(with_actions(**actions)))
    assert [finding.parameters["actions"] for finding in found] == named
    assert {finding.code for finding in found} <= {"ACTIONS_OF_ONE_TYPE"}


def test_actions_that_make_the_same_are_one() -> None:
    update = {"kind": "update", "set": {"posted": True}}
    contract = with_actions(
        one=MAKE, two=OTHER, same={**MAKE, "label": "Once more"}, post=update, mark=update
    )
    assert list_alike_actions(contract, "one") == ["one", "same"]
    assert list_alike_actions(contract, "two") == ["two"]
    assert list_alike_actions(contract, "post") == ["post"]
