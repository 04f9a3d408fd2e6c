"""The envelope: the system graph that follows from a contract. Ids are stable (`sys:*`), and nobody edits it.

Each edge out of a state has a gate of its own. Where a transition has several sources, the gate's id ends in
the source, so that a refusal knows where to go back to. For the same reason an amendment has its own gate.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from signet.core.canonical_json import content_hash
from signet.core.compiler.graph import Edge, Graph, Node, make_graph
from signet.core.contracts.contract import AMENDED, Contract, EditWindow, RequiredApprovals, Slot, Transition

START, END = "sys:start", "sys:end"


@dataclass(frozen=True)
class EnvelopeSlot:
    """The region that a patch fills: it replaces the `replaced` edges, all of which lead to `exit`."""

    id: str
    entries: tuple[str, ...]
    exit: str
    window: EditWindow
    stable: bool
    replaced: tuple[str, ...]
    label: str
    requires: RequiredApprovals | None = None

    def to_json(self) -> dict[str, Any]:
        described = {
            "entries": list(self.entries),
            "exit": self.exit,
            "window": self.window.value,
            "stable": self.stable,
            "label": self.label,
        }
        # Left out when it is absent, so that envelopes from before it keep their hashes.
        return described if self.requires is None else {**described, "requires": self.requires.model_dump()}


@dataclass(frozen=True)
class Envelope:
    contract: Contract
    graph: Graph
    slots: Mapping[str, EnvelopeSlot]

    @property
    def entity_type(self) -> str:
        return self.contract.contract

    @property
    def version(self) -> int:
        return self.contract.version

    @cached_property
    def contract_hash(self) -> str:
        return content_hash(self.contract.to_json())

    @cached_property
    def hash(self) -> str:
        return content_hash(
            {
                "contract": self.contract_hash,
                "nodes": {
                    node.id: [node.type, dict(node.config), node.window] for node in self.graph.nodes.values()
                },
                "edges": {
                    edge.id: [edge.source, edge.target, edge.on, edge.role, edge.transition]
                    for edge in self.graph.edges.values()
                },
                "slots": {slot.id: slot.to_json() for slot in self.slots.values()},
            }
        )


def make_envelope(contract: Contract) -> Envelope:
    nodes, edges = list(_make_nodes(contract)), list(_make_edges(contract))
    graph = make_graph(nodes, edges)
    slots = {name: _make_slot(contract, graph, name, slot) for name, slot in sorted(contract.slots.items())}
    return Envelope(contract, graph, slots)


def state_node(state: str) -> str:
    return f"sys:state:{state}"


def find_gate_sources(contract: Contract, transition: Transition) -> tuple[str, ...]:
    """Return the states where a transition begins, the pseudo state of amendments among them."""
    begins_first = contract.amendment is not None and contract.initial_state in transition.from_states
    amended = (AMENDED,) if begins_first and transition.kind == "requested" else ()
    return (*sorted(transition.from_states), *amended)


def gate_node(contract: Contract, name: str, source: str) -> str:
    transition = contract.transitions[name]
    alone = transition.kind == "interrupting" or (len(transition.from_states) == 1 and source != AMENDED)
    return f"sys:gate:{name}" if alone else f"sys:gate:{name}:{source}"


def edge_id(source: str, target: str, on: str) -> str:
    return f"sys:edge:{source.removeprefix('sys:')}>{target.removeprefix('sys:')}#{on}"


def _make_nodes(contract: Contract) -> Iterator[Node]:
    initial = contract.states[contract.initial_state]
    yield Node(START, "start", {}, window=initial.edit.value)
    yield Node(END, "end", {}, window=EditWindow.LOCKED.value)
    for name, state in contract.states.items():
        yield Node(state_node(name), "state", {"state": name}, window=state.edit.value, label=state.label)
    if contract.amendment is not None:
        yield Node(
            state_node(AMENDED),
            "state",
            {"state": contract.initial_state},
            window=EditWindow.EDITABLE.value,
            label="Amendment",
        )
    for name, transition in contract.transitions.items():
        for source in _gate_owners(contract, transition):
            yield _make_gate(contract, name, transition, source)


def _gate_owners(contract: Contract, transition: Transition) -> tuple[str, ...]:
    """Return one source for each gate; an interrupting transition has one gate for all its sources."""
    sources = find_gate_sources(contract, transition)
    return sources[:1] if transition.kind == "interrupting" else sources


def _make_gate(contract: Contract, name: str, transition: Transition, source: str) -> Node:
    interrupting = transition.kind == "interrupting"
    real_source = contract.initial_state if source == AMENDED else source
    window = contract.states[real_source].edit
    if window is EditWindow.EDITABLE:
        # A gate is never looser than the state it leads to: nobody edits a document at the gate.
        window = contract.states[transition.to].edit
    permission = transition.permission or f"{contract.contract}:{name}"
    config = {
        "transition": name,
        "from_states": sorted(transition.from_states) if interrupting else [real_source],
        "to": transition.to,
        "kind": transition.kind,
        "rejected_to": transition.rejected_to,
        "permission": permission,
        "permission_condition": contract.conditions.get(permission),
        "condition": transition.condition,
    }
    return Node(
        gate_node(contract, name, source),
        "lifecycle_gate",
        config,
        window=window.value,
        label=transition.label,
    )


def _make_edges(contract: Contract) -> Iterator[Edge]:
    yield _edge(START, state_node(contract.initial_state), "created")
    if contract.amendment is not None:
        yield _edge(START, state_node(AMENDED), "amended")
    for name, state in contract.states.items():
        if state.final or state.settled:
            yield _edge(state_node(name), END, "ended")
    returns = _find_returns(contract)
    for name, transition in contract.transitions.items():
        role = "return" if name in returns else "forward"
        if transition.kind == "interrupting":
            yield from _make_interrupt_edges(contract, name, transition, role)
        else:
            for source in find_gate_sources(contract, transition):
                yield from _make_edge(contract, name, transition, source, role)


def _make_edge(
    contract: Contract, name: str, transition: Transition, source: str, role: str
) -> Iterator[Edge]:
    gate, state = gate_node(contract, name, source), state_node(source)
    yield _edge(state, gate, transition.kind, transition=name)
    yield _edge(gate, state_node(transition.to), "passed", role=role)
    if transition.kind == "requested":
        yield _edge(gate, state, "refused", role="return")
    rejected_to = transition.rejected_to or (source if transition.kind == "requested" else None)
    if source == AMENDED and rejected_to == contract.initial_state:
        rejected_to = AMENDED  # it begins again where amendments do
    if rejected_to is not None:
        yield _edge(gate, state_node(rejected_to), "rejected", role="return")


def _make_interrupt_edges(contract: Contract, name: str, transition: Transition, role: str) -> Iterator[Edge]:
    gate = gate_node(contract, name, transition.from_states[0])
    for source in transition.from_states:
        yield _edge(state_node(source), gate, "interrupted", role="interrupt", transition=name)
    if contract.amendment is not None and contract.initial_state in transition.from_states:
        yield _edge(state_node(AMENDED), gate, "interrupted", role="interrupt", transition=name)
    yield _edge(gate, state_node(transition.to), "passed", role=role)


def _edge(source: str, target: str, on: str, *, role: str = "forward", transition: str | None = None) -> Edge:
    return Edge(edge_id(source, target, on), source, target, on, role=role, transition=transition)


def _find_returns(contract: Contract) -> frozenset[str]:
    """Return the transitions back to a state already passed: the back edges of a walk in order of names."""
    exits: dict[str, list[tuple[str, str]]] = {name: [] for name in contract.states}
    for name, transition in sorted(contract.transitions.items()):
        for source in transition.from_states:
            exits[source].append((name, transition.to))
    returns: set[str] = set()
    entered, left = {contract.initial_state}, set[str]()
    walk: list[tuple[str, Iterator[tuple[str, str]]]] = [
        (contract.initial_state, iter(exits[contract.initial_state]))
    ]
    while walk:
        state, remaining = walk[-1]
        step = next(remaining, None)
        if step is None:
            left.add(state)
            walk.pop()
        elif step[1] not in entered:
            entered.add(step[1])
            walk.append((step[1], iter(exits[step[1]])))
        elif step[1] not in left:
            returns.add(step[0])
    return frozenset(returns)


def _make_slot(contract: Contract, graph: Graph, name: str, slot: Slot) -> EnvelopeSlot:
    transition = contract.transitions[slot.transition]
    sources: Iterable[str] = (
        (slot.from_state,) if slot.from_state is not None else find_gate_sources(contract, transition)
    )
    if slot.position == "after":
        gates = {gate_node(contract, slot.transition, source) for source in sources}
        replaced = [e for gate in sorted(gates) for e in graph.outgoing[gate] if e.on == "passed"]
        default = contract.states[transition.to].edit
    else:
        source = slot.from_state or transition.from_states[0]
        replaced = [e for e in graph.outgoing[state_node(source)] if e.transition == slot.transition]
        default = EditWindow.EDITABLE if source == AMENDED else contract.states[source].edit
    window = slot.edit or default
    return EnvelopeSlot(
        id=name,
        entries=tuple(edge.source for edge in replaced),
        exit=replaced[0].target,
        window=window,
        stable=slot.stable if slot.stable is not None else window is EditWindow.AMEND_ONLY,
        replaced=tuple(edge.id for edge in replaced),
        label=slot.label,
        requires=slot.requires,
    )
