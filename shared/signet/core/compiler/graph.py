"""Nodes and edges as the compiler works with them, of the envelope and of authors alike."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

ENVELOPE = "envelope"


@dataclass(frozen=True)
class Node:
    id: str
    type: str
    config: Mapping[str, Any]
    # The slot that contributed it, or `envelope`.
    provenance: str = ENVELOPE
    window: str = "editable"
    label: str = ""


@dataclass(frozen=True)
class Edge:
    """A connection of two nodes for one outcome.

    The role is forward, return (back to a state), interrupt, exit (leaves a block early) or error.
    """

    id: str
    source: str
    target: str
    on: str
    role: str = "forward"
    priority: int = 100
    condition: str | None = None
    # The transition that this edge out of a state leads to.
    transition: str | None = None
    provenance: str = ENVELOPE
    label: str = ""


@dataclass(frozen=True)
class Graph:
    nodes: Mapping[str, Node]
    edges: Mapping[str, Edge]
    outgoing: Mapping[str, tuple[Edge, ...]] = field(default_factory=dict)
    incoming: Mapping[str, tuple[Edge, ...]] = field(default_factory=dict)


def make_graph(nodes: Iterable[Node], edges: Iterable[Edge]) -> Graph:
    """Return the graph sorted by id, each node's edges by (priority, id): one order for any input (WF-12)."""
    node_map = {node.id: node for node in sorted(nodes, key=lambda node: node.id)}
    edge_map = {edge.id: edge for edge in sorted(edges, key=lambda edge: edge.id)}
    outgoing: dict[str, list[Edge]] = {node_id: [] for node_id in node_map}
    incoming: dict[str, list[Edge]] = {node_id: [] for node_id in node_map}
    for edge in sorted(edge_map.values(), key=lambda edge: (edge.priority, edge.id)):
        outgoing.setdefault(edge.source, []).append(edge)
        incoming.setdefault(edge.target, []).append(edge)
    return Graph(
        node_map,
        edge_map,
        {node_id: tuple(edges) for node_id, edges in outgoing.items()},
        {node_id: tuple(edges) for node_id, edges in incoming.items()},
    )
