"""Ways to a settled state that ask nobody, beside others that ask people: one may be forgotten."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from signet.core.compiler.approval_paths import Weight, follow_paths
from signet.core.compiler.envelope import START, EnvelopeSlot
from signet.core.compiler.graph import Graph
from signet.core.compiler.parallel_blocks import Blocks
from signet.core.compiler.slot_graph import slot_out
from signet.core.contracts.contract import Contract
from signet.core.validation.finding import Finding, make_finding


def list_asking_gates(
    graph: Graph, blocks: Blocks, order: Sequence[str], slots: Mapping[str, EnvelopeSlot]
) -> frozenset[str]:
    """List the gates that use an approval on each way through the slot before them."""
    paths = follow_paths(graph, blocks, order, lambda _: Weight(1))
    filled = (slot for slot in slots.values() if slot_out(slot.id) in graph.nodes)
    return frozenset(slot.exit for slot in filled if paths.count_fewest(slot_out(slot.id)))


def list_free_nodes(graph: Graph, asked: Collection[str]) -> set[str]:
    """List the nodes that a document reaches without passing one of the gates that use an approval."""
    return _walk(graph, (START,), asked, ())


def check_free_ways(graph: Graph, asked: Collection[str], contract: Contract) -> Iterator[Finding]:
    """Check that no settled state is reached without the approvals that another way to it asks for."""
    states = {f"sys:state:{name}" for name, state in contract.states.items() if state.settled}
    ends = states.union(edge.target for edge in graph.outgoing[START])
    passed = [edge.target for gate in asked for edge in graph.outgoing[gate] if edge.on == "passed"]
    free, behind = list_free_nodes(graph, asked), _walk(graph, passed, (), states)
    for state in sorted(states & free & behind):
        gates = [name for name in sorted(free - behind) if _is_gate(graph, name) and name not in asked]
        leading = [name for name in gates if state in _walk(graph, (name,), asked, ends)]
        asking = [name for name in sorted(asked) if state in _walk(graph, (name,), (), ends)]
        if leading:
            named = {"free": ", ".join(leading), "asking": ", ".join(asking)}
            yield make_finding("APPROVAL_ON_ONE_WAY", state, state=state.rpartition(":")[2], **named)


def _walk(graph: Graph, begin: Iterable[str], shut: Collection[str], ends: Collection[str]) -> set[str]:
    """Return these nodes and all behind them; no way goes on through a shut gate, or behind an end."""
    seen: set[str] = set()
    ahead = list(begin)
    while ahead:
        node_id = ahead.pop()
        if node_id in seen:
            continue
        seen.add(node_id)
        if node_id not in ends:
            edges = graph.outgoing[node_id]
            ahead += [edge.target for edge in edges if node_id not in shut or edge.on != "passed"]
    return seen


def _is_gate(graph: Graph, node_id: str) -> bool:
    node = graph.nodes[node_id]
    return node.type == "lifecycle_gate" and node.config["kind"] != "interrupting"
