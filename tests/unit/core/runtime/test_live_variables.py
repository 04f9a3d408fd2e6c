"""The variables that are read behind an approval before they are set again, in small artifacts."""

from collections.abc import Mapping
from typing import Any

import pytest

from signet.core.contracts.expression_scope import make_scope
from signet.core.expressions import expression_to_json, template_to_json
from signet.core.expressions.syntax import parse_expression
from signet.core.expressions.syntax_tree import Expression
from signet.core.expressions.template import parse_template
from signet.core.expressions.types import ANY
from signet.core.runtime.live_variables import list_live_variables


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


def find(nodes: Mapping[str, Any], *edges: str, role: str = "forward", condition: str | None = None) -> Any:
    """Return what `look` pins; edges are like 'look>out:approved', and the last has role and condition."""
    listed: dict[str, dict[str, Any]] = {}
    for edge in edges:
        (source, target), on = edge.split(":")[0].split(">"), edge.split(":")[1]
        listed[edge] = {"source": source, "target": target, "on": on, "role": "forward"}
    listed[edges[-1]]["role"] = role
    if condition is not None:
        listed[edges[-1]]["condition"] = read(condition)
    nodes = {"look": LOOK, "end": END, "first": SET, **nodes}
    content = {
        "nodes": nodes,
        "edges": listed,
        "actions": {"post": {"kind": "update"}, "run": {"kind": "python"}},
        "adjacency": {name: [e for e in listed if listed[e]["source"] == name] for name in nodes},
        "reverse_adjacency": {name: [e for e in listed if listed[e]["target"] == name] for name in nodes},
    }
    return list_live_variables(content)["look"]


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
