"""The variables that are read behind a node before they are set again; and what they were worked out from."""

from collections.abc import Mapping
from typing import Any

import pytest

from signet.core.contracts.expression_scope import make_scope
from signet.core.expressions import expression_to_json, template_to_json
from signet.core.expressions.syntax import parse_expression
from signet.core.expressions.syntax_tree import Expression
from signet.core.expressions.template import parse_template
from signet.core.expressions.types import ANY
from signet.core.runtime.graph.live_variables import (
    list_entries_of_variables,
    list_fields_of_variables,
    list_live_variables,
    list_unasked_variables,
    list_variables_read,
)


def read(text: str) -> dict[str, Any]:
    parsed = parse_expression(text)
    assert isinstance(parsed, Expression)
    return {"tree": expression_to_json(parsed)}


def script(**set_: str) -> dict[str, Any]:
    logic = {f"/set/{name}": {"expression": read(text)["tree"]} for name, text in set_.items()}
    return {"type": "script", "config": {"set": set_}, "logic": logic}


def call(text: str, save_as: str | None = None) -> dict[str, Any]:
    template, findings = parse_template({"said": text}, make_scope(ANY, ANY, ANY))
    assert template is not None and not findings
    logic = {"/payload": {"template": template_to_json(template)}}
    return {"type": "webhook_out", "config": {"save_as": save_as}, "logic": logic}


def action(name: str) -> dict[str, Any]:
    return {"type": "action", "config": {"action": name, "save_as": None}}


LOOK: Mapping[str, Any] = {"type": "approval", "config": {}}
OUT: Mapping[str, Any] = {"type": "slot_out", "config": {}}
END: Mapping[str, Any] = {"type": "end", "config": {}}
SET = script(x="entity.amount")
GATE: Mapping[str, Any] = {"type": "lifecycle_gate", "config": {}}


def setting(**set_: str) -> dict[str, Any]:
    template, findings = parse_template(set_, make_scope(ANY, ANY, ANY))
    assert template is not None and not findings
    return template_to_json(template)


ACTIONS = {
    "post": {"kind": "update", "set": setting(note="{entity.number}")},
    "make": {"kind": "create", "set": setting(number="{entity.number}")},
    "run": {"kind": "python", "set": setting()},
}


def make_content(
    nodes: Mapping[str, Any], *edges: str, role: str = "forward", condition: str | None = None
) -> dict[str, Any]:
    """Make an artifact; edges are like 'look>out:approved', and the last has role and condition."""
    listed: dict[str, dict[str, Any]] = {}
    for edge in edges:
        (source, target), on = edge.split(":")[0].split(">"), edge.split(":")[1]
        listed[edge] = {"source": source, "target": target, "on": on, "role": "forward"}
    listed[edges[-1]]["role"] = role
    if condition is not None:
        listed[edges[-1]]["condition"] = read(condition)
    nodes = {"look": LOOK, "end": END, "first": SET, **nodes}
    return {
        "nodes": nodes,
        "edges": listed,
        "actions": ACTIONS,
        "slot_map": {},
        "adjacency": {name: [e for e in listed if listed[e]["source"] == name] for name in nodes},
        "reverse_adjacency": {name: [e for e in listed if listed[e]["target"] == name] for name in nodes},
    }


def find(nodes: Mapping[str, Any], *edges: str, role: str = "forward", condition: str | None = None) -> Any:
    """Return what `look` pins."""
    return list_live_variables(make_content(nodes, *edges, role=role, condition=condition))["look"]


@pytest.mark.parametrize(
    ("node", "is_pinned"),
    [
        (call("{context.x}"), True),
        (call("{entity.x}"), False),
        (script(y="context.x"), True),
        (action("post"), False),
        (action("run"), True),
        (action("store.set"), True),
    ],
)
def test_what_a_node_reads_is_pinned(node: Mapping[str, Any], is_pinned: bool) -> None:
    found = find({"then": node}, "look>then:approved", "then>end:done")
    assert ("x" in found) == is_pinned


def test_all_variables_are_pinned_where_they_are_read_as_a_whole() -> None:
    assert find({"then": script(y="context")}, "look>then:approved", "then>end:done") == {"x", "y"}


def test_a_name_that_no_node_sets_is_not_pinned() -> None:
    assert find({"then": call("{context.z}")}, "look>then:approved", "then>end:delivered") == frozenset()


def test_a_condition_of_an_edge_reads() -> None:
    assert find({}, "look>end:approved", condition="context.x == 1") == {"x"}


def test_what_is_set_before_it_is_read_is_not_pinned() -> None:
    nodes = {"again": SET, "then": call("{context.x}")}
    edges = ("look>again:approved", "again>then:done", "then>end:delivered")
    assert find(nodes, *edges) == frozenset()


def test_a_node_that_failed_has_set_nothing() -> None:
    nodes = {"ask": call("", "x"), "then": call("{context.x}")}
    edges = ("look>ask:approved", "ask>then:delivered")
    assert find(nodes, *edges) == frozenset()
    assert find(nodes, *edges, "ask>then:error") == {"x"}


def test_one_way_that_does_not_set_it_is_enough() -> None:
    nodes = {"choice": {"type": "condition", "config": {}}, "again": SET, "then": call("{context.x}")}
    edges = ("look>choice:approved", "choice>again:done", "again>then:done", "choice>then:done")
    assert find(nodes, *edges) == {"x"}


