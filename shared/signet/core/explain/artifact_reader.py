"""A compiled workflow's content as explanations, diagrams and diffs read it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from signet.core.compiler.graph import ENVELOPE
from signet.core.compiler.rejection_edges import REJECTING
from signet.core.compiler.slot_graph import slot_in, slot_out
from signet.core.contracts.contract import RequiredApprovals
from signet.core.explain.vocabulary import escape, short_id

Content = Mapping[str, Any]


@dataclass(frozen=True)
class WorkflowReading:
    content: Content

    @property
    def nodes(self) -> Mapping[str, Any]:
        nodes: Mapping[str, Any] = self.content["nodes"]
        return nodes

    @property
    def order(self) -> list[str]:
        return list(self.content["topological_order"])

    @property
    def slots(self) -> list[str]:
        """The filled slots, in the order in which a document comes to them."""
        slots = set(self.content["slot_map"].values())
        return [slot for slot in (self.slot_of(node_id) for node_id in self.order) if _take(slots, slot)]

    def slot_of(self, node_id: str) -> str:
        slot: str = self.content["slot_map"].get(node_id, ENVELOPE)
        return slot

    def type_of(self, node_id: str) -> str:
        node_type: str = self.nodes[node_id]["type"]
        return node_type

    def config_of(self, node_id: str) -> Mapping[str, Any]:
        config: Mapping[str, Any] = self.nodes[node_id]["config"]
        return config

    def window_of(self, node_id: str) -> str:
        window: str = self.content["edit_windows"][node_id]
        return window

    def label_of(self, node_id: str) -> str:
        """Return the author's label, or else the name that follows from the id."""
        return escape(self.nodes[node_id].get("label") or short_id(node_id))

    def approvals_in(self, slot: str) -> list[str]:
        return [node_id for node_id in self.in_order("approval") if self.slot_of(node_id) == slot]

    def requirement_of(self, slot: str) -> RequiredApprovals | None:
        """Return the approvals that the contract requires of a slot, filled or empty."""
        written = self.content.get("requires", {}).get(slot)
        return RequiredApprovals(**written) if written is not None else None

    def in_order(self, node_type: str) -> list[str]:
        return [node_id for node_id in self.order if self.type_of(node_id) == node_type]

    def edges_from(self, node_id: str, *outcomes: str) -> list[Mapping[str, Any]]:
        """Return the edges in the order in which they are tried, of these outcomes or of all."""
        return self._edges(self.content["adjacency"][node_id], outcomes)

    def edges_to(self, node_id: str) -> list[Mapping[str, Any]]:
        return self._edges(self.content["reverse_adjacency"][node_id], ())

    @cached_property
    def reached_rejected(self) -> frozenset[str]:
        """The nodes of slots that a token may come to as rejected."""
        edges = [edge for node_id in self.nodes for edge in self.edges_from(node_id, *REJECTING)]
        return self._follow((edge["target"] for edge in edges), self.keeps_rejection)

    @cached_property
    def always_rejected(self) -> frozenset[str]:
        """The nodes of slots that a token comes to only as rejected."""
        begins = (slot_in(slot) for slot in self.slots)
        return self.reached_rejected - self._follow(begins, lambda edge: edge["on"] not in REJECTING)

    def keeps_rejection(self, edge: Mapping[str, Any]) -> bool:
        """Return whether a rejected token is still rejected behind the edge; an approval ends that."""
        is_join = self.type_of(edge["source"]) == "parallel_join"
        return bool(edge["on"] == "rejected" if is_join else edge["on"] != "approved")

    def _follow(self, begins: Iterable[str], passes: Callable[[Mapping[str, Any]], bool]) -> frozenset[str]:
        """Return the nodes on the way from there to gates and states."""
        reached, waiting = set[str](), list(begins)
        while waiting:
            node_id = waiting.pop()
            if node_id in reached or self.type_of(node_id) in ("lifecycle_gate", "state"):
                continue
            reached.add(node_id)
            waiting += [edge["target"] for edge in self.edges_from(node_id) if passes(edge)]
        return frozenset(reached)

    def _edges(self, edge_ids: Iterable[str], outcomes: tuple[str, ...]) -> list[Mapping[str, Any]]:
        edges = self.content["edges"]
        return [edges[edge_id] for edge_id in edge_ids if not outcomes or edges[edge_id]["on"] in outcomes]

    def entries_of(self, slot: str) -> list[str]:
        """Return the states or gates that lead into a slot."""
        return [edge["source"] for edge in self.edges_to(slot_in(slot))]

    def exit_of(self, slot: str) -> str:
        """Return the node that a slot leads to."""
        target: str = self.edges_from(slot_out(slot))[0]["target"]
        return target

    def pass_policy(self, node_id: str) -> str:
        """Return the action that a policy gate guards: to a reader the gate belongs to the action."""
        if self.type_of(node_id) != "policy_gate":
            return node_id
        action: str = self.edges_from(node_id, "allowed")[0]["target"]
        return action


def _take(names: set[str], name: str) -> bool:
    """Remove the name, and return if it was there."""
    if name not in names:
        return False
    names.discard(name)
    return True
