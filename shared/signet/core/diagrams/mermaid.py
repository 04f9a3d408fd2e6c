"""A compiled workflow, or the changes of one, as a Mermaid flowchart.

Node ids are numbers given here. Labels are tenants' text: only their letters and digits go into the diagram
as they are. So no quote, bracket, directive or keyword in a label can break it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from signet.core.compiler.graph import ENVELOPE
from signet.core.compiler.node_types import NODE_TYPES
from signet.core.compiler.slot_graph import DEFAULT_PRIORITY
from signet.core.contracts.contract import EditWindow
from signet.core.diagrams.diff import Diff, Mark, diff_artifacts
from signet.core.explain.artifact_reader import Content, WorkflowReading
from signet.core.explain.node_sentences import describe_kind
from signet.core.explain.vocabulary import escape, short_id

MAX_LABEL_CHARACTERS = 120
# The characters that a label keeps as they are, beside letters and digits of any script.
_HARMLESS = frozenset(" _.,-")
_SHAPES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "start": ("((", "))"),
        "end": ("(((", ")))"),
        "state": ("([", "])"),
        "slot_in": ("((", "))"),
        "slot_out": ("((", "))"),
        "lifecycle_gate": ("{{", "}}"),
        "policy_gate": ("{{", "}}"),
        "action": ("[", "]"),
        "approval": ("[/", "\\]"),
        "condition": ("{", "}"),
        "parallel_split": ("[[", "]]"),
        "parallel_join": ("[[", "]]"),
        "wait_timer": ("(", ")"),
        "wait_event": (">", "]"),
        "webhook_out": ("[/", "/]"),
        "notification": ("[\\", "\\]"),
        "script": ("[\\", "/]"),
        "rule": ("{", "}"),
    }
)
_CLASSES = {
    Mark.ADDED: ("fill:#dafbe1,stroke:#1a7f37,color:#1f2328", "stroke:#1a7f37,stroke-width:2px"),
    Mark.REMOVED: (
        "fill:#ffebe9,stroke:#cf222e,color:#1f2328,stroke-dasharray:4 3",
        "stroke:#cf222e,stroke-width:2px",
    ),
    Mark.MODIFIED: ("fill:#fff8c5,stroke:#9a6700,color:#1f2328", "stroke:#9a6700,stroke-width:2px"),
}
_WINDOW_WORDS = {
    EditWindow.EDITABLE: "editable",
    EditWindow.AMEND_ONLY: "amendments only",
    EditWindow.LOCKED: "locked",
}


@dataclass(frozen=True)
class _MermaidParts:
    """The parts of a flowchart: each node with its slot, each edge, and the marks of a diff."""

    nodes: Mapping[str, Content]
    slots: Mapping[str, str]
    windows: Mapping[str, str]
    edges: Mapping[str, Content]
    order: list[str]
    marks: Mapping[str, Mark]


def draw(content: Content) -> str:
    return "\n".join(_draw(_make_drawing(WorkflowReading(content)))) + "\n"


def draw_diff(before: Content, after: Content) -> str:
    """Draw the nodes and edges of both, in the colours of added, removed and modified."""
    diff = diff_artifacts(before, after)
    old, new = _make_drawing(WorkflowReading(before)), _make_drawing(WorkflowReading(after))
    drawing = _MermaidParts(
        nodes={**old.nodes, **new.nodes},
        slots={**old.slots, **new.slots},
        windows={**old.windows, **new.windows},
        edges={**old.edges, **new.edges},
        order=list(dict.fromkeys([*new.order, *old.order])),
        marks=_collect_marks(diff),
    )
    return "\n".join(_draw(drawing)) + "\n"


def _make_drawing(workflow: WorkflowReading) -> _MermaidParts:
    return _MermaidParts(
        nodes=workflow.nodes,
        slots={node_id: workflow.slot_of(node_id) for node_id in workflow.order},
        windows=workflow.content["edit_windows"],
        edges=workflow.content["edges"],
        order=workflow.order,
        marks={},
    )


def _collect_marks(diff: Diff) -> dict[str, Mark]:
    return {
        difference.id: difference.mark for slot in diff.slots for difference in (*slot.nodes, *slot.edges)
    }


def _draw(drawing: _MermaidParts) -> Iterator[str]:
    names = {node_id: f"n{index}" for index, node_id in enumerate(drawing.order)}
    yield "flowchart TD"
    slots: dict[str, list[str]] = {}
    for node_id in drawing.order:
        slots.setdefault(drawing.slots[node_id], []).append(node_id)
    for node_id in slots.pop(ENVELOPE, []):
        yield f"    {_draw_node(drawing, node_id, names[node_id])}"
    for index, (slot, node_ids) in enumerate(slots.items()):
        yield f'    subgraph s{index}["{_escape(f"slot {slot}")}"]'
        for node_id in node_ids:
            yield f"        {_draw_node(drawing, node_id, names[node_id])}"
        yield "    end"
    edge_ids = _sort_edges(drawing, names)
    for edge_id in edge_ids:
        yield f"    {_draw_edge(drawing, drawing.edges[edge_id], names)}"
    yield from _draw_colours(drawing, edge_ids)


def _draw_node(drawing: _MermaidParts, node_id: str, name: str) -> str:
    node = drawing.nodes[node_id]
    begin, end = _SHAPES[node["type"]]
    lines = [escape(node.get("label") or short_id(node_id))]
    if NODE_TYPES[node["type"]].group is not None:
        lines.append(describe_kind(node["type"]))
    if node["type"] == "state":
        lines.append(_WINDOW_WORDS[EditWindow(drawing.windows[node_id])])
    mark = drawing.marks.get(node_id)
    colour = f":::{mark.value}" if mark is not None else ""
    return f'{name}{begin}"{"<br/>".join(_escape(line) for line in lines)}"{end}{colour}'


def _sort_edges(drawing: _MermaidParts, names: Mapping[str, str]) -> list[str]:
    position = {node_id: index for index, node_id in enumerate(names)}

    def key(edge_id: str) -> tuple[int, int, str]:
        edge = drawing.edges[edge_id]
        return position[edge["source"]], edge["priority"], edge_id

    return sorted(drawing.edges, key=key)


def _draw_edge(drawing: _MermaidParts, edge: Content, names: Mapping[str, str]) -> str:
    arrow = "-->" if edge["role"] == "forward" else "-.->"
    label = _escape(_describe_edge(drawing, edge))
    text = f'|"{label}"|' if label else ""
    return f"{names[edge['source']]} {arrow}{text} {names[edge['target']]}"


def _describe_edge(drawing: _MermaidParts, edge: Content) -> str:
    condition = edge.get("condition")
    parts = [
        "" if edge["role"] == "forward" else edge["role"],
        edge.get("transition") or "",
        _describe_outcome(drawing, edge),
        escape(edge.get("label", "")),
        f"if {_text_of(condition)}" if condition is not None else "",
        "otherwise" if condition is None and edge["priority"] == DEFAULT_PRIORITY else "",
    ]
    return ", ".join(dict.fromkeys(part for part in parts if part))


def _text_of(condition: Any) -> str:
    text: str = condition["text"]
    return text


def _describe_outcome(drawing: _MermaidParts, edge: Content) -> str:
    """Return the outcome, or nothing for a type that has only one."""
    outcomes = NODE_TYPES[drawing.nodes[edge["source"]]["type"]].outcomes
    outcome: str = edge["on"]
    return outcome if len(outcomes) > 1 and outcome not in ("done", "interrupted") else ""


def _escape(text: str) -> str:
    """Turn every character that is not harmless into an entity, which Mermaid writes `#35;`."""
    if len(text) > MAX_LABEL_CHARACTERS:
        text = f"{text[: MAX_LABEL_CHARACTERS - 1]}…"
    return "".join(c if c.isalnum() or c in _HARMLESS else f"#{ord(c)};" for c in text)


def _draw_colours(drawing: _MermaidParts, edge_ids: list[str]) -> Iterator[str]:
    used = set(drawing.marks.values())
    for mark, (node_style, edge_style) in _CLASSES.items():
        if mark in used:
            yield f"    classDef {mark.value} {node_style}"
        numbers = [str(index) for index, edge_id in enumerate(edge_ids) if drawing.marks.get(edge_id) is mark]
        if numbers:
            yield f"    linkStyle {','.join(numbers)} {edge_style}"