def test_a_way_back_reads_nothing() -> None:
    nodes = {"then": call("{context.x}")}
    assert find(nodes, "then>look:delivered", "look>then:approved", role="return") == frozenset()
    assert find(nodes, "then>look:delivered", "look>then:approved") == {"x"}


def test_only_what_was_approved_is_used() -> None:
    nodes = {"then": call("{context.x}")}
    assert find(nodes, "look>end:approved", "look>then:rejected") == frozenset()


def test_a_rejection_out_of_the_slot_passes_no_gate() -> None:
    """A second approval that rejects leads out of the slot, and its gate takes the document back."""
    nodes = {"more": LOOK, "again": SET, "out": OUT, "then": call("{context.x}")}
    way = ("look>more:approved", "more>again:approved", "again>out:done", "out>then:done")
    assert find(nodes, *way, "more>out:rejected") == frozenset()
    assert find(nodes, *way, "more>then:rejected") == {"x"}


def test_until_people_are_asked_ends_at_an_approval() -> None:
    nodes = {
        "gate": GATE,
        "more": LOOK,
        "then": call("{context.x}"),
        "small": call("{context.y}"),
        "set": script(y="1"),
    }
    content = make_content(
        nodes, "gate>more:passed", "more>then:approved", "gate>small:passed", "gate>then:refused"
    )
    assert list_unasked_variables(content) == {"gate": {"y"}}


@pytest.mark.parametrize(
    ("node", "on", "expected"),
    [
        (call("{context.x}"), "delivered", {"x"}),
        (script(y="context.z"), "done", {"x", "z"}),
        (script(x="1"), "done", set()),
        (call("", "x"), "delivered", set()),
        (call("", "x"), "error", {"x"}),
        (action("run"), "done", {"x", "*"}),
        (action("post"), "done", {"x"}),
        (LOOK, "approved", set()),
        (LOOK, "rejected", {"x"}),
    ],
)
def test_what_a_node_and_its_edges_read(node: Mapping[str, Any], on: str, expected: set[str]) -> None:
    node = {"logic": {}, **node}
    content = make_content({"then": node}, f"then>end:{on}", condition="context.x == 1")
    assert list_variables_read(content)["then"] == expected


def fields(slots: Mapping[str, str], nodes: Mapping[str, Any], *edges: str) -> Mapping[str, Any]:
    return list_fields_of_variables(
        {**make_content(nodes, *(edges or ("look>end:approved",))), "slot_map": slots}
    )


def test_a_variable_holds_for_all_that_its_slot_reads() -> None:
    """A condition beside the script decides as much as the script."""
    choice = {"type": "condition", "config": {}}
    content = make_content({"choice": choice}, "choice>first:done", condition="entity.kind == 'big'")
    assert list_fields_of_variables({**content, "slot_map": {}}) == {"x": {"amount"}}
    assert list_entries_of_variables({**content, "slot_map": {}}) == {}
    in_slot = {**content, "slot_map": {"choice": "s", "first": "s"}}
    assert list_fields_of_variables(in_slot) == {"x": {"amount", "kind"}}
    assert list(list_entries_of_variables(in_slot)) == ["x"]


def test_the_gates_beside_a_slot_count() -> None:
    gate = {**GATE, "logic": {"/condition": {"expression": read("entity.limit > 1")["tree"]}}}
    slots = {"first": "s", "in": "s", "out": "s"}
    ends = {"in": {"type": "slot_in", "config": {}}, "out": OUT}
    before = fields(slots, {**ends, "gate": gate}, "gate>in:passed", "in>first:done", "first>out:done")
    behind = fields(slots, {**ends, "gate": gate}, "in>first:done", "first>out:done", "out>gate:done")
    assert before == behind == {"x": {"amount", "limit"}}
    assert fields(slots, {"gate": gate}, "gate>end:passed") == {"x": {"amount"}}


def test_what_another_variable_was_worked_out_from_counts() -> None:
    nodes = {"then": script(y="context.x"), "other": script(z="context"), "loose": script(w="context.v")}
    found = fields({}, nodes)
    assert (found["y"], found["z"], found["w"]) == ({"amount"}, {"amount"}, frozenset())


@pytest.mark.parametrize(
    ("beside", "expected"),
    [
        ({"look": LOOK}, {"*"}),
        ({"rule": {"type": "rule", "config": {}}}, {"*"}),
        ({"run": action("run")}, {"*"}),
        ({"unknown": action("store.set")}, {"*"}),
        ({"whole": script(y="entity")}, {"*"}),
        ({"post": action("post")}, {"amount", "number"}),
        ({"make": action("make")}, {"amount", "number"}),
        ({"post": {**action("post"), "config": {"action": "post", "save_as": "y"}}}, {"*"}),
        ({"make": {**action("make"), "config": {"action": "make", "save_as": "y"}}}, {"amount", "number"}),
        ({"ask": call("{entity.name}", "y")}, {"amount", "name"}),
    ],
)
def test_what_stands_beside_a_script_in_its_slot(beside: Mapping[str, Any], expected: set[str]) -> None:
    assert fields({"first": "s", **dict.fromkeys(beside, "s")}, beside)["x"] == expected
