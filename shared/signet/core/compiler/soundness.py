"""Checks of the whole graph before it runs: every node can be reached, can finish and cannot deadlock."""

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from signet.core.compiler.envelope import END, START, Envelope
from signet.core.compiler.graph import ENVELOPE, Edge, Graph
from signet.core.compiler.merge import policy_node
from signet.core.compiler.node_types import NODE_TYPES
from signet.core.compiler.parallel_blocks import Blocks
from signet.core.contracts.contract import CHANGING, Contract
from signet.core.expressions import Expression, RangeFindingKind, Scope, find_gaps_and_overlaps
from signet.core.validation.finding import Finding, make_finding

MAX_SHOWN_PATH = 20
# Beside a single condition the default edge is simply the other case.
MIN_CONDITIONS = 2
# Outcomes that come only with one of these settings in the configuration.
_NEEDS_SETTING: Mapping[str, Mapping[str, Sequence[str]]] = {
    "wait_event": {"timeout": ("timeout",)},
    "approval": {"expired": ("expire_after", "chain")},
}


def sort_topologically(graph: Graph) -> tuple[tuple[str, ...], tuple[Finding, ...]]:
    """Return the nodes in the order of all edges but returns.

    Among equals the smaller id is first (WF-13).
    """
    waiting_for = {
        node_id: sum(1 for edge in edges if edge.role != "return")
        for node_id, edges in graph.incoming.items()
    }
    ready = [node_id for node_id in graph.nodes if waiting_for[node_id] == 0]
    heapq.heapify(ready)
    order: list[str] = []
    while ready:
        node_id = heapq.heappop(ready)
        order.append(node_id)
        for edge in graph.outgoing[node_id]:
            if edge.role == "return":
                continue
            waiting_for[edge.target] -= 1
            if waiting_for[edge.target] == 0:
                heapq.heappush(ready, edge.target)
    if len(order) == len(graph.nodes):
        return tuple(order), ()
    cycle = _find_cycle(graph, set(graph.nodes) - set(order))
    shown = cycle if len(cycle) <= MAX_SHOWN_PATH else [*cycle[:MAX_SHOWN_PATH], "…"]
    return tuple(order), (make_finding("CYCLE", min(cycle), path=" → ".join(shown)),)


def _find_cycle(graph: Graph, left: set[str]) -> list[str]:
    """Return a cycle among the nodes left over.

    Each of them has a predecessor left over, so going backwards must come round.
    """
    node_id = min(left)
    seen: dict[str, int] = {}
    path: list[str] = []
    while node_id not in seen:
        seen[node_id] = len(path)
        path.append(node_id)
        node_id = min(
            edge.source for edge in graph.incoming[node_id] if edge.role != "return" and edge.source in left
        )
    cycle = path[seen[node_id] :][::-1]
    begin = cycle.index(min(cycle))
    cycle = cycle[begin:] + cycle[:begin]
    return [*cycle, cycle[0]]


def check_reachability(graph: Graph) -> Iterator[Finding]:
    from_start = _reach(
        START, {node_id: [e.target for e in edges] for node_id, edges in graph.outgoing.items()}
    )
    to_end = _reach(END, {node_id: [e.source for e in edges] for node_id, edges in graph.incoming.items()})
    for node_id in graph.nodes:
        if node_id not in from_start:
            yield make_finding("UNREACHABLE", node_id)
        elif node_id not in to_end:
            yield make_finding("DEAD_END", node_id)


def _reach(begin: str, neighbours: Mapping[str, Sequence[str]]) -> set[str]:
    seen, stack = {begin}, [begin]
    while stack:
        for node_id in neighbours[stack.pop()]:
            if node_id not in seen:
                seen.add(node_id)
                stack.append(node_id)
    return seen


def check_paths_on(graph: Graph) -> Iterator[Finding]:
    """Check that each outcome has exactly one edge, or a choice with a default."""
    for node in graph.nodes.values():
        node_type = NODE_TYPES[node.type]
        groups: dict[str, list[Edge]] = {}
        for edge in graph.outgoing[node.id]:
            groups.setdefault(edge.on, []).append(edge)
        required = [on for on in node_type.outcomes if on not in node_type.optional_outcomes]
        if node.type == "wait_event" and node.config.get("timeout") is not None:
            required.append("timeout")
        for outcome in required:
            if outcome not in groups and (node.type, outcome) != ("start", "amended"):
                yield make_finding("OUTCOME_WITHOUT_EDGE", node.id, outcome=outcome)
        for outcome, settings in _NEEDS_SETTING.get(node.type, {}).items():
            if outcome in groups and all(node.config.get(setting) is None for setting in settings):
                yield make_finding("OUTCOME_NEVER_COMES", node.id, outcome=outcome, setting=settings[0])
        if node.type == "state":
            continue  # each edge out of a state is a transition of its own
        for outcome, edges in groups.items():
            yield from _check_choice(node.id, node.type, outcome, edges)


def _check_choice(node_id: str, node_type: str, outcome: str, edges: Sequence[Edge]) -> Iterator[Finding]:
    conditional = [edge for edge in edges if edge.condition is not None]
    defaults = [edge for edge in edges if edge.condition is None]
    if node_type == "parallel_split":
        for edge in conditional:
            yield make_finding("EDGE_CONDITION_ON_SPLIT", edge.id)
    elif len(defaults) > 1:
        yield make_finding("SEVERAL_EDGES_WITHOUT_CHOICE", node_id, count=len(defaults), outcome=outcome)
    elif conditional and not defaults:
        yield make_finding("BRANCH_WITHOUT_DEFAULT", node_id, outcome=outcome)


