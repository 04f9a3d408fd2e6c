"""A list that is longer than its node takes does nothing."""

from copy import deepcopy

from signet.core.simulation import WorldScript, simulate
from tests.support.core.valid_workflow import CONTRACT
from tests.unit.core.simulation.test_run import DOCUMENT, NOW, chain, load


def test_a_list_that_is_too_long_is_held_as_a_whole() -> None:
    config = {"action": "spawn", "for_each": "entity.lines", "save_as": "tasks", "max_items": 2}
    contract = deepcopy(CONTRACT)
    contract["actions"]["spawn"] = {"kind": "python", "output": {"id": {"type": "string"}}}
    workflow = load(contract, posting=chain(("task", "action", config)))
    lines = [{"sku": "a"}, {"sku": "b"}, {"sku": "c"}]
    script = WorldScript(requests=["submit"], outputs={"spawn": {"id": "t"}})
    held = simulate(workflow, {**DOCUMENT, "lines": lines}, script, NOW)
    assert held.status == "paused" and held.projection.context == {}
    assert held.reason is not None and held.reason.startswith("LIST_TOO_LONG: the list has 3 items, and ")
    assert "at most 2" in held.reason
    assert [s.step.token for s in held.steps if s.step.node == "usr:posting:task"] == ["T"]
