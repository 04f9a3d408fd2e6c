"""Gates that no way leads to without an approval, found in small artifacts."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from signet.core.expressions import expression_to_json
from signet.core.expressions.syntax_tree import Name
from signet.core.runtime.graph.guarded_gates import (
    list_error_edges_within,
    list_guarded_gates,
    list_states_behind,
    list_states_let_past,
    list_windows_behind,
)
from tests.support.core.small_workflows import compile_slot

KINDS = {
    "s": "state",
    "g": "lifecycle_gate",
    "a": "approval",
    "b": "approval",
    "c": "condition",
    "d": "condition",
    "split": "parallel_split",
    "join": "parallel_join",
}
Stack = Sequence[tuple[str, int]]


def make(*edges: str, mode: str | None = None, blocks: Mapping[str, Stack] | None = None) -> dict[str, Any]:
    """Make an artifact of edges like 's>a', with a join of this mode."""
    pairs = {edge: tuple(edge.split(">")) for edge in edges}
    nodes = {node for pair in pairs.values() for node in pair}
    return {
        "nodes": {node: {"type": KINDS[node]} for node in nodes},
        "edges": {edge: {"source": source, "target": target} for edge, (source, target) in pairs.items()},
        "adjacency": {
            node: [edge for edge, (source, _) in pairs.items() if source == node] for node in nodes
        },
        "reverse_adjacency": {
            node: [edge for edge, (_, target) in pairs.items() if target == node] for node in nodes
        },
        "joins": {"join": {"split": "split", "mode": mode}} if mode is not None else {},
        "blocks": dict(blocks or {}),
    }


@pytest.mark.parametrize(
    ("edges", "is_guarded"),
    [
        (("s>g",), False),
        (("s>a", "a>g"), True),
        (("s>c", "c>a", "a>g"), True),
        (("s>c", "c>a", "c>d", "a>g", "d>g"), False),
        (("s>c", "c>a", "c>b", "a>g", "b>g"), True),
        # A way that comes back to itself is none.
        (("s>a", "a>c", "c>d", "d>c", "c>g"), True),
        (("c>d", "s>d", "d>c", "c>g"), False),
    ],
)
def test_each_way_counts(edges: Sequence[str], is_guarded: bool) -> None:
    assert list_guarded_gates(make(*edges)) == (frozenset({"g"}) if is_guarded else frozenset())


@pytest.mark.parametrize(("mode", "is_guarded"), [("all", True), ("any", False)])
def test_a_join_waits_for_all_of_its_branches_or_for_any(mode: str, is_guarded: bool) -> None:
    blocks = {"a": (("split", 0),), "c": (("split", 1),)}
    artifact = make("s>split", "split>a", "split>c", "a>join", "c>join", "join>g", mode=mode, blocks=blocks)
    assert (list_guarded_gates(artifact) == frozenset({"g"})) == is_guarded


def test_a_branch_is_free_where_one_of_its_own_ways_is() -> None:
    """The approval of the only branch with one may be left out there."""
    blocks = {"a": (("split", 0),), "d": (("split", 0),), "c": (("split", 1),)}
    edges = ("s>split", "split>d", "d>a", "d>join", "a>join", "split>c", "c>join", "join>g")
    assert list_guarded_gates(make(*edges, mode="all", blocks=blocks)) == frozenset()
    straight = ("s>split", "split>a", "a>join", "split>join", "join>g")
    assert list_guarded_gates(make(*straight, mode="all", blocks=blocks)) == frozenset({"g"})


# --- what stands behind approvals ---

PLACES = {
    "look": "approval",
    "go": "lifecycle_gate",
    "post": "lifecycle_gate",
    "hear": "approval",
    "more": "lifecycle_gate",
    "call": "webhook_out",
    "sys:end": "end",
}
SHUT = {"active", "call"}


def make_way(*edges: str) -> dict[str, Any]:
    """Make an artifact of edges like 'look>go:approved'; names that are not in PLACES are states."""
    listed: dict[str, Mapping[str, str]] = {}
    for edge in ("sys:start>draft:created", *edges):
        (source, target), on = edge.split(">"), edge.split(":")[-1]
        listed[edge] = {"source": source, "target": target.removesuffix(f":{on}"), "on": on}
    names = {edge["source"] for edge in listed.values()} | {edge["target"] for edge in listed.values()}
    kinds = {"sys:start": "start"} | {name: PLACES.get(name, "state") for name in names - {"sys:start"}}
    return {
        "nodes": {name: {"type": kind, "config": {"state": name}} for name, kind in kinds.items()},
        "edges": listed,
        "adjacency": {name: [edge for edge in listed if edge.startswith(f"{name}>")] for name in names},
        "edit_windows": {name: "locked" if name in SHUT else "editable" for name in names},
    }


def list_let_past(
    *edges: str, path: tuple[str, ...] = ("entity", "amount"), deciding: Sequence[str] = ()
) -> Mapping[str, str]:
    """List the states past an approval, where the condition of the gate `post` reads this path."""
    content = make_way(*edges)
    for name, node in content["nodes"].items():
        node["config"]["transition"] = f"by {name}"
    content["nodes"]["post"]["logic"] = {"/condition": {"expression": expression_to_json(Name(path))}}
    return list_states_let_past(content, deciding)


ASKED = ("draft>look:requested", "look>go:approved", "look>draft:rejected", "go>active:passed")
# A way that asks nobody, beside the one that does.
BESIDE = (*ASKED, "draft>post:requested", "post>active:passed")


def test_what_only_an_approval_leads_to_is_behind_it() -> None:
    content = make_way(*ASKED, "active>post:requested", "post>paid:passed")
    assert list_states_behind(content) == {"active", "paid"}
    assert list_windows_behind(content) == {"locked", "editable"}


def test_a_state_that_a_free_way_leads_to_is_not() -> None:
    content = make_way(
        *ASKED, "draft>post:requested", "post>active:passed", "active>call:automatic", "call>paid:done"
    )
    assert list_states_behind(content) == frozenset()


def test_a_way_that_the_definition_lets_through_to_the_gate_counts_as_approved() -> None:
    assert list_states_behind(make_way(*ASKED, "draft>go:automatic")) == {"active"}


@pytest.mark.parametrize(
    ("path", "reads_document"),
    [
        (("entity", "amount"), True),
        (("entity",), True),
        (("context", "small"), True),
        (("entity", "creator"), False),
        (("actor", "roles"), False),
    ],
    ids=lambda value: ".".join(value) if isinstance(value, tuple) else "",
)
def test_a_condition_on_the_document_lets_it_past_what_another_way_asks(
    path: tuple[str, ...], *, reads_document: bool
) -> None:
    found = list_let_past(*BESIDE, path=path)
    assert found == ({"active": "by post"} if reads_document else {})


@pytest.mark.parametrize(
    ("edges", "states"),
    [
        (BESIDE, {"active"}),
        ((*BESIDE, "active>more:requested", "more>paid:passed", "paid>draft:requested"), {"active", "paid"}),
        ((*BESIDE, "active>hear:requested", "hear>more:approved", "more>paid:passed"), {"active"}),
        ((*BESIDE, "active>hear:requested", "hear>paid:rejected"), {"active", "paid"}),
        ((*BESIDE, "post>paid:rejected"), {"active"}),
        # The way that the condition lets it go asks the same people, or the other way asks nobody.
        (("draft>post:requested", "post>sub:passed", "sub>look:requested", "look>go:approved"), set()),
        (("draft>look:requested", "look>post:approved", "post>active:passed"), set()),
        (("draft>post:requested", "post>active:passed", "draft>go:requested"), set()),
    ],
)
def test_the_states_past_an_approval_end_where_people_are_asked(
    edges: Sequence[str], states: set[str]
) -> None:
    assert set(list_let_past(*edges)) == states


def test_a_request_that_decides_is_let_past_like_an_approval() -> None:
    free = ("draft>post:requested", "post>active:passed", "draft>go:requested")
    assert set(list_let_past(*free, deciding=("by go",))) == {"active"}


def test_the_beginning_and_rejections_are_not_behind() -> None:
    content = make_way(*ASKED, "active>post:requested", "post>draft:passed")
    assert list_states_behind(content) == {"active"}
    assert list_windows_behind(content) == {"locked"}


def test_an_approval_behind_a_gate_leads_to_the_next_state() -> None:
    content = make_way(
        "draft>post:requested", "post>look:passed", "look>active:approved", "active>sys:end:ended"
    )
    assert list_states_behind(content) == {"active"}
    assert list_windows_behind(content) == {"locked", "editable"}


def test_without_an_approval_nothing_is_behind() -> None:
    content = make_way("draft>go:requested", "go>active:passed")
    assert list_states_behind(content) == frozenset()
    assert list_windows_behind(content) == frozenset()


SCRIPT: Mapping[str, Any] = {"id": "one", "type": "script", "config": {"set": {"x": "1"}}}
CALL: Mapping[str, Any] = {"id": "one", "type": "webhook_out", "config": {"endpoint": "erp"}}
ASK = {"id": "two", "type": "approval", "config": {"approvers": [{"by": "role", "role": "cfo"}]}}


@pytest.mark.parametrize(
    ("node", "other", "has_edge", "is_listed"),
    [
        (SCRIPT, {**SCRIPT, "id": "two"}, True, True),
        (SCRIPT, {**SCRIPT, "id": "two"}, False, False),
        # Something outside fails there.
        (CALL, {**SCRIPT, "id": "two"}, True, False),
        # Where people are asked, it is held anyway.
        (SCRIPT, ASK, True, False),
    ],
)
def test_edges_for_errors_within(
    node: Mapping[str, Any], other: Mapping[str, Any], has_edge: bool, is_listed: bool
) -> None:
    edges = [{"source": "one", "target": "two"}, {"source": "two", "target": "out"}]
    errors = [{"source": "one", "target": "two", "on": "error"}] if has_edge else []
    artifact = compile_slot("approvals", exit="join", nodes=[node, other], edges=[*edges, *errors])
    listed = list_error_edges_within(artifact.content)
    assert listed == (["usr:approvals:one"] if is_listed else [])
