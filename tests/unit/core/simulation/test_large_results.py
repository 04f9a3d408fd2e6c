"""A simulation shows what is too large, and is bounded itself."""

from copy import deepcopy
from typing import Any

import pytest

from signet.core.contracts.reader import parse_contract
from signet.core.simulation import Simulation, WorldScript, simulate
from signet.core.simulation.nodes import MAX_SHOWN
from signet.core.simulation.run import MAX_RENDERED_BYTES
from tests.support.core.approval_policies import role
from tests.support.core.valid_workflow import CONTRACT
from tests.unit.core.simulation.test_run import NOW, TELL, chain, load

LARGE = {"grand_total": 900, "vendor": "x" * 30_000}
MANY = {f"p{n}": "{entity.vendor}" for n in range(833)}
NODES: dict[str, tuple[str, dict[str, Any]]] = {
    "payload": ("webhook_out", {"endpoint": "erp", "payload": MANY}),
    "text": ("notification", {**TELL, "text": "{entity.vendor}" * 9}),
    "subject": ("notification", {**TELL, "subject": "{entity.vendor}" * 9}),
    "key": ("wait_event", {"key": "{entity.vendor}" * 9}),
}


def run(
    contract: dict[str, Any], slot: dict[str, Any], document: dict[str, Any], **script: Any
) -> Simulation:
    return simulate(load(contract, posting=slot), document, WorldScript(requests=["submit"], **script), NOW)


@pytest.mark.parametrize("name", sorted(NODES))
def test_a_template_that_gives_too_much_is_held(name: str) -> None:
    slot = chain(("tell", *NODES[name]))
    held = run(CONTRACT, slot, LARGE)
    assert held.status == "paused" and held.reason is not None
    assert held.reason.startswith(f"TEMPLATE_TOO_LARGE: {name} of usr:posting:tell: the template gives more")
    small = run(CONTRACT, slot, {**LARGE, "vendor": "x" * 100})
    assert small.reason is None or not small.reason.startswith("TEMPLATE")


def test_a_template_that_gives_too_much_takes_the_edge_for_errors_where_nobody_decides() -> None:
    slot = chain(
        ("tell", *NODES["payload"]),
        ("last", "condition", {}),
        edges=[{"source": "tell", "target": "note", "on": "error"}, {"source": "note", "target": "last"}],
    )
    slot["nodes"].append({"id": "note", "type": "script", "config": {"set": {"seen": "1"}}})
    assert run(CONTRACT, slot, LARGE).projection.context == {"seen": 1}
    asked = {"nodes": [{"id": "ask", "type": "approval", "config": {"approvers": [role("cfo")]}}]}
    workflow = load(CONTRACT, posting=slot, approval=asked)
    script = WorldScript(requests=["submit"], approvals={"ask": "approved"})
    held = simulate(workflow, LARGE, script, NOW)
    assert held.projection.context == {} and "the edge for errors is not taken" in (held.reason or "")
    deciding = {**CONTRACT, "separation_of_duties": {"may_decide": ["editor"], "deciding": ["submit"]}}
    contract, _ = parse_contract(deciding)
    script = WorldScript(requests=["submit"], contract=contract)
    held = simulate(load(deciding, posting=slot), LARGE, script, NOW)
    assert held.projection.context == {} and "the edge for errors is not taken" in (held.reason or "")


def acting(kind: str, **more: Any) -> dict[str, Any]:
    contract = deepcopy(CONTRACT)
    text = {"type": "string", "max_length": 100_000}
    contract["actions"]["spawn"] = {"kind": kind, "payload": {"t": text, "u": text}, **more}
    return contract


@pytest.mark.parametrize("for_each", [None, "entity.lines"])
def test_the_payload_of_an_action(for_each: str | None) -> None:
    config = {"action": "spawn", "for_each": for_each, "payload": {"t": "{entity.vendor}" * 9}}
    document = {**LARGE, "lines": [{"sku": "a"}, {"sku": "b"}]}
    held = run(acting("python"), chain(("task", "action", config)), document)
    assert (held.reason or "").startswith("TEMPLATE_TOO_LARGE: payload of usr:posting:task")


@pytest.mark.parametrize("for_each", [None, "entity.lines"])
def test_what_an_action_sets_undoes_the_whole_list(for_each: str | None) -> None:
    contract = acting("update", set={"vendor": "{payload.t}{payload.u}" * 40})
    config = {
        "action": "spawn",
        "for_each": for_each,
        "payload": {"t": "{entity.vendor}", "u": "{item.sku}" if for_each else ""},
    }
    document = {
        "grand_total": 900,
        "vendor": "x" * 1_000,
        "lines": [{"sku": "a"}, {"sku": "b"}, {"sku": "c"}],
    }
    held = run(contract, chain(("task", "action", config)), document)
    if for_each is None:
        assert len(held.document["vendor"]) == 40_000
        return
    assert (held.reason or "").startswith("TEMPLATE_TOO_LARGE: the template gives")
    assert held.document == document
    ended = [s.step.status for s in held.steps if "#" in s.step.token]
    assert ended == ["skipped", "failed", "skipped"]


def test_a_list_whose_items_are_too_large_together_is_not_done() -> None:
    config = {"action": "spawn", "for_each": "entity.lines", "save_as": "all", "max_items": 100}
    lines = [{"sku": "a"} for _ in range(100)]
    output = {"t": "x" * 20_000}
    held = run(
        acting("python", output={"t": {"type": "string"}}),
        chain(("task", "action", config)),
        {**LARGE, "lines": lines},
        outputs={"spawn": output},
    )
    assert (held.reason or "").startswith("LIST_TOO_LARGE: usr:posting:task acts on a list")
    assert held.projection.context == {}


def test_a_payload_is_shown_shortened() -> None:
    slot = chain(("tell", "webhook_out", {"endpoint": "erp", "payload": {"t": "{entity.vendor}"}}))
    asked = run(CONTRACT, slot, LARGE, effects={"tell": "never"})
    (waiting,) = asked.waiting
    assert len(waiting.shown) == MAX_SHOWN + 1 and waiting.shown.endswith("…")


def test_a_simulation_ends_where_its_templates_have_given_too_much() -> None:
    tell = {**TELL, "text": "{entity.vendor}" * 8}
    nodes = [(f"n{n}", "notification", tell) for n in range(100)]
    stopped = run(CONTRACT, chain(*nodes), LARGE)
    assert stopped.status == "running"
    assert stopped.reason is not None and stopped.reason.endswith("bytes of rendered templates")
    told = [s for s in stopped.steps if s.step.node.startswith("usr:")]
    assert len(told) * 240_002 > MAX_RENDERED_BYTES > (len(told) - 2) * 240_002
