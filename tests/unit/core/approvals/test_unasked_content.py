"""Content that nobody was asked about, by the contract and the definition alone."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from signet.core.approvals.unasked_content import (
    describe_unasked,
    list_accepted,
    list_made_behind,
    list_open_states,
    moves_on,
    refuse_unasked,
)
from signet.core.contracts.compiled_contract import CompiledContract
from signet.core.contracts.contract import Contract
from signet.core.runtime.workflow import Workflow
from tests.support.core.small_workflows import CONTRACT as DOCUMENT
from tests.support.core.small_workflows import compile_patch, make_contract

LOOK = {"id": "look", "type": "approval", "config": {"approvers": [{"by": "user", "user": "ada"}]}}
CALL = {"id": "call", "type": "webhook_out", "config": {"endpoint": "erp"}}
MAKE = {"id": "make", "type": "action", "config": {"action": "make"}}
ACTIONS = {
    "make": {"kind": "create", "entity_type": "payment", "set": {"number": "1"}},
    "stamp": {"kind": "update", "set": {"posted": True}},
}


def contract(**changes: Any) -> Contract:
    return make_contract(amendment=None, actions=ACTIONS, **changes)


def states(**changes: Mapping[str, Any]) -> dict[str, Any]:
    return {**DOCUMENT["states"], **changes}


SOMETIMES = {
    "nodes": [CALL, LOOK],
    "edges": [
        {"source": "call", "target": "look", "condition": "entity.grand_total > 1"},
        {"source": "call", "target": "out"},
        {"source": "look", "target": "out"},
    ],
    "exit": "join",
}
BEHIND = {
    "nodes": [LOOK],
    "edges": [
        {"source": "look", "target": "out"},
        {"source": "look", "target": "out", "on": "rejected"},
    ],
}


def workflow(made: Contract, **slots: Any) -> Workflow:
    """Compile slots that are filled by one node, or by a graph."""
    filled = {name: fill if "nodes" in fill else {"nodes": [fill]} for name, fill in slots.items()}
    base = {"entity_type": "invoice", "envelope_version": 1}
    patch = {"patch": "standard", "base": base, "slots": filled}
    return Workflow(compile_patch(patch if slots else None, made))


@pytest.mark.parametrize(
    ("is_amendment", "is_decided", "typed_over", "code"),
    [
        (True, False, (), "AMENDMENT_UNASKED"),
        (True, True, (), None),
        (True, True, ("iban",), "EDIT_UNASKED"),
        (False, False, ("iban",), "EDIT_UNASKED"),
        (False, False, (), None),
    ],
)
def test_a_document_says_what_nobody_was_asked_about(
    is_amendment: bool, is_decided: bool, typed_over: Sequence[str], code: str | None
) -> None:
    problem = describe_unasked(is_amendment=is_amendment, is_decided=is_decided, typed_over=typed_over)
    assert (problem.partition(":")[0] if problem else None) == code
    assert problem is None or refuse_unasked(problem).code == code


def test_the_fields_are_named() -> None:
    problem = describe_unasked(is_amendment=False, is_decided=False, typed_over=("iban", "amount"))
    assert problem is not None and "has changed amount, iban, and" in problem


def test_the_contract_accepts_edits_by_state() -> None:
    draft = {**DOCUMENT["states"]["draft"], "after_approval": "editable"}
    assert list_accepted(contract()) == []
    assert list_accepted(contract(states=states(draft=draft))) == ["draft"]


@pytest.mark.parametrize(
    ("to", "may_ask", "moves"),
    [
        ("active", True, True),
        ("active", False, True),
        ("cancelled", False, False),
        ("submitted", False, True),
        ("submitted", True, False),
        ("draft", False, False),
    ],
    ids=["settles", "settles too", "withdraws", "is closed", "is asked about", "is edited"],
)
def test_a_gate_moves_on_what_it_settles_or_closes(to: str, may_ask: bool, moves: bool) -> None:
    assert moves_on(contract(), "submit", to, may_ask=may_ask) is moves


def test_an_interrupt_stops_it_where_it_settles_nothing() -> None:
    assert not moves_on(contract(), "cancel", "submitted", may_ask=False)
    assert moves_on(contract(), "cancel", "active", may_ask=False)


def test_a_request_that_decides_moves_nothing_on_unasked() -> None:
    deciding = contract(separation_of_duties={"deciding": ["approve"]})
    assert not moves_on(deciding, "approve", "active", may_ask=False)


# --- ahead of a node ---


@pytest.mark.parametrize(
    ("slots", "deciding", "ahead"),
    [
        ({"checks": CALL}, [], (False, True)),
        ({"checks": CALL, "approvals": LOOK}, [], (True, False)),
        ({"checks": SOMETIMES}, [], (True, True)),
        ({"checks": CALL, "posting": BEHIND}, [], (False, True)),
        ({"checks": CALL}, ["approve"], (True, False)),
        ({"posting": CALL}, [], (False, True)),
    ],
    ids=["nobody", "later", "conditional", "too late", "who asks decides", "behind"],
)
def test_who_is_asked_ahead_of_a_call(
    slots: Mapping[str, Any], deciding: Sequence[str], ahead: tuple[bool, bool]
) -> None:
    made = contract(separation_of_duties={"deciding": list(deciding)})
    loaded = workflow(made, **slots)
    (call,) = (name for name in loaded.nodes if name.endswith(":call"))
    found = loaded.look_ahead(CompiledContract(made, "0" * 64), call)
    assert tuple(found) == ahead
    assert found is loaded.look_ahead(CompiledContract(made, "0" * 64), call)
    assert found.asks_in_any_case is (ahead == (True, False))


# --- what a publication names ---


@pytest.mark.parametrize(
    ("slots", "made"),
    [
        ({"approvals": LOOK, "posting": MAKE}, [("make", "payment")]),
        ({"approvals": LOOK}, [("make", "payment")]),
        ({"checks": MAKE, "approvals": LOOK}, []),
        ({"posting": MAKE}, []),
        ({}, []),
    ],
    ids=["by a step", "by hand", "before", "unasked", "unasked by hand"],
)
def test_what_is_made_behind_an_approval(slots: Mapping[str, Any], made: list[tuple[str, str]]) -> None:
    of = contract()
    assert list_made_behind(workflow(of, **slots), of) == made


@pytest.mark.parametrize(
    ("draft", "slots", "found"),
    [
        ({}, {}, ["draft"]),
        ({}, {"approvals": LOOK}, []),
        ({"edit": "locked"}, {}, []),
        ({"after_approval": "editable"}, {}, []),
        ({"settled": True}, {}, []),
    ],
    ids=["open", "asked", "locked", "accepted", "settled"],
)
def test_where_people_may_edit_and_nobody_is_asked(
    draft: Mapping[str, Any], slots: Mapping[str, Any], found: list[str]
) -> None:
    of = contract(states=states(draft={**DOCUMENT["states"]["draft"], **draft}))
    assert list_open_states(workflow(of, **slots), CompiledContract(of, "0" * 64)) == found
