"""The edges of rejections that the author drew none for.

A rejection goes to the join of the innermost block around its node, or out of its slot to the gate behind it.
A join that it reaches passes it on by the same rule. The token stays rejected until a node approves it, a
gate takes the rejection or the token comes to a state; `core/runtime/tokens.py` sees to that.

The merge draws the edges of nodes, `add_rejection_edges` leads them to joins and on. A person may cancel a
token at a node without such an edge: `Workflow.rejection_edge_of` makes it then, by the same function.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from signet.core.compiler.graph import Edge, Graph, Node, make_graph
from signet.core.compiler.node_types import NODE_TYPES
from signet.core.compiler.slot_graph import slot_out
from signet.core.validation.finding import Finding, make_finding

# Outcomes that, without an edge of their own, send the token to the gate as rejected.
REJECTING = ("rejected", "expired")
# The ids of edges that the compiler draws for rejections begin with this.
REJECTION_EDGE = "sys:edge:rejection:"
# The join of the innermost block around a node; None outside of blocks.
FindJoin = Callable[[str], str | None]


def rejection_edge_of(node_id: str, outcome: str, slot: str, join: str | None) -> Edge:
    """Return the edge of a rejection: to the join of the block around the node, else out of the slot."""
    edge_id, target = f"{REJECTION_EDGE}{node_id}#{outcome}", join or slot_out(slot)
    return Edge(edge_id, node_id, target, outcome, role="exit", provenance=slot)


def make_rejection_edges(slot: str, nodes: Iterable[Node], edges: Iterable[Edge]) -> Iterator[Edge]:
    """Yield an edge for each rejection in a slot that has none, as if there were no parallel blocks."""
    drawn = {(edge.source, edge.on) for edge in edges}
    for node in sorted(nodes, key=lambda node: node.id):
        for outcome in _list_rejections(node):
            if (node.id, outcome) not in drawn:
                yield rejection_edge_of(node.id, outcome, slot, join=None)


def add_rejection_edges(graph: Graph, find_join: FindJoin) -> tuple[Graph, tuple[Finding, ...]]:
    """Return the graph with rejections led to joins and on from there, and those that no gate takes."""
    edges = [_redirect(edge, find_join) for edge in graph.edges.values()]
    graph = make_graph(graph.nodes.values(), edges)
    taken = _follow(graph, find_join)
    graph = make_graph(
        graph.nodes.values(), [*edges, *(e for e in taken.values() if e.id not in graph.edges)]
    )
    return graph, tuple(_check_taken(graph, taken))


def _list_rejections(node: Node) -> Sequence[str]:
    """Return the rejecting outcomes that the node can have; a join has them only from its branches."""
    if node.type not in NODE_TYPES or node.type == "parallel_join":
        return ()
    outcomes = [outcome for outcome in NODE_TYPES[node.type].outcomes if outcome in REJECTING]
    if node.type == "approval" and node.config.get("expire_after") is None:
        outcomes = [outcome for outcome in outcomes if outcome != "expired"]
    return outcomes


def _redirect(edge: Edge, find_join: FindJoin) -> Edge:
    if not edge.id.startswith(REJECTION_EDGE):
        return edge
    return rejection_edge_of(edge.source, edge.on, edge.provenance, find_join(edge.source))


def _follow(graph: Graph, find_join: FindJoin) -> dict[str, Edge]:
    """Return every edge that a rejected token may take, also those that are missing behind joins."""
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
            slot = target.provenance
            waiting += edges or [rejection_edge_of(target.id, "rejected", slot, find_join(target.id))]
        elif target.type not in ("lifecycle_gate", "state"):
            waiting += [edge for edge in graph.outgoing[target.id] if edge.on != "approved"]
    return taken


def _rejects(graph: Graph, edge: Edge) -> bool:
    """Return whether the edge's node rejects by itself; joins and gates only hand a rejection on."""
    return graph.nodes[edge.source].type not in ("parallel_join", "lifecycle_gate")


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
