"""Puts patches into an envelope: attachment nodes, policy gates, ways for rejections (the source's merge).

Each slot with a patch loses its direct edges `entry → exit` and gets
`entry → sys:slot:<slot>:in → … → sys:slot:<slot>:out → exit`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from signet.core.compiler.envelope import EnvelopeSlot
from signet.core.compiler.graph import Edge, Graph, Node
from signet.core.compiler.node_types import NODE_TYPES
from signet.core.compiler.patch import SlotPatch
from signet.core.compiler.slot_graph import SlotGraph, make_slot_graph, slot_in, slot_out
from signet.core.contracts.contract import EditWindow
from signet.core.validation.finding import Finding, make_finding

# Outcomes that, without an edge of their own, send the token to the gate as rejected.
REJECTING = ("rejected", "expired")
# How the ids of edges begin that the compiler draws for rejections.
REJECTION_EDGE = "sys:edge:rejection:"


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


def rejection_edge(node_id: str, outcome: str) -> str:
    return f"{REJECTION_EDGE}{node_id}#{outcome}"


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
        # The policy gate stands before the action whichever way one comes; no patch can go round it.
        target = policy_node(edge.target) if types.get(edge.target) == "action" else edge.target
        yield replace(edge, target=target)
    for node in filled.nodes:
        if node.type == "action":
            edge_id = f"sys:edge:policy:{node.id}"
            yield Edge(edge_id, policy_node(node.id), node.id, "allowed", provenance=slot.id)
    yield from _lead_rejections_out(slot, filled)


def _lead_rejections_out(slot: EnvelopeSlot, filled: SlotGraph) -> Iterator[Edge]:
    """A rejection nobody drew an edge for goes to the gate behind the slot, which knows where to.

    Inside a parallel block it goes to the block's join; `rejections` redirects it there.
    """
    drawn = {(edge.source, edge.on) for edge in filled.edges}
    for node in sorted(filled.nodes, key=lambda node: node.id):
        for outcome in _open_rejections(node, drawn):
            yield Edge(
                rejection_edge(node.id, outcome),
                node.id,
                slot_out(slot.id),
                outcome,
                role="exit",
                provenance=slot.id,
            )


def _open_rejections(node: Node, drawn: set[tuple[str, str]]) -> Sequence[str]:
    if node.type not in NODE_TYPES or node.type == "parallel_join":
        return ()
    outcomes = [on for on in NODE_TYPES[node.type].outcomes if on in REJECTING and (node.id, on) not in drawn]
    if node.type == "approval" and node.config.get("expire_after") is None:
        outcomes = [on for on in outcomes if on != "expired"]
    return outcomes
