"""A way to a settled state that asks nobody, beside one that asks people, is a finding at publication."""

from copy import deepcopy
from typing import Any

import pytest

from tests.support.core.valid_workflow import CONTRACT, compile_patch, read_envelope

LOOK = {"id": "look", "type": "approval", "config": {"approvers": [{"by": "role", "role": "cfo"}]}}
ASK = {"nodes": [LOOK]}
SCRIPT = {"nodes": [{"id": "sum", "type": "script", "config": {"set": {"x": "1"}}}]}
QUICK = {"from": ["draft"], "to": "active", "kind": "requested"}
CODE = "APPROVAL_ON_ONE_WAY"


def contract(**transitions: Any) -> dict[str, Any]:
    """Return a contract whose way from an amendment has a slot of its own."""
    made = deepcopy(CONTRACT)
    made["slots"]["again"] = {"transition": "submit", "from": "amended"}
    made["transitions"] |= transitions
    return made


def found(document: dict[str, Any], **slots: Any) -> list[tuple[str, str]]:
    base = {"entity_type": "invoice", "envelope_version": 3}
    compilation = compile_patch({"patch": "own", "base": base, "slots": slots}, read_envelope(document))
    assert compilation.artifact is not None, compilation.findings
    return [(each.place, each.sentence) for each in compilation.findings if each.code == CODE]


def test_an_amendment_that_asks_nobody_is_found() -> None:
    """The approval stands in the slot of a draft alone: the slot of an amendment is empty."""
    ((place, sentence),) = found(contract(), checks=ASK)
    assert place == "sys:state:active"
    assert sentence.startswith("'active' is reached by sys:gate:submit:amended without an approval")
    assert sentence.endswith("and by sys:gate:submit with one.")


def test_a_transition_that_asks_nobody_is_found() -> None:
    ((_, sentence),) = found(contract(quick=QUICK), approval=ASK)
    assert "reached by sys:gate:quick, sys:gate:quick:amended without an approval, and by" in sentence


@pytest.mark.parametrize(
    "slots",
    [{"checks": SCRIPT}, {"approval": ASK}, {"checks": ASK, "again": ASK}],
    ids=["nowhere", "on the common way", "on both ways"],
)
def test_where_each_way_asks_or_none_does_nothing_is_found(slots: dict[str, Any]) -> None:
    assert found(contract(), **slots) == []
