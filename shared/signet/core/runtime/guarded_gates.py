"""The gates that no way leads to without an approval.

A gate believes votes on record, and not the place of its token. So a token that was put before such a gate by
other means passes nothing.
"""

from collections.abc import Mapping
from typing import Any

_BEGINNINGS = ("start", "state", "lifecycle_gate")


def list_guarded_gates(content: Mapping[str, Any]) -> frozenset[str]:
    """Return the gates of an artifact where each way from the state before them asks for an approval."""
    ways = _FreeWays(content)
    gates = (name for name, node in content["nodes"].items() if node["type"] == "lifecycle_gate")
    return frozenset(gate for gate in gates if not ways.lead_to(gate))


class _FreeWays:
    """The ways that ask for no approval, looked for from a node back to where they begin."""

    def __init__(self, content: Mapping[str, Any]) -> None:
        self._content = content
        # False while a node is looked at: a way that meets itself leads nowhere new.
        self._known: dict[str, bool] = {}

    def lead_to(self, node_id: str) -> bool:
        """Return whether one of the ways into the node is free."""
        incoming = self._content["reverse_adjacency"][node_id]
        join = self._content["joins"].get(node_id)
        if join is None or join["mode"] != "all":
            return any(self._passes(edge_id) for edge_id in incoming)
        branches: dict[Any, bool] = {}
        for edge_id in incoming:
            branch = self._branch_of(edge_id, join["split"])
            branches[branch] = branches.get(branch, False) or self._passes(edge_id)
        return all(branches.values())

    def _passes(self, edge_id: str) -> bool:
        """Return whether a free way goes along the edge."""
        source: str = self._content["edges"][edge_id]["source"]
        kind = self._content["nodes"][source]["type"]
        if kind == "approval":
            return False
        if kind in _BEGINNINGS:
            return True
        if source not in self._known:
            self._known[source] = False
            self._known[source] = self.lead_to(source)
        return self._known[source]

    def _branch_of(self, edge_id: str, split: str) -> Any:
        source = self._content["edges"][edge_id]["source"]
        stack = self._content["blocks"].get(source, ())
        return next((branch for block, branch in stack if block == split), edge_id)
