"""Locations of findings in an author's own document. The compiler names nodes and edges by their full ids."""

from collections.abc import Iterator

from signet.core.compiler.compiler import AUTOMATION_SLOT
from signet.core.compiler.merge import policy_node
from signet.core.compiler.node_types import NODE_TYPES
from signet.core.compiler.patch import Automation, Patch, PatchEdge, SlotPatch
from signet.core.compiler.slot_graph import slot_in, slot_out
from signet.core.validation.finding import Finding

Part = SlotPatch | Automation


class FindingLocations:
    """JSON pointers into one patch or automation; "" is the whole of it."""

    def __init__(self, body: Patch | Automation) -> None:
        self._pointers: dict[str, str] = {}
        parts: list[tuple[str, str, Part]] = (
            [(AUTOMATION_SLOT, "", body)] if isinstance(body, Automation) else []
        )
        if isinstance(body, Patch):
            parts = [(name, f"/slots/{name}", slot) for name, slot in body.slots.items()]
        for slot, pointer, part in parts:
            for name in (slot, slot_in(slot), slot_out(slot)):
                self._pointers.setdefault(name, pointer)
            for name, inside in (*_name_nodes(slot, part), *_name_edges(slot, part)):
                self._pointers.setdefault(name, f"{pointer}{inside}")

    def point(self, finding: Finding) -> str:
        place = finding.place
        if place.startswith("/"):
            return "" if place == "/" else place
        if finding.code == "NODE_CONFIG_INVALID":
            place = f"{place}{finding.parameters['pointer']}".removesuffix("/")
        if place in self._pointers:
            return self._pointers[place]
        node, _, inside = place.partition("/")
        return f"{self._pointers[node]}/config/{inside}" if node in self._pointers else ""


def _name_nodes(slot: str, part: Part) -> Iterator[tuple[str, str]]:
    prefix = f"usr:{slot}:"
    for index, node in enumerate(part.nodes):
        full = prefix + node.id.removeprefix(prefix)
        for name in (full, policy_node(full), node.id):
            yield name, f"/nodes/{index}"


def _name_edges(slot: str, part: Part) -> Iterator[tuple[str, str]]:
    prefix = f"usr:{slot}:"
    types = {node.id.removeprefix(prefix): node.type for node in part.nodes}
    for index, edge in enumerate(part.edges):
        for name in (f"{edge.source} → {edge.target}", _name_edge(prefix, types, edge)):
            yield name, f"/edges/{index}"


def _name_edge(prefix: str, types: dict[str, str], edge: PatchEdge) -> str:
    """Return the id that the compiler gives the edge."""
    if edge.id is not None:
        return f"{prefix}edge:{edge.id}"
    source, target = (end.rsplit(":", 1)[-1] for end in (edge.source, edge.target))
    node_type = NODE_TYPES.get(types.get(source, ""))
    outcome = edge.on or (node_type.outcomes[0] if node_type is not None else "done")
    return f"{prefix}edge:{source}>{target}#{outcome}"
