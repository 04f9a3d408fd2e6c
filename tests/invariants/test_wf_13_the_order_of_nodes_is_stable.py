"""WF-13: nodes are ordered topologically, and among equals the smaller id comes first.

`tests/unit/workflow/test_determinism.py` checks the rule itself on random workflows.
"""

from itertools import permutations

import pytest

from signet.core.compiler.graph import Edge, Node, make_graph
from signet.core.compiler.soundness import sort_topologically
from tests.unit.workflow.valid_workflow import PATCH, compile_patch


def order_of(nodes: str, edges: str, returns: str = "") -> str:
    """Return the order of nodes named by single letters, with edges such as `ab`."""
    drawn = [Edge(f"{edge}#{index}", edge[0], edge[1], "done") for index, edge in enumerate(edges.split())]
    drawn += [Edge(f"{edge}#back", edge[0], edge[1], "done", role="return") for edge in returns.split()]
    order, circles = sort_topologically(make_graph([Node(node, "condition", {}) for node in nodes], drawn))
    assert circles == ()
    return "".join(order)


# Edges, and the only right order of the nodes a to e.
GRAPHS = {
    "": "abcde",
    "ea": "bcdea",
    "ed dc cb ba": "edcba",
    "ab ac bd cd": "abcde",
    "db dc": "adbce",
    "eb ec ba ca": "debca",
    "ae be": "abcde",
    "ca": "bcade",  # a waits for c, then precedes d
}


@pytest.mark.parametrize("edges", GRAPHS)
def test_wf_13_of_equal_nodes_the_smaller_id_comes_first(edges: str) -> None:
    assert order_of("abcde", edges) == GRAPHS[edges]


@pytest.mark.parametrize("edges", GRAPHS)
def test_wf_13_the_order_does_not_depend_on_the_order_of_the_input(edges: str) -> None:
    orders = {
        order_of("".join(nodes), " ".join(reversed(edges.split()) if backwards else edges.split()))
        for nodes in permutations("abcde")
        for backwards in (False, True)
    }
    assert orders == {GRAPHS[edges]}


def test_wf_13_an_edge_back_to_a_state_orders_nothing() -> None:
    assert order_of("abc", "ab bc", returns="ca") == "abc"
    assert order_of("abc", "", returns="ca cb") == "abc"


def test_wf_13_a_compiled_workflow_has_that_order() -> None:
    artifact = compile_patch(PATCH).artifact
    assert artifact is not None
    content = artifact.content
    onward = [edge for edge in content["edges"].values() if edge["role"] != "return"]
    waits_for = {
        node: {edge["source"] for edge in onward if edge["target"] == node} for node in content["nodes"]
    }
    placed: list[str] = []
    for node in content["topological_order"]:
        ready = [name for name, before in waits_for.items() if name not in placed and before <= set(placed)]
        assert node == min(ready)
        placed.append(node)
    assert sorted(placed) == sorted(content["nodes"])
