"""The merge of patches into an envelope: attachment nodes, policy gates, edges for rejections.

Each slot with a patch loses its direct edges `entry → exit` and gets
`entry → sys:slot:<slot>:in → … → sys:slot:<slot>:out → exit`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from signet.core.compiler.envelope import EnvelopeSlot
from signet.core.compiler.graph import Edge, Graph, Node
from signet.core.compiler.patch import SlotPatch
from signet.core.compiler.rejection_edges import make_rejection_edges
from signet.core.compiler.slot_graph import SlotGraph, make_slot_graph, slot_in, slot_out
from signet.core.contracts.contract import EditWindow
from signet.core.validation.finding import Finding, make_finding


@dataclass(frozen=True)
class Merged:
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    stable_slots: frozenset[str]
    findings: tuple[Finding, ...]


def merge(base: Graph, slots: Mapping[str, EnvelopeSlot], patches: Mapping[str, SlotPatch]) -> Merged:
    findings: list[Finding] = []
    nodes, edges = dict(base.nodes), dict(base.edges)
    for name in sorted(patches):
        slot, patch = slots.get(name), patches[name]
        if slot is None:
            findings.append(make_finding("SLOT_UNKNOWN", name, allowed=", ".join(slots) or "(none)"))
            continue
        window = _choose_window(slot, patch, findings)
        filled = make_slot_graph(name, window, patch.entry, patch.exit, patch.nodes, patch.edges)
        findings.extend(filled.findings)
        for node in _complete_nodes(slot, window, filled):
            nodes[node.id] = node
        for edge in _complete_edges(base, slot, filled):
            edges[edge.id] = edge
        for edge_id in slot.replaced:
            del edges[edge_id]
    stable = frozenset(name for name in patches if name in slots and slots[name].stable)
    return Merged(tuple(nodes.values()), tuple(edges.values()), stable, tuple(findings))


def policy_node(action_node: str) -> str:
    return f"sys:policy:{action_node}"


def _choose_window(slot: EnvelopeSlot, patch: SlotPatch, findings: list[Finding]) -> str:
    override: EditWindow = patch.edit or slot.window
    if override.strictness < slot.window.strictness:
        findings.append(
            make_finding("WINDOW_LOOSER", slot.id, default=slot.window.value, override=override.value)
        )
        return slot.window.value
    return override.value


def _complete_nodes(slot: EnvelopeSlot, window: str, filled: SlotGraph) -> Iterator[Node]:
    yield Node(slot_in(slot.id), "slot_in", {"slot": slot.id}, slot.id, window)
    yield Node(slot_out(slot.id), "slot_out", {"slot": slot.id}, slot.id, window)
    for node in filled.nodes:
        yield node
        if node.type == "action":
            config = {
                "action": str(node.config.get("action", "")),
                "run_as": str(node.config.get("run_as", "actor")),
            }
            if "service_account" in node.config:
                config["service_account"] = str(node.config["service_account"])
            yield Node(policy_node(node.id), "policy_gate", config, slot.id, window)


def _complete_edges(base: Graph, slot: EnvelopeSlot, filled: SlotGraph) -> Iterator[Edge]:
    direct = [base.edges[edge_id] for edge_id in slot.replaced]
    for edge in direct:
        yield replace(edge, id=f"{edge.id}/in", target=slot_in(slot.id), role="forward", provenance=slot.id)
    yield Edge(
        f"sys:edge:slot:{slot.id}:out>{slot.exit.removeprefix('sys:')}",
        slot_out(slot.id),
        slot.exit,
        "done",
        role=direct[0].role,
        provenance=slot.id,
    )
    types = {node.id: node.type for node in filled.nodes}
    for edge in filled.edges:
        # Every edge to an action leads to its policy gate: no patch can go round it.
        target = policy_node(edge.target) if types.get(edge.target) == "action" else edge.target
        yield replace(edge, target=target)
        if edge.on == "error" and types.get(edge.source) == "action":
            # Who may not do it goes the way that the author drew for its failure.
            yield replace(
                edge,
                id=f"sys:edge:policy:{edge.source}:denied:{edge.id}",
                source=policy_node(edge.source),
                target=target,
                on="denied",
            )
    for node in filled.nodes:
        if node.type == "action":
            edge_id = f"sys:edge:policy:{node.id}"
            yield Edge(edge_id, policy_node(node.id), node.id, "allowed", provenance=slot.id)
    yield from make_rejection_edges(slot.id, filled.nodes, filled.edges)