def check_condition_coverage(
    node_id: str, edges: Sequence[Edge], conditions: Mapping[str, Expression], scope: Scope
) -> Iterator[Finding]:
    """Check sibling conditions on one variable: exactly one of them should cover each value."""
    by_outcome = sorted(edges, key=lambda edge: edge.on)
    for _, siblings in groupby(by_outcome, key=lambda edge: edge.on):
        parsed = [conditions[edge.id] for edge in siblings if edge.id in conditions]
        if len(parsed) < MIN_CONDITIONS:
            continue
        reported: set[RangeFindingKind] = set()
        for example in find_gaps_and_overlaps(parsed, scope):
            if example.kind in reported:
                continue  # One example of each kind is enough for an author to look again.
            reported.add(example.kind)
            code = "CONDITIONS_LEAVE_GAP" if example.kind is RangeFindingKind.GAP else "CONDITIONS_OVERLAP"
            yield make_finding(code, node_id, variable=example.variable, example=example.example)


def check_approved_content(graph: Graph, blocks: Blocks, contract: Contract) -> Iterator[Finding]:
    """Check that no action changes the document beside or after an approval, or after a request that decides.

    What was decided is then what is activated.
    """
    actions = {
        node.id
        for node in graph.nodes.values()
        if node.type == "action" and changes_document(contract, str(node.config.get("action", "")))
    }
    approvals = [node.id for node in graph.nodes.values() if node.type == "approval"]
    for approval, action in _find_after(graph, approvals, actions):
        yield make_finding("ACTION_AFTER_APPROVAL", action, approval=approval)
    for approval, action in _find_beside(blocks, approvals, actions):
        yield make_finding("ACTION_BESIDE_APPROVAL", action, approval=approval)
    for gate in (node for node in graph.nodes.values() if node.type == "lifecycle_gate"):
        transition = str(gate.config["transition"])
        if transition in contract.separation_of_duties.deciding:
            for action in sorted(actions & _find_before_gates(graph, [gate.id])):
                yield make_finding("ACTION_AFTER_REQUEST", action, transition=transition)


def changes_document(contract: Contract, action: str) -> bool:
    declared = contract.actions.get(action)
    return declared is not None and declared.kind in CHANGING


def _find_after(graph: Graph, approvals: Sequence[str], actions: set[str]) -> Iterator[tuple[str, str]]:
    """Yield actions between an approval that said yes and the gate, by one walk from all approvals at once.

    Behind the gate, and in an automation, no approval's decision is still to be used.
    """
    gates = [node.id for node in graph.nodes.values() if node.type == "lifecycle_gate"]
    before_gate = _find_before_gates(graph, gates)
    reached_from: dict[str, str] = {}
    stack = [
        (edge.target, approval)
        for approval in approvals
        for edge in graph.outgoing[approval]
        if edge.on == "approved"
    ]
    while stack:
        node_id, approval = stack.pop()
        if node_id in reached_from or node_id not in before_gate:
            continue
        reached_from[node_id] = approval
        stack.extend((edge.target, approval) for edge in graph.outgoing[node_id])
    for action in sorted(actions & reached_from.keys()):
        yield reached_from[action], action


def _find_before_gates(graph: Graph, gates: Iterable[str]) -> set[str]:
    """Return every node in a slot from which one of the gates is the next node of the envelope."""
    stack = list(gates)
    before: set[str] = set()
    while stack:
        for edge in graph.incoming[stack.pop()]:
            if edge.source not in before and graph.nodes[edge.source].provenance != ENVELOPE:
                before.add(edge.source)
                stack.append(edge.source)
    return before


def _find_beside(
    blocks: Blocks, approvals: Iterable[str], actions: Iterable[str]
) -> Iterator[tuple[str, str]]:
    approval_of_branch: dict[str, dict[int, str]] = {}
    for approval in sorted(approvals):
        for split, branch in blocks.stacks.get(approval, ()):
            approval_of_branch.setdefault(split, {}).setdefault(branch, approval)
    for action in sorted(actions):
        for split, branch in blocks.stacks.get(action, ()):
            beside = [
                approval
                for other, approval in sorted(approval_of_branch.get(split, {}).items())
                if other != branch
            ]
            if beside:
                yield beside[0], action
                break


def check_envelope(given: Envelope, expected: Envelope) -> Iterator[Finding]:
    """Check that the envelope is the one that follows from its contract (WF-08)."""
    for code, actual, right in [
        ("SYSTEM_NODE_ALTERED", given.graph.nodes, expected.graph.nodes),
        ("SYSTEM_EDGE_ALTERED", given.graph.edges, expected.graph.edges),
        ("SYSTEM_SLOT_ALTERED", given.slots, expected.slots),
    ]:
        for name in sorted(actual.keys() | right.keys()):
            if actual.get(name) != right.get(name):
                yield make_finding(code, name)


def check_integrity(envelope: Graph, graph: Graph, order: Sequence[str]) -> Iterator[Finding]:
    """Check that every system node is there as the envelope made it, in the envelope's order (WF-08)."""
    position = {node_id: index for index, node_id in enumerate(order)}
    for node in envelope.nodes.values():
        kept = graph.nodes.get(node.id)
        if kept is None or (kept.type, kept.config, kept.window) != (node.type, node.config, node.window):
            yield make_finding("SYSTEM_NODE_ALTERED", node.id)
    for edge in envelope.edges.values():
        if edge.role != "return" and edge.source in position and edge.target in position:
            if position[edge.source] >= position[edge.target]:
                yield make_finding("SYSTEM_ORDER_ALTERED", edge.target)
    for node in graph.nodes.values():
        if node.type == "action":
            sources = {edge.source for edge in graph.incoming[node.id]}
            if sources != {policy_node(node.id)}:
                yield make_finding("POLICY_GATE_MISSING", node.id)
        if not node.window:
            yield make_finding("WINDOW_UNASSIGNED", node.id)
