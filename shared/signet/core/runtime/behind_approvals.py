"""The part of a workflow that stands behind its approvals: what happens there was approved before."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

_Edge = Mapping[str, Any]
_START = "sys:start"
_ENDS_OF_A_WAY = ("state", "lifecycle_gate", "end")
_NO = ("rejected", "refused", "expired")


def list_windows_behind(content: Mapping[str, Any]) -> frozenset[str]:
    """List the edit windows of the nodes behind approvals, until a document is back at its beginning."""
    nodes = content["nodes"]
    beginning = {edge["target"] for edge in content["edges"].values() if edge["source"] == _START}
    behind = _walk(
        content, _find_ends(content), lambda edge: not (_is_no(edge) or edge["target"] in beginning)
    )
    places = (name for name in behind if nodes[name]["type"] != "lifecycle_gate")
    return frozenset(content["edit_windows"][name] for name in places)


def list_states_behind(content: Mapping[str, Any]) -> frozenset[str]:
    """List the states that a document comes to by approvals alone. An edit there asks nobody again.

    A gate counts where an approval stands before it in any branch: what passes it was asked about, or was let
    through by the definition.
    """
    nodes = content["nodes"]
    gates = (name for name in _find_ends(content) if nodes[name]["type"] == "lifecycle_gate")
    shut = _list_approvals(content).union(gates)
    free = _walk(content, {_START}, lambda edge: edge["source"] not in shut or _is_no(edge))
    states = (name for name, node in nodes.items() if node["type"] == "state" and name not in free)
    return frozenset(nodes[name]["config"]["state"] for name in states)


def _find_ends(content: Mapping[str, Any]) -> frozenset[str]:
    """Find the gates and states that approvals lead to."""
    nodes = content["nodes"]
    ways = _walk(
        content,
        _list_approvals(content),
        lambda edge: not _is_no(edge) and nodes[edge["source"]]["type"] not in _ENDS_OF_A_WAY,
    )
    return frozenset(name for name in ways if nodes[name]["type"] in _ENDS_OF_A_WAY)


def _list_approvals(content: Mapping[str, Any]) -> frozenset[str]:
    return frozenset(name for name, node in content["nodes"].items() if node["type"] == "approval")


def _is_no(edge: _Edge) -> bool:
    return edge["on"] in _NO


def _walk(content: Mapping[str, Any], begin: Iterable[str], takes: Callable[[_Edge], bool]) -> frozenset[str]:
    """Return these nodes and all that such edges lead to."""
    seen = set(begin)
    left = list(seen)
    while left:
        edges = (content["edges"][edge_id] for edge_id in content["adjacency"][left.pop()])
        new = {edge["target"] for edge in edges if takes(edge)} - seen
        seen |= new
        left.extend(new)
    return frozenset(seen)
