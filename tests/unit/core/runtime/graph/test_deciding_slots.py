"""The slots that decide which approvals are asked, by what they set and what the others read."""

from typing import Any

import pytest

from signet.core.expressions import ANY, Scope, expression_to_json, parse_template, template_to_json
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


def make_content(reading: dict[str, Any], **actions: Any) -> dict[str, Any]:
    """Make an artifact: an approval, a node beside it that reads something, and a slot that sets `kind`."""
    nodes = {
        "ask": {"type": "approval", "config": {}},
        "reads": {"config": {"save_as": None}, **reading},
        "sets": {"type": "action", "config": {"action": "set", "save_as": None}},
    }
    return {
        "slot_map": {"ask": "asking", "reads": "asking", "sets": "setting"},
        "nodes": nodes,
        "edges": {},
        "adjacency": {name: [] for name in nodes},
        "actions": {"set": update(kind="x"), **actions},
    }


def update(**values: Any) -> dict[str, Any]:
    template, errors = parse_template(values, Scope({"entity": ANY}))
    assert template is not None, errors
    return {"kind": "update", "set": template_to_json(template)}


def running(**config: Any) -> dict[str, Any]:
    return {"type": "action", "config": {"action": "run", "save_as": None, **config}}


@pytest.mark.parametrize(
    ("reading", "actions", "decides"),
    [
        (running(), {"run": update(other="{entity.kind}")}, True),
        (running(), {"run": update(other="{entity.note}")}, False),
        (running(save_as="saved"), {"run": update(other="y")}, True),
        (running(), {"run": {"kind": "python"}}, True),
        (running(), {}, True),
        ({"type": "rule", "config": {"rules": ["known"]}}, {}, True),
        ({"type": "approval", "config": {"chain": "strict"}}, {}, True),
        ({"type": "approval", "config": {"approvers": []}}, {}, False),
    ],
    ids=[
        "an action that copies it",
        "an action that copies another field",
        "an action that gives back fields",
        "python",
        "an action that is not known",
        "a rule",
        "a chain",
        "approvers that are named",
    ],
)
def test_a_slot_that_sets_what_stands_before_an_approval_decides(
    reading: dict[str, Any], actions: dict[str, Any], decides: bool
) -> None:
    expected = {"asking", "setting"} if decides else {"asking"}
    assert list_deciding_slots(make_content(reading, **actions)) == expected


@pytest.mark.parametrize("asks", [True, False])
def test_what_a_gate_reads_decides_where_people_are_asked(asks: bool) -> None:
    """A gate with a condition may lead around the slot that asks."""
    small = {"expression": expression_to_json(Name(("entity", "kind")))}
    content = make_content({"type": "lifecycle_gate", "config": {}, "logic": {"/condition": small}})
    content["slot_map"]["reads"] = None
    if not asks:
        content["nodes"]["ask"]["type"] = "state"
    assert list_deciding_slots(content) == ({"asking", "setting"} if asks else frozenset())


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
