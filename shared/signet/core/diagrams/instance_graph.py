"""The graph of an instance with its progress, for a viewer to draw.

All of it follows from the compiled workflow, the tokens and the steps; only positions come from an editor.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from signet.core.compiler.graph import ENVELOPE
from signet.core.explain.artifact_reader import Content, WorkflowReading

NodeState = Literal["done", "live", "waiting", "failed", "cancelled", "not_reached"]
# The state of a node with a token. A parted token has left its split; its branches show where it is.
_OF_TOKENS: Mapping[str, NodeState] = MappingProxyType(
    {"waiting": "waiting", "joined": "waiting", "ready": "live", "failed": "failed"}
)
_OF_STEPS: Mapping[str, NodeState] = MappingProxyType(
    {
        "completed": "done",
        "failed": "failed",
        "skipped": "cancelled",
        "cancelled": "cancelled",
        # An open step without a token: the row lags behind its steps.
        "pending": "live",
        "running": "waiting",
    }
)


@dataclass(frozen=True, slots=True)
class Visit:
    """The end of the last visit to a node, and the number of visits."""

    node_id: str
    status: str
    count: int


@dataclass(frozen=True, slots=True)
class DrawnNode:
    id: str
    type: str
    label: str
    # The slot that contributed it; null is the envelope.
    slot: str | None
    edit_window: str
    state: NodeState
    visits: int
    # Across and down in the editor; null where nobody has placed it.
    position: Sequence[float] | None


@dataclass(frozen=True, slots=True)
class DrawnEdge:
    id: str
    source: str
    target: str
    on: str
    role: str
    priority: int
    label: str
    transition: str | None
    condition: str | None
    # The number of times that it was followed.
    taken: int


@dataclass(frozen=True, slots=True)
class GraphDrawing:
    """The drawn graph; nodes are in the order in which a document comes to them."""

    nodes: Sequence[DrawnNode]
    edges: Sequence[DrawnEdge]


def draw_instance(
    content: Content,
    tokens: Iterable[Mapping[str, Any]],
    visits: Iterable[Visit],
    taken: Mapping[str, int],
    canvas: Mapping[str, Any],
) -> GraphDrawing:
    reading = WorkflowReading(content)
    standing = _find_standing(tokens)
    visited = {visit.node_id: visit for visit in visits}
    nodes = [
        _draw_node(reading, node_id, standing.get(node_id), visited.get(node_id), canvas)
        for node_id in reading.order
    ]
    edges = [_draw_edge(edge_id, edge, taken) for edge_id, edge in sorted(content["edges"].items())]
    return GraphDrawing(nodes, edges)


def _find_standing(tokens: Iterable[Mapping[str, Any]]) -> Mapping[str, NodeState]:
    """Return the state of each node with tokens. A failed one goes before others, one to be executed next."""
    standing: dict[str, NodeState] = {}
    for token in tokens:
        state = _OF_TOKENS.get(token["state"])
        if state is not None and standing.get(token["node"]) not in ("live", "failed"):
            standing[token["node"]] = state
    return standing


def _draw_node(
    reading: WorkflowReading,
    node_id: str,
    standing: NodeState | None,
    visit: Visit | None,
    canvas: Mapping[str, Any],
) -> DrawnNode:
    left = _OF_STEPS[visit.status] if visit is not None else "not_reached"
    slot = reading.slot_of(node_id)
    return DrawnNode(
        id=node_id,
        type=reading.type_of(node_id),
        label=reading.label_of(node_id),
        slot=None if slot == ENVELOPE else slot,
        edit_window=reading.window_of(node_id),
        state=standing or left,
        visits=visit.count if visit is not None else 0,
        position=_find_position(node_id, canvas),
    )


def _find_position(node_id: str, canvas: Mapping[str, Any]) -> Sequence[float] | None:
    """Return the node's position; an author writes its id in full, or only its last part."""
    short = node_id.rpartition(":")[2] if node_id.startswith("usr:") else node_id
    match canvas.get(node_id, canvas.get(short)):
        case [int() | float() as across, int() | float() as down]:
            return across, down
        case _:
            return None


def _draw_edge(edge_id: str, edge: Mapping[str, Any], taken: Mapping[str, int]) -> DrawnEdge:
    return DrawnEdge(
        id=edge_id,
        source=edge["source"],
        target=edge["target"],
        on=edge["on"],
        role=edge["role"],
        priority=edge["priority"],
        label=edge.get("label", ""),
        transition=edge.get("transition"),
        condition=edge["condition"]["text"] if "condition" in edge else None,
        taken=taken.get(edge_id, 0),
    )
