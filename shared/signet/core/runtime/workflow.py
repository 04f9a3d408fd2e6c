"""A compiled workflow that is ready to run: every lookup is made once, every expression is a closure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from signet.core.compiler.artifact import Artifact
from signet.core.compiler.node_types import NODE_TYPES, NodeType
from signet.core.compiler.rejection_edges import rejection_edge_of
from signet.core.contracts.compiled_contract import CompiledContract
from signet.core.errors import Defect
from signet.core.expressions import (
    Compiled,
    Environment,
    compile_expression,
    compile_template,
    expression_from_json,
    template_from_json,
)
from signet.core.expressions.render import Render
from signet.core.runtime.graph.guarded_gates import (
    WayAhead,
    list_guarded_gates,
    list_states_behind,
    list_windows_behind,
    look_ahead,
    may_be_decided,
)
from signet.core.runtime.graph.live_variables import (
    list_entries_of_variables,
    list_fields_of_variables,
    list_live_variables,
    list_unasked_variables,
    list_variables_read,
)


@dataclass(frozen=True, slots=True)
class WorkflowEdge:
    """An edge that a token can take."""

    id: str
    source: str
    target: str
    on: str
    role: str
    transition: str | None
    condition: Compiled | None


@dataclass(frozen=True, slots=True)
class WorkflowNode:
    id: str
    type: NodeType
    config: Mapping[str, Any]
    label: str
    window: str
    # By outcome, each in order of (priority, id).
    edges: Mapping[str, tuple[WorkflowEdge, ...]]
    # The splits around it, from the outside in.
    blocks: tuple[str, ...]
    expressions: Mapping[str, Compiled]
    templates: Mapping[str, Render]
    run_as: str

    @property
    def sets_variables(self) -> bool:
        return bool(self.config.get("set") or self.config.get("save_as"))


@dataclass(frozen=True, slots=True)
class Join:
    split: str
    mode: str
    required_token_count: int


@dataclass(frozen=True, slots=True)
class ChosenEdges:
    """The edges that fire, with the evidence of their conditions."""

    edges: tuple[WorkflowEdge, ...]
    evidence: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class ContractAction:
    kind: str
    entity_type: str | None
    # Makes of the payload the fields that the action sets.
    set: Render


class Workflow:
    """An artifact, loaded: that is the expensive part, once per process and hash; running is lookups."""

    def __init__(self, artifact: Artifact) -> None:
        content = artifact.content
        self.hash = artifact.hash
        self.content = content
        self._return_states: dict[str, str | None] = {}
        self.kind: str = content["kind"]
        self.joins = {
            node_id: Join(join["split"], join["mode"], join["required_token_count"])
            for node_id, join in content["joins"].items()
        }
        self._join_of = {join.split: node_id for node_id, join in self.joins.items()}
        self.stable_nodes = frozenset(content["stable_region_nodes"])
        # Gates that nothing passes: the contract requires approvals in their slot, and nothing fills it.
        self.shut_gates: Mapping[str, str] = content.get("shut_gates", {})
        self.actions = {name: _load_action(action) for name, action in content["actions"].items()}
        self.nodes = {node_id: self._load_node(node_id, node) for node_id, node in content["nodes"].items()}
        self.service_accounts = frozenset(
            str(node.config["service_account"])
            for node in self.nodes.values()
            if "service_account" in node.config
        )
        self.has_approvals = any(node.type.name == "approval" for node in self.nodes.values())
        # By the definition alone: by the contract people may decide by their requests, too.
        self.may_be_decided = may_be_decided(content)
        self._edges = {
            edge.id: edge for node in self.nodes.values() for edges in node.edges.values() for edge in edges
        }
        # What it reads of documents, by question; `workflow_reads` works each out once.
        self.reads: dict[tuple[str, ...], frozenset[Any]] = {}
        self.careful_nodes: dict[str, dict[str, bool]] = {}
        self._ways_ahead: dict[tuple[str, str], WayAhead] = {}

    @cached_property
    def guarded_gates(self) -> frozenset[str]:
        return list_guarded_gates(self.content)

    def look_ahead(self, contract: CompiledContract, node_id: str) -> WayAhead:
        """Return who is asked behind the node, before its document settles; the contract says who decides."""
        key = contract.hash, node_id
        if key not in self._ways_ahead:
            self._ways_ahead[key] = look_ahead(self.content, node_id, self.guarded_gates, contract.contract)
        return self._ways_ahead[key]

    @cached_property
    def windows_behind_approvals(self) -> frozenset[str]:
        return list_windows_behind(self.content)

    @cached_property
    def _states_behind_approvals(self) -> frozenset[str]:
        return list_states_behind(self.content)

    @cached_property
    def _states_behind_approvals_but_amended(self) -> frozenset[str]:
        return list_states_behind(self.content, but_amended=True)

    def is_approved(self, status: str, *, is_amendment: bool) -> bool:
        """Return whether a document in this status came there by gates with approvals alone."""
        behind = self._states_behind_approvals if is_amendment else self._states_behind_approvals_but_amended
        return status in behind

    def is_behind_approvals(self, status: str) -> bool:
        """Return whether an edit in this status asks nobody: it is settled, or approved to come there."""
        state = self.nodes.get(f"sys:state:{status}")
        return status in self._states_behind_approvals or (state is not None and "ended" in state.edges)

    @cached_property
    def live_variables(self) -> Mapping[str, frozenset[str]]:
        """Return by approval what is read behind it as it was when people were asked."""
        return list_live_variables(self.content)

    @cached_property
    def unasked_variables(self) -> Mapping[str, frozenset[str]]:
        """Return by gate what is read behind it, and shown to nobody before."""
        return list_unasked_variables(self.content)

    @cached_property
    def fields_of_variables(self) -> Mapping[str, frozenset[str]]:
        """Return by variable the fields of the document that its slot reads: it holds for them."""
        return list_fields_of_variables(self.content)

    @cached_property
    def entries_of_variables(self) -> Mapping[str, frozenset[str]]:
        """Return by variable the entries of the slots that may set it."""
        return list_entries_of_variables(self.content)

    @cached_property
    def variables_read(self) -> Mapping[str, frozenset[str]]:
        """Return by node the variables that it and the edges behind it read."""
        return list_variables_read(self.content)

    @cached_property
    def start_condition(self) -> Compiled | None:
        """Return the condition of an automation's trigger."""
        condition = self.content.get("trigger_condition")
        return compile_expression(expression_from_json(condition["tree"])) if condition else None

    @cached_property
    def run_actions(self) -> frozenset[str]:
        """Return the actions that its nodes run."""
        nodes = self.nodes.values()
        return frozenset(str(node.config["action"]) for node in nodes if node.type.name == "action")

    def _load_node(self, node_id: str, node: Mapping[str, Any]) -> WorkflowNode:
        content, by_outcome = self.content, dict[str, list[WorkflowEdge]]()
        for edge_id in content["adjacency"][node_id]:
            edge = _load_edge(edge_id, content["edges"][edge_id])
            by_outcome.setdefault(edge.on, []).append(edge)
        logic = node.get("logic", {})
        return WorkflowNode(
            id=node_id,
            type=NODE_TYPES[node["type"]],
            config=node["config"],
            label=node.get("label", ""),
            window=content["edit_windows"][node_id],
            edges={outcome: tuple(edges) for outcome, edges in by_outcome.items()},
            blocks=tuple(split for split, _ in content["blocks"].get(node_id, ())),
            expressions={
                pointer: compile_expression(expression_from_json(tree["expression"]))
                for pointer, tree in logic.items()
                if "expression" in tree
            },
            templates={
                pointer: compile_template(template_from_json(tree["template"]))
                for pointer, tree in logic.items()
                if "template" in tree
            },
            run_as=_find_run_as(node["type"], node["config"]),
        )

    def choose(self, node: WorkflowNode, outcome: str, env: Environment) -> ChosenEdges:
        """Return the edges that fire after an outcome: all of a split, else the first that can.

        A chain may let any approval expire, and only its author knows. Without an edge for that, it goes the
        way of a rejection.
        """
        edges = node.edges.get(outcome, ())
        if outcome == "expired" and not edges:
            edges = node.edges.get("rejected", ())
        if len(edges) <= 1 or node.type.name == "parallel_split":
            return ChosenEdges(edges)
        evidence: list[Mapping[str, Any]] = []
        for edge in edges:
            if edge.condition is None:
                return ChosenEdges((edge,), tuple(evidence))
            evaluation = edge.condition.evaluate(env)
            evidence.append({**evaluation.evidence, "edge": edge.id})
            if evaluation.value is True:
                return ChosenEdges((edge,), tuple(evidence))
        raise Defect("NO_EDGE_CHOSEN", f"no edge of {node.id} fires for '{outcome}', not even a default")

    def find_edge(self, edge_id: str) -> WorkflowEdge:
        return self._edges[edge_id]

    def rejection_edge_of(self, node_id: str) -> WorkflowEdge:
        """Return the edge for a rejection at a node that has none: a person may cancel there."""
        blocks = self.nodes[node_id].blocks
        join = self._join_of[blocks[-1]] if blocks else None
        slot = self.content["slot_map"][node_id] if join is None else ""
        edge = rejection_edge_of(node_id, "rejected", slot, join)
        return WorkflowEdge(edge.id, edge.source, edge.target, edge.on, edge.role, None, None)

    def exit_gate_of(self, node_id: str) -> WorkflowNode | None:
        """Return the gate that the node's slot leads to; None outside of slots, or where none follows."""
        slot = self.content["slot_map"].get(node_id)
        if slot is None:
            return None
        node = self.nodes[self.nodes[f"sys:slot:{slot}:out"].edges["done"][0].target]
        return node if node.type.name == "lifecycle_gate" else None

    def list_gates_of_slot(self, node_id: str) -> list[str]:
        """List the gates that end the way of the node's slot: the one behind it, or else those before it."""
        gate, slot = self.exit_gate_of(node_id), self.content["slot_map"].get(node_id)
        if gate is not None or slot is None:
            return [] if gate is None else [gate.id]
        sources = self._sources_of(f"sys:slot:{slot}:in")
        return [source for source in sources if self.nodes[source].type.name == "lifecycle_gate"]

    def return_state_of(self, node_id: str) -> str | None:
        """Return the node that an edit sends a token back to: a state, or the slot behind a gate."""
        if node_id not in self._return_states:
            self._return_states[node_id] = self._find_return_state(node_id)
        return self._return_states[node_id]

    def list_behind_gates(self, node_ids: Sequence[str]) -> list[str]:
        """List those of the nodes that lie in a slot behind a passed gate: they are not finished yet."""
        return [node_id for node_id in node_ids if self._is_behind_gate(node_id)]

    def _is_behind_gate(self, node_id: str) -> bool:
        state = self.return_state_of(node_id)
        return state is not None and self.nodes[state].type.name == "slot_in"

    def _find_return_state(self, node_id: str) -> str | None:
        if self.nodes[node_id].type.name in ("start", "end", "state"):
            return node_id
        slot = self.content["slot_map"].get(node_id)
        if slot is not None:
            entries = self._sources_of(f"sys:slot:{slot}:in")
            is_state = len(entries) == 1 and self.nodes[entries[0]].type.name == "state"
            return entries[0] if is_state else f"sys:slot:{slot}:in"
        states = {self.return_state_of(source) for source in self._sources_of(node_id)}
        return states.pop() if len(states) == 1 else None

    def _sources_of(self, node_id: str) -> list[str]:
        edges = self.content["edges"]
        incoming = (edges[edge_id] for edge_id in self.content["reverse_adjacency"][node_id])
        return [edge["source"] for edge in incoming if edge["role"] in ("forward", "interrupt")]

    def can_leave_by(self, state: str, transition: str) -> bool:
        """Return whether a request for the transition can be served at this state."""
        edges = self.nodes[state].edges if state in self.nodes else {}
        return any(
            edge.transition == transition
            for outcome in ("requested", "interrupted")
            for edge in edges.get(outcome, ())
        )

    def strictest_window(self, node_ids: Sequence[str]) -> tuple[str, str] | None:
        """Return the strictest edit window among these nodes, and the node that holds it."""
        if not node_ids:
            return None
        node_id = min(node_ids, key=lambda n: (-_STRICTNESS[self.nodes[n].window], n))
        return self.nodes[node_id].window, node_id


_STRICTNESS = {"editable": 0, "amend_only": 1, "locked": 2}


def _load_action(action: Mapping[str, Any]) -> ContractAction:
    render = compile_template(template_from_json(action["set"]))
    return ContractAction(action["kind"], action["entity_type"], render)


def _find_run_as(node_type: str, config: Mapping[str, Any]) -> str:
    if node_type == "lifecycle_gate" and config["kind"] == "automatic":
        return "system"  # it has no requester
    return str(config.get("run_as", "actor"))


def _load_edge(edge_id: str, edge: Mapping[str, Any]) -> WorkflowEdge:
    condition = edge.get("condition")
    return WorkflowEdge(
        id=edge_id,
        source=edge["source"],
        target=edge["target"],
        on=edge["on"],
        role=edge["role"],
        transition=edge.get("transition"),
        condition=compile_expression(expression_from_json(condition["tree"])) if condition else None,
    )
