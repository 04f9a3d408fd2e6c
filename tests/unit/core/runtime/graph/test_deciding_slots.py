"""The slots that decide which approvals are asked, by what they set and what the others read."""

from typing import Any

import pytest

from signet.core.expressions import expression_to_json
from signet.core.expressions.syntax_tree import Name
from signet.core.runtime.graph.deciding_slots import list_deciding_slots
from tests.support.core.valid_workflow import CONTRACT, edge
from tests.unit.core.repair.test_move_check import Change, load

WHOLE = expression_to_json(Name(("context",)))


def ask_by(condition: str) -> Change:
    def change(patch: dict[str, Any]) -> None:
        edge(patch, "fast")["condition"] = condition

    return change


def deciding(*changes: Change, actions: dict[str, Any] | None = None) -> list[str]:
    def change(patch: dict[str, Any]) -> None:
        for one in changes:
            one(patch)

    contract = {**CONTRACT, "actions": {**CONTRACT["actions"], **(actions or {})}}
    return sorted(list_deciding_slots(load(change, contract).content))


def test_a_slot_that_asks_decides() -> None:
    assert deciding() == ["approval"]


SMALL = "context.small == true"
SET_SMALL = {
    "nodes": [{"id": "look", "type": "script", "config": {"set": {"small": "entity.grand_total < 9"}}}]
}
CALL = {"id": "look", "type": "webhook_out", "config": {"endpoint": "bureau"}}
SAVE_SMALL = {"nodes": [{**CALL, "config": {"endpoint": "bureau", "save_as": "small"}}]}


def posting(action: str) -> Change:
    """Run the action in a slot that asks nobody; the way to the approval reads the vendor."""
    run = {"nodes": [{"id": "stamp2", "type": "action", "config": {"action": action, "payload": {}}}]}
    return lambda patch: patch["slots"].update(checks=run)


@pytest.mark.parametrize(
    ("checks", "condition"),
    [(SET_SMALL, SMALL), (SAVE_SMALL, "context.small.status == 200")],
    ids=["script", "answer"],
)
def test_a_slot_that_sets_a_variable_of_the_way_to_an_approval_decides(
    checks: dict[str, Any], condition: str
) -> None:
    changes: tuple[Change, ...] = (lambda patch: patch["slots"].update(checks=checks), ask_by(condition))
    assert deciding(*changes) == ["approval", "checks"]
    assert deciding(changes[0]) == ["approval"]


@pytest.mark.parametrize(
    ("action", "decides"),
    [
        ({"kind": "update", "set": {"vendor": "none"}}, True),
        ({"kind": "update", "set": {"vendor": "{entity.creator}"}}, True),
        ({"kind": "update", "set": {"posted": True}}, False),
        ({"kind": "python"}, True),
        ({"kind": "create", "entity_type": "task", "set": {"vendor": "none"}}, False),
    ],
    ids=["fixed", "computed", "another field", "python", "another document"],
)
def test_a_slot_that_sets_a_field_of_the_way_to_an_approval_decides(
    action: dict[str, Any], decides: bool
) -> None:
    found = deciding(posting("change"), ask_by("entity.vendor == 'acme'"), actions={"change": action})
    assert found == (["approval", "checks"] if decides else ["approval"])


def test_what_is_read_as_a_whole_is_read_in_every_part() -> None:
    content: dict[str, Any] = {
        "slot_map": {"look": "a", "set": "b", "state": None},
        "nodes": {
            "state": {"type": "state", "config": {}},
            "look": {"type": "approval", "config": {}, "logic": {"/for": {"expression": WHOLE}}},
            "set": {"type": "script", "config": {"set": {"total": "1"}}},
        },
        "edges": {},
        "adjacency": {"look": [], "set": [], "state": []},
        "actions": {},
    }
    assert list_deciding_slots(content) == {"a", "b"}
