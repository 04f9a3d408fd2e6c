"""WF-08: an envelope that is not its contract's does not compile.

A finding on another version says how to move to it.
"""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest

from signet.core.compiler.compiler import compile_effective
from signet.core.compiler.envelope import Envelope
from signet.core.compiler.graph import Edge, Graph, Node, make_graph
from signet.core.compiler.soundness import check_integrity, sort_topologically
from signet.core.contracts.contract import EditWindow
from tests.support.core.valid_workflow import CONTRACT, PATCH, compile_patch, read_envelope

GATE = "sys:gate:approve"
PASSED = "sys:edge:gate:approve>state:active#passed"


def with_graph(envelope: Envelope, nodes: dict[str, Node], edges: dict[str, Edge]) -> Envelope:
    return replace(envelope, graph=make_graph(nodes.values(), edges.values()))


def change_node(**changes: Any) -> Callable[[Envelope], Envelope]:
    def change(envelope: Envelope) -> Envelope:
        nodes = {**envelope.graph.nodes}
        nodes[GATE] = replace(nodes[GATE], **changes)
        return with_graph(envelope, nodes, {**envelope.graph.edges})

    return change


def change_edge(**changes: Any) -> Callable[[Envelope], Envelope]:
    def change(envelope: Envelope) -> Envelope:
        edges = {**envelope.graph.edges}
        edges[PASSED] = replace(edges[PASSED], **changes)
        return with_graph(envelope, {**envelope.graph.nodes}, edges)

    return change


def change_slot(**changes: Any) -> Callable[[Envelope], Envelope]:
    def change(envelope: Envelope) -> Envelope:
        slots = {**envelope.slots}
        slots["approval"] = replace(slots["approval"], **changes)
        return replace(envelope, slots=slots)

    return change


def drop_node(envelope: Envelope) -> Envelope:
    nodes = {name: node for name, node in envelope.graph.nodes.items() if name != GATE}
    return with_graph(envelope, nodes, {**envelope.graph.edges})


def drop_edge(envelope: Envelope) -> Envelope:
    edges = {name: edge for name, edge in envelope.graph.edges.items() if name != PASSED}
    return with_graph(envelope, {**envelope.graph.nodes}, edges)


def add_node(envelope: Envelope) -> Envelope:
    return with_graph(
        envelope, {**envelope.graph.nodes, "x": Node("x", "condition", {})}, {**envelope.graph.edges}
    )


def add_edge(envelope: Envelope) -> Envelope:
    extra = Edge("sys:edge:round", "sys:start", "sys:end", "created")
    return with_graph(envelope, {**envelope.graph.nodes}, {**envelope.graph.edges, extra.id: extra})


ALTERATIONS: dict[str, tuple[Callable[[Envelope], Envelope], str, str]] = {
    "a node removed": (drop_node, "SYSTEM_NODE_ALTERED", GATE),
    "a node added": (add_node, "SYSTEM_NODE_ALTERED", "x"),
    "another type": (change_node(type="condition"), "SYSTEM_NODE_ALTERED", GATE),
    "another configuration": (change_node(config={"to": "draft"}), "SYSTEM_NODE_ALTERED", GATE),
    "another window": (change_node(window="editable"), "SYSTEM_NODE_ALTERED", GATE),
    "an edge removed": (drop_edge, "SYSTEM_EDGE_ALTERED", PASSED),
    "an edge added": (add_edge, "SYSTEM_EDGE_ALTERED", "sys:edge:round"),
    "another target": (change_edge(target="sys:end"), "SYSTEM_EDGE_ALTERED", PASSED),
    "another role": (change_edge(role="return"), "SYSTEM_EDGE_ALTERED", PASSED),
    "another outcome": (change_edge(on="rejected"), "SYSTEM_EDGE_ALTERED", PASSED),
    "a looser slot": (change_slot(window=EditWindow.EDITABLE), "SYSTEM_SLOT_ALTERED", "approval"),
    "a slot elsewhere": (change_slot(exit="sys:end"), "SYSTEM_SLOT_ALTERED", "approval"),
    "a slot over more": (change_slot(replaced=(PASSED,)), "SYSTEM_SLOT_ALTERED", "approval"),
    "no slots": (lambda envelope: replace(envelope, slots={}), "SYSTEM_SLOT_ALTERED", "checks"),
}


