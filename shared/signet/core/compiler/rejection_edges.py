"""Where rejections go: to the join of the block they happen in, from there on, and to the gate at last."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from signet.core.compiler.graph import Edge, Graph, make_graph
from signet.core.compiler.merge import REJECTING, REJECTION_EDGE, rejection_edge
from signet.core.compiler.parallel_blocks import Blocks
from signet.core.compiler.slot_graph import slot_out
from signet.core.validation.finding import Finding, make_finding


def add_rejection_edges(graph: Graph, blocks: Blocks) -> tuple[Graph, tuple[Finding, ...]]:
    """The graph with the ways that rejections take where nobody drew one, and the gates that take none."""
    edges = [_redirect(edge, blocks) for edge in graph.edges.values()]
    graph = make_graph(graph.nodes.values(), edges)
    taken = _follow(graph, blocks)
    graph = make_graph(
        graph.nodes.values(), [*edges, *(e for e in taken.values() if e.id not in graph.edges)]
    )
    return graph, tuple(_check_taken(graph, taken))


def _redirect(edge: Edge, blocks: Blocks) -> Edge:
    join = blocks.find_innermost_join(edge.source) if edge.id.startswith(REJECTION_EDGE) else None
    return edge if join is None else replace(edge, target=join)


def _follow(graph: Graph, blocks: Blocks) -> dict[str, Edge]:
    """Every edge that a rejected token may take, with those that are missing behind joins."""
    taken: dict[str, Edge] = {}
    waiting = [edge for edge in graph.edges.values() if edge.on in REJECTING and _rejects(graph, edge)]
    while waiting:
        edge = waiting.pop()
        if edge.id in taken:
            continue
        taken[edge.id] = edge
        target = graph.nodes[edge.target]
        if target.type == "parallel_join":
            edges = [edge for edge in graph.outgoing[target.id] if edge.on == "rejected"]
            waiting += edges or [_lead_on(graph, blocks, target.id)]
        elif target.type not in ("lifecycle_gate", "state"):
            waiting += [edge for edge in graph.outgoing[target.id] if edge.on != "approved"]
    return taken


def _rejects(graph: Graph, edge: Edge) -> bool:
    """A node says no here; joins and gates only hand on what was said."""
    return graph.nodes[edge.source].type not in ("parallel_join", "lifecycle_gate")


def _lead_on(graph: Graph, blocks: Blocks, join: str) -> Edge:
    """A rejected block passes the rejection on: to the join around it, or out of the slot."""
    slot = graph.nodes[join].provenance
    target = blocks.find_innermost_join(join) or slot_out(slot)
    return Edge(rejection_edge(join, "rejected"), join, target, "rejected", role="exit", provenance=slot)


def _check_taken(graph: Graph, taken: Mapping[str, Edge]) -> Iterator[Finding]:
    for edge in taken.values():
        end = graph.nodes[edge.target]
        if end.type != "slot_out":
            continue
        behind = graph.nodes[graph.outgoing[end.id][0].target]
        if any(edge.on == "rejected" for edge in graph.outgoing[behind.id]):
            continue
        if edge.id.startswith(REJECTION_EDGE):
            yield make_finding("REJECTION_UNHANDLED", edge.source, slot=end.provenance)
        elif behind.type == "lifecycle_gate":
            yield make_finding("REJECTION_NOT_TAKEN", edge.id, gate=behind.id)
