"""WF-08: every effective workflow contains the whole envelope, unchanged and in its order.

`tests/unit/workflow/test_altered_envelope.py` alters every part of nodes, edges and slots;
`test_determinism.py` looks for the envelope in random workflows.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from signet.core.compiler.compiler import compile_effective
from signet.core.compiler.graph import Edge, Graph, Node, make_graph
from signet.core.compiler.merge import Merged, merge
from signet.core.compiler.soundness import check_integrity, sort_topologically
from tests.unit.workflow.valid_workflow import PATCH, compile_patch, read_envelope

ENVELOPE = read_envelope()
NODES = sorted(ENVELOPE.graph.nodes)
OTHER = {"editable": "locked", "amend_only": "editable", "locked": "editable"}
# Only onward edges have an order to keep; the one back to draft has none.
ONWARD = sorted(edge.id for edge in ENVELOPE.graph.edges.values() if edge.role != "return")


def errors_with(nodes: Iterable[Node], edges: Iterable[Edge]) -> set[tuple[str, str]]:
    """Return the compiler's errors for an envelope with this graph, the same with a patch and without."""
    altered = replace(ENVELOPE, graph=make_graph(nodes, edges))
    bare, patched = compile_effective(altered), compile_patch(PATCH, altered)
    assert bare.artifact is None and patched.artifact is None
    found = {(finding.code, finding.place) for finding in bare.findings}
    assert found == {(finding.code, finding.place) for finding in patched.findings}
    return found


def errors_in(merged: Graph) -> set[tuple[str, str]]:
    """Return the errors of the last check for a merged graph, as if the merge had failed."""
    order, _ = sort_topologically(merged)
    return {(finding.code, finding.place) for finding in check_integrity(ENVELOPE.graph, merged, order)}


def without(node_id: str) -> tuple[list[Node], list[Edge]]:
    nodes = [node for node in ENVELOPE.graph.nodes.values() if node.id != node_id]
    edges = [edge for edge in ENVELOPE.graph.edges.values() if node_id not in (edge.source, edge.target)]
    return nodes, edges


def test_wf_08_the_envelope_is_whole_and_in_order_in_what_is_compiled() -> None:
    for compilation in (compile_effective(ENVELOPE), compile_patch(PATCH)):
        assert compilation.artifact is not None
        content = compilation.artifact.content
        place = {node: index for index, node in enumerate(content["topological_order"])}
        for node in ENVELOPE.graph.nodes.values():
            kept = content["nodes"][node.id]
            assert (kept["type"], kept["config"]) == (node.type, dict(node.config))
            assert content["edit_windows"][node.id] == node.window
        for edge_id in ONWARD:
            edge = ENVELOPE.graph.edges[edge_id]
            assert place[edge.source] < place[edge.target]
        assert content["system_gate_integrity"] == {"required": NODES, "present": NODES, "valid": True}


def test_wf_08_every_action_stands_behind_its_policy_gate() -> None:
    artifact = compile_patch(PATCH).artifact
    assert artifact is not None
    content = artifact.content
    actions = [node for node, compiled in content["nodes"].items() if compiled["type"] == "action"]
    assert len(actions) == 2
    for action in actions:
        sources = {content["edges"][edge]["source"] for edge in content["reverse_adjacency"][action]}
        assert sources == {f"sys:policy:{action}"}


@pytest.mark.parametrize("node_id", NODES)
def test_wf_08_a_missing_system_node_does_not_compile(node_id: str) -> None:
    nodes, edges = without(node_id)
    assert ("SYSTEM_NODE_ALTERED", node_id) in errors_with(nodes, edges)
    assert ("SYSTEM_NODE_ALTERED", node_id) in errors_in(make_graph(nodes, edges))


@pytest.mark.parametrize(
    "change", [{"type": "condition"}, {"config": {"changed": True}}, {"window": "other"}], ids=str
)
@pytest.mark.parametrize("node_id", NODES)
def test_wf_08_an_altered_system_node_does_not_compile(node_id: str, change: dict[str, Any]) -> None:
    nodes = [
        replace(node, **change) if node.id == node_id else node for node in ENVELOPE.graph.nodes.values()
    ]
    edges = ENVELOPE.graph.edges.values()
    assert errors_with(nodes, edges) == {("SYSTEM_NODE_ALTERED", node_id)}
    assert ("SYSTEM_NODE_ALTERED", node_id) in errors_in(make_graph(nodes, edges))


@pytest.mark.parametrize("edge_id", sorted(ENVELOPE.graph.edges))
def test_wf_08_a_missing_system_edge_does_not_compile(edge_id: str) -> None:
    edges = [edge for edge in ENVELOPE.graph.edges.values() if edge.id != edge_id]
    assert errors_with(ENVELOPE.graph.nodes.values(), edges) == {("SYSTEM_EDGE_ALTERED", edge_id)}


@pytest.mark.parametrize("edge_id", ONWARD)
def test_wf_08_reordered_system_nodes_do_not_compile(edge_id: str) -> None:
    turned = [
        replace(edge, source=edge.target, target=edge.source) if edge.id == edge_id else edge
        for edge in ENVELOPE.graph.edges.values()
    ]
    assert errors_with(ENVELOPE.graph.nodes.values(), turned) == {("SYSTEM_EDGE_ALTERED", edge_id)}


@pytest.mark.parametrize("edge_id", ONWARD)
def test_wf_08_a_merge_that_reorders_system_nodes_is_found_out(edge_id: str) -> None:
    """Exchange the two nodes of the edge in the order."""
    edge = ENVELOPE.graph.edges[edge_id]
    order = list(sort_topologically(ENVELOPE.graph)[0])
    first, second = order.index(edge.source), order.index(edge.target)
    order[first], order[second] = edge.target, edge.source
    found = check_integrity(ENVELOPE.graph, ENVELOPE.graph, order)
    assert ("SYSTEM_ORDER_ALTERED", edge.target) in {(finding.code, finding.place) for finding in found}


@pytest.mark.parametrize("node_id", NODES)
def test_wf_08_the_compiler_looks_at_what_the_merge_made(
    node_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Refuse to compile if the merge has altered a system node."""

    def alter(base: Graph, slots: Any, patches: Any) -> Merged:
        merged = merge(base, slots, patches)
        nodes = [
            replace(node, window=OTHER[node.window]) if node.id == node_id else node for node in merged.nodes
        ]
        return replace(merged, nodes=tuple(nodes))

    monkeypatch.setattr("signet.core.compiler.compiler.merge", alter)
    compilation = compile_patch(PATCH)
    assert compilation.artifact is None
    assert {(f.code, f.place) for f in compilation.findings} == {("SYSTEM_NODE_ALTERED", node_id)}
