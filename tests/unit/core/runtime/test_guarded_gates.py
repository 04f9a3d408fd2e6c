"""Gates that no way leads to without an approval, found in small artifacts."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from signet.core.runtime.guarded_gates import list_guarded_gates

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
