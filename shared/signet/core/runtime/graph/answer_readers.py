"""The readers of the answer that a node saves, and what they would read in vain.

An answer that is kept as text has no members. A condition that reads one would read nothing, and the receiver
may have said it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from signet.core.contracts.contract import OPAQUE
from signet.core.expressions import Expression, expression_from_json, list_variables
from signet.core.runtime.graph.deciding_slots import list_expressions
from signet.core.runtime.graph.live_variables import SAVED, list_written

# What leaves the tenant may pass on an answer as it is.
_TELLING = ("webhook_out", "notification")
_BODY = ("body",)
# Of an answer that was never meant as JSON, its text says all.
_TEXT = (*_BODY, "text")
_REASONS: Mapping[str, str] = MappingProxyType(
    {
        "part": "the rest of it was not read",
        "broken": "it is JSON that cannot be kept",
        "plain": "it is no JSON",
    }
)


@dataclass(frozen=True, slots=True, order=True)
class AnswerReader:
    """A path below what a node saves, and the node that reads it; `tells` says that it only passes it on."""

    path: tuple[str, ...]
    node: str
    tells: bool


def list_readers(content: Mapping[str, Any], node_id: str) -> Iterator[AnswerReader]:
    """List what is read behind the node of what it saves.

    A node that sets the same name ends the way, and so does a way back: people are asked again there.
    """
    nodes, edges = content["nodes"], content["edges"]
    saved, seen = nodes[node_id]["config"]["save_as"], {node_id}
    waiting = [edges[e] for e in content["adjacency"][node_id] if edges[e]["on"] in SAVED]
    while waiting:
        edge = waiting.pop()
        if edge["role"] == "return":
            continue
        condition, target = edge.get("condition"), edge["target"]
        if condition:
            for path in _list_paths(expression_from_json(condition["tree"]), saved):
                yield AnswerReader(path, edge["source"], tells=False)
        if target in seen:
            continue
        seen.add(target)
        tells = nodes[target]["type"] in _TELLING
        for path in _list_read(content, nodes[target], saved):
            yield AnswerReader(path, target, tells)
        is_set_again = saved in list_written(nodes[target])
        behind = (edges[edge_id] for edge_id in content["adjacency"][target])
        waiting += [edge for edge in behind if not (is_set_again and edge["on"] in SAVED)]


def find_lost_read(content: Mapping[str, Any], node_id: str, answer: Any) -> str | None:
    """Return what a node behind this one would read of an answer that is kept as text, and does not hold.

    To pass the whole on is no such reading. To decide by it is one.
    """
    kept_as_text = answer.get("kept_as_text") if isinstance(answer, Mapping) else None
    if kept_as_text is None:
        return None
    readers = (reader for reader in list_readers(content, node_id) if _is_lost(reader, kept_as_text))
    first = min(readers, default=None)
    if first is None:
        return None
    name = ".".join(("context", content["nodes"][node_id]["config"]["save_as"], *first.path))
    return (
        f"{node_id} keeps the answer of its receiver as text, because {_REASONS[kept_as_text]},"
        f" and {first.node} reads {name}"
    )


def _is_lost(reader: AnswerReader, kept_as_text: str) -> bool:
    if reader.path in ((), _BODY):
        return not reader.tells
    return reader.path[:1] == _BODY and not (kept_as_text == "plain" and reader.path == _TEXT)


def _list_read(content: Mapping[str, Any], node: Mapping[str, Any], saved: str) -> Iterator[tuple[str, ...]]:
    """Yield the paths that a node reads; a function in Python may read every variable."""
    action = content["actions"].get(node["config"]["action"]) if node["type"] == "action" else None
    if action is not None and action["kind"] in OPAQUE:
        yield ()
    for expression in list_expressions(node):
        yield from _list_paths(expression, saved)


def _list_paths(expression: Expression, saved: str) -> Iterator[tuple[str, ...]]:
    """Yield the paths below a variable that an expression reads; with all variables it reads the whole."""
    for name in list_variables(expression):
        if name.path[0] == "context" and name.path[1:2] in ((), (saved,)):
            yield tuple(name.path[2:])
