"""Compiled workflows read from files, as `signet compile --json` writes them or as they are stored.

The result is a well-formed workflow, or None with the reason, for any content of the file.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from signet.core.compiler.artifact import Artifact, make_artifact
from signet.core.compiler.node_types import NODE_TYPES
from signet.core.compiler.slot_graph import slot_in, slot_out
from signet.core.contracts.contract import EditWindow
from signet.core.validation.strict_model import point

MAX_ARTIFACT_BYTES = 64 * 1_048_576
MAX_DEPTH = 200


class _Loose(BaseModel):
    """A part of an artifact. Later compilers may add keys, but the ones declared here must be there."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)


class _Node(_Loose):
    type: str
    config: dict[str, Any]
    label: str = ""


class _Condition(_Loose):
    text: str


class _Edge(_Loose):
    source: str
    target: str
    on: str
    role: Literal["forward", "return", "interrupt", "exit", "error"]
    priority: int
    provenance: str
    condition: _Condition | None = None
    transition: str | None = None
    label: str = ""


class _ArtifactShape(_Loose):
    kind: Literal["envelope", "effective", "automation"]
    name: str
    compiler_version: str
    nodes: dict[str, _Node]
    edges: dict[str, _Edge]
    adjacency: dict[str, list[str]]
    reverse_adjacency: dict[str, list[str]]
    topological_order: list[str]
    edit_windows: dict[str, str]
    slot_map: dict[str, str]


def read_artifact_file(file: Path) -> tuple[Artifact | None, str | None]:
    """Return the artifact, or the reason that it is broken, or neither for another kind of file."""
    content = _read_json(file)
    expected = None
    if isinstance(content, dict) and isinstance(content.get("artifact"), dict):
        content, expected = content["artifact"], content.get("hash")
    if not isinstance(content, dict) or "compiler_version" not in content:
        return None, None
    if _is_too_deep(content):
        return None, f"it is nested deeper than {MAX_DEPTH} levels"
    problem = next(_find_problems(content), None)
    if problem is not None:
        return None, problem
    try:
        artifact = make_artifact(content)
    except ValueError as error:
        return None, str(error)
    if expected is not None and expected != artifact.hash:
        return None, "its content does not match its hash"
    return artifact, None


def _read_json(file: Path) -> Any:
    if file.suffix.lower() != ".json":
        return None
    try:
        if not file.is_file():
            return None
        with file.open("rb") as opened:
            content = opened.read(MAX_ARTIFACT_BYTES + 1)
        return json.loads(content) if len(content) <= MAX_ARTIFACT_BYTES else None
    except (OSError, ValueError, RecursionError):
        return None  # reading it as an author's file will report the mistake


def _is_too_deep(content: Any) -> bool:
    level, depth = [content], 0
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            return True
        inner = [value for value in level if isinstance(value, dict | list)]
        level = [item for value in inner for item in (value.values() if isinstance(value, dict) else value)]
    return False


def _find_problems(content: Mapping[str, Any]) -> Iterator[str]:
    try:
        shape = _ArtifactShape.model_validate(content)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        yield f"at {point(first['loc'])}: {first['msg']}"
        return
    yield from _find_node_problems(shape)
    yield from _find_edge_problems(shape)
    node_ids, edges = shape.nodes.keys(), shape.edges.keys()
    if sorted(shape.topological_order) != sorted(node_ids):
        yield "its order does not hold each node once"
    for name in ("adjacency", "reverse_adjacency"):
        listed: dict[str, list[str]] = getattr(shape, name)
        if listed.keys() != node_ids or sorted(e for ids in listed.values() for e in ids) != sorted(edges):
            yield f"its {name} does not hold each edge once"
    for slot in sorted(set(shape.slot_map.values())):
        if not shape.adjacency.get(slot_out(slot)) or not shape.reverse_adjacency.get(slot_in(slot)):
            yield f"the slot '{slot}' has no beginning or no end"


def _find_node_problems(shape: _ArtifactShape) -> Iterator[str]:
    for node_id, node in shape.nodes.items():
        if node.type not in NODE_TYPES:
            yield f"the node '{node_id}' has the unknown type '{node.type}'"
            continue
        try:
            NODE_TYPES[node.type].configuration.model_validate_json(json.dumps(node.config))
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            yield f"the configuration of '{node_id}' is wrong at {point(first['loc'])}: {first['msg']}"
        if shape.edit_windows.get(node_id) not in set(EditWindow):
            yield f"the node '{node_id}' has no edit window"


def _find_edge_problems(shape: _ArtifactShape) -> Iterator[str]:
    for edge_id, edge in shape.edges.items():
        if edge.source not in shape.nodes or edge.target not in shape.nodes:
            yield f"the edge '{edge_id}' connects a node that is not there"
        elif edge.on not in NODE_TYPES[shape.nodes[edge.source].type].outcomes:
            yield f"the edge '{edge_id}' waits for the unknown outcome '{edge.on}'"
