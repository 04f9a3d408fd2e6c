"""Checks of who decides: conditions that only the system answers, and seats that a requester could fill.

And of who goes around it: actions that people may run by hand before the approval, and ways that ask nobody.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from signet.core.compiler.approval_paths import Weight, follow_paths
from signet.core.compiler.envelope import START, EnvelopeSlot, state_node
from signet.core.compiler.graph import Graph, Node
from signet.core.compiler.parallel_blocks import Blocks
from signet.core.compiler.rejection_edges import REJECTING
from signet.core.compiler.slot_graph import slot_in, slot_out
from signet.core.contracts.contract import MAKING, Contract, EditWindow
from signet.core.contracts.expression_scope import reads_actor
from signet.core.contracts.guarded_states import follow_rejection
from signet.core.expressions import ExpressionError, list_variables, parse_expression
from signet.core.validation.finding import Finding, make_finding
from signet.core.validation.strict_model import point

# A caller sets every declared field when they create a document, and chooses what a ref names. So of the
# document only these are locked. Settings, and the person who asked, no caller of a document can set.
_LOCKED_FIELDS = frozenset({"id", "creator", "created_at"})
# Where nothing outside fails.
FAILING_WITHIN = ("action", "script")
_LOCKED_ROOTS = frozenset({"org", "actor", "now"})
_FILTER = "Add 'who' with the role whose holders may decide, or take the people from the tenant's settings."
_LOCKED_PERSON = "Name actor.user_id or entity.creator, or ask a role."


def check_actor_conditions(
    graph: Graph, slots: Mapping[str, EnvelopeSlot], *, is_bare: bool
) -> Iterator[Finding]:
    """Check that no condition reads `actor` where the system acts and nobody votes."""
    for node in graph.nodes.values():
        if node.type == "policy_gate" and node.config["run_as"] == "system":
            way = "Run it as the person (run_as: actor), or take the actor out of the condition."
            yield from _check_text(
                node, "permission_condition", node.id, "in a step that runs as the system,", way
            )
        if node.type == "lifecycle_gate" and node.config["kind"] == "automatic":
            yield from _check_gate(graph, slots, node, is_bare=is_bare)


def _check_gate(
    graph: Graph, slots: Mapping[str, EnvelopeSlot], gate: Node, *, is_bare: bool
) -> Iterator[Finding]:
    where, permission = (
        f"at the automatic transition '{gate.config['transition']}'",
        gate.config["permission"],
    )
    way = f"Ask it of those who vote: put it into 'conditions' under '{permission}'."
    yield from _check_text(gate, "condition", gate.id, where, way)
    slot = next((slot for slot in slots.values() if slot.exit == gate.id), None)
    if slot is not None and _asks_anybody(graph, slot):
        return
    if slot is not None and is_bare:
        text = gate.config["permission_condition"]
        if text is not None and reads_actor(text):
            transition = gate.config["transition"]
            yield make_finding("ACTOR_NOT_ASKED_YET", slot.id, text=text, transition=transition)
        return
    place = slot.id if slot is not None else gate.id
    way = "Put an approval before it, or take the actor out of the condition."
    yield from _check_text(gate, "permission_condition", place, f"{where}, which asks for no approval,", way)


def _check_text(node: Node, key: str, place: str, where: str, way: str) -> Iterator[Finding]:
    text = node.config[key]
    if text is not None and reads_actor(text):
        yield make_finding("ACTOR_IS_SYSTEM", place, text=text, where=where, way=way)


def _asks_anybody(graph: Graph, slot: EnvelopeSlot) -> bool:
    return slot_out(slot.id) in graph.nodes and any(
        node.type == "approval" and node.provenance == slot.id for node in graph.nodes.values()
    )


def check_seats(graph: Graph) -> Iterator[Finding]:
    """Check that nobody can write into their document who is to decide about it."""
    for node in graph.nodes.values():
        if node.type == "approval":
            for index, person in enumerate(node.config["approvers"]):
                yield from check_seat(person, f"{node.id}/approvers/{index}")
            if node.config["escalate"] is not None:
                yield from check_seat(node.config["escalate"]["to"], f"{node.id}/escalate/to")


def check_seat(person: Mapping[str, Any], place: str) -> Iterator[Finding]:
    """Check one approver. An expression that does not parse is a finding of another check."""
    key, way = {"expression": ("expression", _FILTER), "manager": ("of", _LOCKED_PERSON)}.get(
        person["by"], ("", "")
    )
    if not key or person.get("who") is not None:
        return
    parsed = parse_expression(person[key])
    if isinstance(parsed, ExpressionError):
        return
    open_names = (name.text for name in list_variables(parsed) if not _is_locked(name.path))
    name = next(open_names, None)
    if name is not None:
        yield make_finding("SEAT_NOT_LOCKED", f"{place}/{key}", text=person[key], name=name, way=way)


def _is_locked(path: tuple[str, ...]) -> bool:
    return path[0] in _LOCKED_ROOTS or (path[0] == "entity" and path[1:2] != () and path[1] in _LOCKED_FIELDS)


def check_open_actions(
    graph: Graph,
    blocks: Blocks,
    order: Sequence[str],
    slots: Mapping[str, EnvelopeSlot],
    contract: Contract,
) -> Iterator[Finding]:
    """Check that people cannot do by hand, before an approval, what steps do behind one alone.

    An action that sets fields is held by the edit window. One that makes documents goes through in every
    status. Of an action that no step runs nothing says when it is meant to be run.
    """
    paths = follow_paths(graph, blocks, order, lambda _: Weight(1))
    free = _list_free_nodes(graph, list_asking_gates(graph, blocks, order, slots))
    for name, action in contract.actions.items():
        permission = action.permission or f"{contract.contract}:{name}"
        if action.kind == "update" or _reads_status(contract.conditions.get(permission)):
            continue
        steps = [node for node in graph.nodes.values() if _is_policy_of(node, name)]
        is_asked = all(slot_in(step.provenance) not in free or paths.count_fewest(step.id) for step in steps)
        if steps and is_asked:
            place = steps[0].id
            yield make_finding("ACTION_OPEN_BEFORE_APPROVAL", place, action=name, permission=permission)


def check_error_edges(graph: Graph, contract: Contract) -> Iterator[Finding]:
    """Check that no edge takes an error that is held: nothing outside fails there, and people decide.

    An edge that is taken is named, where an approval is left out by it.
    """
    actions = {str(node.config["action"]) for node in graph.nodes.values() if node.type == "action"}
    kinds = {contract.actions[name].kind for name in actions & contract.actions.keys()}
    if not is_left_to_people({node.type for node in graph.nodes.values()}, kinds, contract):
        return
    asking = [_Asking.find(graph, node) for node in graph.nodes.values() if node.type == "approval"]
    for node in graph.nodes.values():
        failing = {edge.target for edge in graph.outgoing[node.id] if edge.on == "error"}
        others = {edge.target for edge in graph.outgoing[node.id] if edge.on != "error"}
        passed = [approval.id for approval in asking if approval.rate(others) > approval.rate(failing)]
        if failing and node.type in FAILING_WITHIN:
            yield make_finding("ERROR_EDGE_NOT_TAKEN", node.id)
        elif failing and passed:
            yield make_finding("ERROR_EDGE_PASSES_APPROVAL", node.id, passed=", ".join(passed))


@dataclass(frozen=True)
class _Asking:
    """An approval, with the nodes of its slot that lead to it, and those that lead around it to the end.

    A rejection is no way around it. The sets are made once: many calls before many approvals cost little.
    """

    id: str
    leading: frozenset[str]
    around: frozenset[str]

    @staticmethod
    def find(graph: Graph, approval: Node) -> "_Asking":
        leading = _list_before(graph, approval.id, None)
        around = _list_before(graph, slot_out(approval.provenance), approval.id)
        return _Asking(approval.id, leading, around)

    def rate(self, begin: Collection[str]) -> int:
        """Return 0 where no way from these nodes asks the approval, 1 where some do, and 2 where all do."""
        if self.leading.isdisjoint(begin):
            return 0
        return 2 if self.around.isdisjoint(begin) else 1


def _list_before(graph: Graph, node_id: str, shut: str | None) -> frozenset[str]:
    """List a node and all of its slot before it; no way leads through the shut node, or by a rejection."""
    slot = graph.nodes[node_id].provenance
    seen: set[str] = set()
    waiting = [node_id]
    while waiting:
        found = waiting.pop()
        if found in seen or found == shut or graph.nodes[found].provenance != slot:
            continue
        seen.add(found)
        waiting += [edge.source for edge in graph.incoming[found] if edge.on not in REJECTING]
    return frozenset(seen)


def is_left_to_people(types: Collection[str], kinds: Collection[str], contract: Contract | None) -> bool:
    """Return whether people may decide, by the types of the nodes and the kinds of the actions that they run.

    They are asked about the document, or about one that it makes, or decide by their request.
    """
    is_deciding = contract is not None and bool(contract.separation_of_duties.deciding)
    return is_deciding or "approval" in types or any(kind in MAKING for kind in kinds)


def _is_policy_of(node: Node, action: str) -> bool:
    return node.type == "policy_gate" and node.config["action"] == action


def list_asking_gates(
    graph: Graph, blocks: Blocks, order: Sequence[str], slots: Mapping[str, EnvelopeSlot]
) -> frozenset[str]:
    """List the gates that use an approval on each way through the slot before them."""
    paths = follow_paths(graph, blocks, order, lambda _: Weight(1))
    filled = (slot for slot in slots.values() if slot_out(slot.id) in graph.nodes)
    return frozenset(slot.exit for slot in filled if paths.count_fewest(slot_out(slot.id)))


def _list_free_nodes(graph: Graph, asked: Collection[str]) -> set[str]:
    """List the nodes that a document reaches without passing one of the gates that use an approval."""
    return _walk(graph, (START,), asked, ())


def check_free_ways(graph: Graph, asked: Collection[str], contract: Contract) -> Iterator[Finding]:
    """Check that no settled state is reached without the approvals that another way to it asks for."""
    states = {f"sys:state:{name}" for name, state in contract.states.items() if state.settled}
    ends = states.union(edge.target for edge in graph.outgoing[START])
    passed = [edge.target for gate in asked for edge in graph.outgoing[gate] if edge.on == "passed"]
    free, behind = _list_free_nodes(graph, asked), _walk(graph, passed, (), states)
    for state in sorted(states & free & behind):
        gates = [name for name in sorted(free - behind) if _is_gate(graph, name) and name not in asked]
        leading = [name for name in gates if state in _walk(graph, (name,), asked, ends)]
        asking = [name for name in sorted(asked) if state in _walk(graph, (name,), (), ends)]
        if leading:
            named = {"free": ", ".join(leading), "asking": ", ".join(asking)}
            yield make_finding("APPROVAL_ON_ONE_WAY", state, state=state.rpartition(":")[2], **named)


def check_windows_behind(
    graph: Graph, slots: Mapping[str, EnvelopeSlot], contract: Contract
) -> Iterator[Finding]:
    """Check that nobody edits, behind approvals, what was approved; the contract may accept it.

    An approval that a condition may leave out counts too: some documents were approved to come there. So does
    a request that decides.
    """
    deciding = contract.separation_of_duties.deciding
    asked = [slot.exit for slot in slots.values() if _asks_anybody(graph, slot)]
    asked += [name for name in graph.nodes if _decides(graph, name, deciding)]
    free = _list_free_nodes(graph, asked)
    for name, state in contract.states.items():
        is_editable = state.edit is EditWindow.EDITABLE and state.after_approval is None
        if is_editable and state_node(name) not in free:
            yield make_finding("EDITABLE_BEHIND_APPROVAL", state_node(name), state=name)


def check_rejections(graph: Graph, asked: Collection[str], contract: Contract) -> Iterator[Finding]:
    """Check that what people have rejected leads back, or to an end."""
    gates = (graph.nodes[name] for name in asked if _is_gate(graph, name))
    for name in sorted({gate.config["transition"] for gate in gates}):
        reached = ", ".join(sorted(follow_rejection(contract, name).states))
        if reached:
            place = point(("transitions", name, "rejected_to"))
            yield make_finding("REJECTION_LEADS_ON", place, transition=name, reached=reached)


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


def _decides(graph: Graph, node_id: str, deciding: Collection[str]) -> bool:
    node = graph.nodes[node_id]
    return node.type == "lifecycle_gate" and node.config["transition"] in deciding


def _reads_status(condition: str | None) -> bool:
    parsed = parse_expression(condition) if condition is not None else None
    if parsed is None or isinstance(parsed, ExpressionError):
        return False
    return any(name.path[:2] == ("entity", "status") for name in list_variables(parsed))
