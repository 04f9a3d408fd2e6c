"""The graph that an instance runs on, and how far it has come in it: what a viewer draws.

All of it follows from the compiled workflow, the tokens and the steps; positions are an editor's own.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from signet.core.compiler.graph import ENVELOPE
from signet.core.explain.artifact_reader import Content, WorkflowReading

NodeState = Literal["done", "live", "waiting", "failed", "cancelled", "not_reached"]
# Of a token that is still on its way. One that has parted has left its split; its branches say where it is.
_OF_TOKENS: Mapping[str, NodeState] = MappingProxyType(
    {"waiting": "waiting", "joined": "waiting", "ready": "live"}
)
_OF_STEPS: Mapping[str, NodeState] = MappingProxyType(
    {
        "completed": "done",
        "failed": "failed",
        "skipped": "cancelled",
        "cancelled": "cancelled",
        # Open, and no token stands there: a row that lags behind its steps.
        "pending": "live",
        "running": "waiting",
    }
)


@dataclass(frozen=True, slots=True)
class Visit:
    """How a node was left the last time, and how often something came to it."""

    node_id: str
    status: str
    count: int


@dataclass(frozen=True, slots=True)
class DrawnNode:
    id: str
    type: str
    label: str
    # Which slot contributed it; null is the envelope.
    slot: str | None
    edit_window: str
    state: NodeState
    visits: int
    # Across and down, where an editor has it; null where nobody has put it anywhere.
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
    # How often something went this way.
    taken: int


@dataclass(frozen=True, slots=True)
class GraphDrawing:
    """Nodes in the order in which a document comes to them."""

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
    """Several may stand at a join; where one is to be executed, that is what is going on."""
    standing: dict[str, NodeState] = {}
    for token in tokens:
        state = _OF_TOKENS.get(token["state"])
        if state is not None and standing.get(token["node"]) != "live":
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
    """An author writes a node's id in full, or only its last part."""
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