@pytest.mark.parametrize("name", ALTERATIONS)
def test_wf_08_an_altered_envelope_does_not_compile(name: str) -> None:
    alter, code, place = ALTERATIONS[name]
    for compilation in (
        compile_effective(alter(read_envelope())),
        compile_patch(PATCH, alter(read_envelope())),
    ):
        assert compilation.artifact is None
        assert (code, place) in {(finding.code, finding.place) for finding in compilation.findings}


def check(change: Callable[[Graph], Graph]) -> set[tuple[str, str]]:
    """Return the findings of the check on a merged graph, as if the merge had gone wrong."""
    envelope = read_envelope().graph
    merged = change(envelope)
    order, _ = sort_topologically(merged)
    return {(finding.code, finding.place) for finding in check_integrity(envelope, merged, order)}


def test_wf_08_a_merge_that_loses_alters_or_reorders_system_nodes_is_found_out() -> None:
    def lose(graph: Graph) -> Graph:
        return make_graph(
            [n for n in graph.nodes.values() if n.id != GATE],
            [e for e in graph.edges.values() if GATE not in (e.source, e.target)],
        )

    def loosen(graph: Graph) -> Graph:
        nodes = [replace(n, window="") if n.id == GATE else n for n in graph.nodes.values()]
        return make_graph(nodes, graph.edges.values())

    def turn(graph: Graph) -> Graph:
        edges = [
            replace(e, source=e.target, target=e.source) if e.id == PASSED else e
            for e in graph.edges.values()
        ]
        edges = [e for e in edges if e.source not in (GATE,) and e.on != "ended"]
        return make_graph(graph.nodes.values(), edges)

    def act(graph: Graph) -> Graph:
        action = Node("usr:approval:act", "action", {}, "approval", "locked")
        edge = Edge("usr:approval:edge:act", GATE, action.id, "passed")
        return make_graph([*graph.nodes.values(), action], [*graph.edges.values(), edge])

    assert check(lambda graph: graph) == set()
    assert check(lose) == {("SYSTEM_NODE_ALTERED", GATE)}
    assert check(loosen) == {("SYSTEM_NODE_ALTERED", GATE), ("WINDOW_UNASSIGNED", GATE)}
    assert ("SYSTEM_ORDER_ALTERED", "sys:state:active") in check(turn)
    assert check(act) == {("POLICY_GATE_MISSING", "usr:approval:act")}


def propose(change: Callable[[dict[str, Any]], object]) -> str:
    patch = deepcopy(PATCH)
    patch["base"]["envelope_version"] = 2
    change(patch)
    (finding,) = compile_patch(patch).findings
    assert finding.code == "ENVELOPE_VERSION_MISMATCH"
    return finding.remedy


def test_a_rebase_is_proposed() -> None:
    fits = "Set envelope_version to 3; the patch compiles there as it is."
    assert propose(lambda patch: None) == fits
    fast = PATCH["slots"]["approval"]["edges"][1]
    assert fast["id"] == "fast"
    uses_settings = {**fast, "condition": "org.trusted contains entity.vendor"}
    assert propose(lambda patch: patch["slots"]["approval"]["edges"].__setitem__(1, uses_settings)) == fits
    lost = propose(lambda patch: patch["slots"].update(gone=patch["slots"].pop("posting")))
    assert "move what fills gone: the new envelope has only approval, checks, posting" in lost
    broken = propose(lambda patch: patch["slots"]["approval"]["edges"].pop(2))
    assert broken.startswith("Set envelope_version to 3; then ") and "remain, the first: " in broken


def test_amend_only_needs_an_amendment() -> None:
    contract = deepcopy(CONTRACT)
    del contract["amendment"]
    contract["states"]["submitted"]["edit"] = "editable"
    patch = deepcopy(PATCH)
    patch["slots"]["approval"]["edit"] = "amend_only"
    (finding,) = compile_patch(patch, read_envelope(contract)).findings
    assert (finding.code, finding.place) == ("WINDOW_NEEDS_AMENDMENT", "approval")
