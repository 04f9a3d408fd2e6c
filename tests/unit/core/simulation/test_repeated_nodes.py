"""A simulated loop behind an approval does nothing twice, as the engine does."""

from itertools import pairwise
from typing import Any

import pytest

from signet.core.simulation import Simulation, WorldScript, simulate
from tests.support.core.valid_workflow import CONTRACT
from tests.unit.core.simulation.test_run import NOW, load

LOOK = {"id": "look", "type": "approval", "config": {"approvers": [{"by": "user", "user": "ann"}]}}
WAIT = {"id": "wait", "type": "wait_event", "config": {"key": "never"}}
LOOP: dict[str, Any] = {
    **{name: CONTRACT[name] for name in ("contract", "version", "fields") if name in CONTRACT},
    "states": {
        "draft": {"edit": "editable", "initial": True},
        "approved": {"edit": "locked"},
        "on_hold": {"edit": "locked"},
        "active": {"edit": "locked", "settled": True},
    },
    "transitions": {
        "submit": {"from": ["draft"], "to": "approved", "kind": "requested"},
        "book": {"from": ["approved"], "to": "active", "kind": "automatic"},
        "hold": {"from": ["approved"], "to": "on_hold", "kind": "interrupting"},
        "release": {"from": ["on_hold"], "to": "approved", "kind": "requested"},
    },
    "slots": {
        "approval": {"transition": "submit"},
        "booking": {"transition": "book"},
        "releasing": {"transition": "release"},
    },
    "actions": {
        "make": {"kind": "python", "permission": "invoice:post", "payload": {"n": {"type": "int"}}},
        "stamp": {"kind": "update", "permission": "invoice:post", "set": {"vendor": "'b'"}},
    },
}


def call(said: Any = 1, **more: Any) -> dict[str, Any]:
    config = {"endpoint": "erp", "payload": {"n": said}, "save_as": "answer", **more}
    return {"id": "pay", "type": "webhook_out", "config": config}


def make(**more: Any) -> dict[str, Any]:
    config = {"action": "make", "payload": {"n": 1}, "save_as": "answer", **more}
    return {"id": "pay", "type": "action", "config": config}


def run(
    *nodes: Any,
    contract: dict[str, Any] = LOOP,
    edges: Any = (),
    requests: tuple[str, ...] = ("submit", "hold", "release"),
    effect: str = "delivered",
    **slots: Any,
) -> Simulation:
    """Let people approve, and the document be held and released while it waits behind the call."""
    linear = [{"source": a["id"], "target": b["id"]} for a, b in pairwise(nodes)]
    booking = {"nodes": list(nodes), "edges": [*linear, *edges]}
    slots = {"approval": {"nodes": [LOOK]}, "booking": booking, **slots}
    script = WorldScript(
        requests=requests,
        approvals={"*": "approved"},
        effects={"pay": effect},
        outputs={"erp": {"body": {"reference": "R"}}, "make": {"made": 1}},
    )
    workflow = load(contract, **{name: slot for name, slot in slots.items() if slot is not None})
    return simulate(workflow, {"grand_total": 900, "vendor": "acme"}, script, NOW)


def paid(found: Simulation) -> list[bool]:
    """Return of each step of the call whether it took the first answer."""
    steps = [one for one in found.steps if one.step.node == "usr:booking:pay" and "#" not in one.step.token]
    return ["done_before" in one.evidence for one in steps]


@pytest.mark.parametrize("node", [call(), make(), make(for_each="[1, 2]", payload={"n": "{item}"})])
def test_a_loop_takes_the_first_answer(node: dict[str, Any]) -> None:
    found = run(node, WAIT)
    assert (found.status, paid(found)) == ("running", [False, True])
    steps = [one.step for one in found.steps if one.step.node == "usr:booking:pay"]
    first, second = (step.variables["answer"] for step in steps if "answer" in step.variables)
    assert first == second


def test_what_would_say_something_else_is_held() -> None:
    found = run(call({"$expr": "entity.version"}), WAIT)
    assert found.status == "paused" and str(found.reason).startswith("DONE_BEFORE: ")
    assert paid(found) == [False]


def test_a_failure_that_took_its_edge_takes_it_again() -> None:
    edges = [{"source": "pay", "target": "wait", "on": "error"}]
    found = run(call(), WAIT, edges=edges, effect="error")
    assert (found.status, paid(found)) == ("running", [False, True])


@pytest.mark.parametrize("slots", [{"releasing": {"nodes": [LOOK]}}, {"approval": None}])
def test_where_people_decide_again_or_never_did_it_calls_again(slots: dict[str, Any]) -> None:
    """The controls."""
    found = run(call(), WAIT, **slots)
    assert (found.status, paid(found)) == ("running", [False, False])


def test_behind_a_gate_that_asks_nobody_it_counts_since_the_gate() -> None:
    reopen = {"from": ["approved"], "to": "draft", "kind": "interrupting"}
    after = {"transition": "submit", "position": "after"}
    contract = {
        **LOOP,
        "transitions": {**LOOP["transitions"], "reopen": reopen},
        "slots": {**LOOP["slots"], "booking": after},
    }
    found = run(call(), WAIT, contract=contract, requests=("submit", "reopen", "submit"), approval=None)
    assert (found.status, paid(found)) == ("running", [False, False])


def test_a_way_that_was_gone_to_its_end_is_not_gone_again() -> None:
    redo = {"from": ["active"], "to": "approved", "kind": "requested"}
    close = {"from": ["active"], "to": "closed", "kind": "requested"}
    states = {**LOOP["states"], "active": {"edit": "locked"}, "closed": {"edit": "locked", "settled": True}}
    transitions = {**LOOP["transitions"], "redo": redo, "close": close}
    contract = {**LOOP, "states": states, "transitions": transitions}
    found = run(call(), contract=contract, requests=("submit", "redo"))
    assert found.status == "paused" and str(found.reason).startswith("DONE_BEFORE: ")
    assert paid(found) == [False]
