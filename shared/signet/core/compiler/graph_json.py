"""The compiled graph as the artifact keeps it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from signet.core.compiler.artifact import COMPILER_VERSION
from signet.core.compiler.graph import ENVELOPE, Edge, Graph, Node
from signet.core.compiler.merge import Merged
from signet.core.compiler.node_expressions import NodeLogic
from signet.core.compiler.parallel_blocks import Blocks
from signet.core.expressions import expression_to_json, to_text
from signet.core.expressions.syntax_tree import Expression


@dataclass(frozen=True)
class CheckedGraph:
    """A graph with its order and its parallel blocks."""

    graph: Graph
    order: Sequence[str]
    blocks: Blocks


def make_condition_json(expression: Expression) -> dict[str, Any]:
    return {"text": to_text(expression), "tree": expression_to_json(expression)}


def make_graph_json(
    shape: CheckedGraph,
    merged: Merged,
    expected: Graph,
    logic: Mapping[str, NodeLogic],
    conditions: Mapping[str, Expression],
) -> dict[str, Any]:
    graph, blocks = shape.graph, shape.blocks
    required = sorted(expected.nodes)
    return {
        "compiler_version": COMPILER_VERSION,
        "nodes": {node.id: _make_node_json(node, logic[node.id]) for node in graph.nodes.values()},
        "edges": {edge.id: _make_edge_json(edge, conditions.get(edge.id)) for edge in graph.edges.values()},
        "adjacency": {node_id: [edge.id for edge in edges] for node_id, edges in graph.outgoing.items()},
        "reverse_adjacency": {
            node_id: [edge.id for edge in edges] for node_id, edges in graph.incoming.items()
        },
        "topological_order": list(shape.order),
        "joins": {
            join: {
                "split": split,
                "mode": graph.nodes[join].config["mode"],
                "required_token_count": blocks.branch_count[split],
            }
            for join, split in blocks.split_of.items()
        },
        "blocks": {
            node_id: [[split, branch] for split, branch in stack]
            for node_id, stack in blocks.stacks.items()
            if stack
        },
        "edit_windows": {node.id: node.window for node in graph.nodes.values()},
        "stable_region_nodes": [
            node.id for node in graph.nodes.values() if node.provenance in merged.stable_slots
        ],
        "slot_map": {
            node.id: node.provenance for node in graph.nodes.values() if node.provenance != ENVELOPE
        },
        "system_gate_integrity": {
            "required": required,
            "present": [node_id for node_id in required if node_id in graph.nodes],
            "valid": all(node_id in graph.nodes for node_id in required),
        },
    }


def _make_node_json(node: Node, logic: NodeLogic) -> dict[str, Any]:
    described: dict[str, Any] = {"type": node.type, "config": dict(node.config)}
    if logic.trees:
        described["logic"] = logic.trees
    if node.label:
        described["label"] = node.label
    return described


def _make_edge_json(edge: Edge, condition: Expression | None) -> dict[str, Any]:
    described: dict[str, Any] = {
        "source": edge.source,
        "target": edge.target,
        "on": edge.on,
        "role": edge.role,
        "priority": edge.priority,
        "provenance": edge.provenance,
    }
    if condition is not None:
        described["condition"] = make_condition_json(condition)
    if edge.transition is not None:
        described["transition"] = edge.transition
    if edge.label:
        described["label"] = edge.label
    return described
