"""The nodes that an operator may send an instance to, and what no operator goes around.

Behind a gate a call is made once, and a document is made once. An approval there is left by its decision
alone: nobody sends the instance past it, and nobody ends the instance before it. A token is sent back on the
way that it came, or to the state that its slot leads to.
"""

from collections.abc import Iterator, Sequence

from signet.core.compiler.slot_graph import slot_in, slot_out
from signet.core.contracts.contract import MAKING
from signet.core.documents.amendments import MOVEMENTS
from signet.core.errors import Rejected
from signet.core.runtime.execution import InstanceExecution
from signet.core.runtime.position import Token
from signet.core.runtime.resting_states import begins_amendments, find_beginning, state_node
from signet.core.runtime.workflow import Workflow

# The ways out of a state that wait for what is under way; an interrupt does not.
_LEADING_ON = frozenset({"requested", "automatic"})


def list_targets(execution: InstanceExecution, status: str) -> list[str]:
    """List the nodes that an operator may send the instance to, the nearest first.

    These are the beginnings of the slots that its tokens are in, and the states that they came from. Behind
    a gate it is the state that the slot leads to. Where the document was changed in spite of its window, all
    begins again at its state; what people have approved already is no such place.
    """
    found = _list_candidates(execution, status)
    if execution.projection.has_drifted:
        workflow, tokens = execution.workflow, execution.projection.position.at_work()
        is_approved = is_behind_gate(
            workflow, tokens, status, is_decided=execution.is_decided
        ) or workflow.is_approved(status, is_amendment=False)
        found = [] if is_approved else [node for node in found if node == state_node(status)]
    return [node for node in found if _find_bar(execution, status, node) is None]


def check_go_to(execution: InstanceExecution, status: str, node_id: str) -> Rejected | None:
    if node_id in _list_candidates(execution, status) and not execution.projection.has_drifted:
        return _find_bar(execution, status, node_id)
    targets = list_targets(execution, status)
    if node_id in targets:
        return None
    sentence = f"the instance cannot go to {node_id}: it lies ahead, or nothing leads from there"
    remedy = f"Go to one of these: {', '.join(targets)}." if targets else "Ask for a transition instead."
    return Rejected("INSTANCE_TARGET_NOT_POSSIBLE", sentence, remedy=remedy)


def check_approval_ahead(execution: InstanceExecution) -> Rejected | None:
    """Refuse to end an instance before an approval behind a gate, where its document could then go on.

    The next request would begin at the state behind that approval.
    """
    workflow = execution.workflow
    for slot in _list_slots(execution):
        ahead = find_approval_ahead(execution, slot)
        if ahead is not None and not _LEADING_ON.isdisjoint(workflow.nodes[_exit_of(workflow, slot)].edges):
            sentence = f"the instance cannot end: behind the gate the approval {ahead} is not decided"
            return _refuse_passing(sentence)
    return None


def find_undecided(execution: InstanceExecution) -> str | None:
    """Return an approval behind a gate that lies between a token and the state that its slot leads to."""
    found = (find_approval_ahead(execution, slot) for slot in _list_slots(execution))
    return next((approval for approval in found if approval is not None), None)


def is_behind_gate(workflow: Workflow, tokens: Sequence[Token], status: str, *, is_decided: bool) -> bool:
    """Return whether a token stands in a slot behind a gate, or its document was approved to come there.

    `is_decided` is what its record says. The definition says it too where each way there asks people.
    """
    slots = (workflow.content["slot_map"].get(token.node) for token in tokens)
    return (
        is_decided
        or workflow.is_behind_approvals(status)
        or any(slot is not None and _is_after_gate(workflow, slot) for slot in slots)
    )


def find_approval_ahead(execution: InstanceExecution, slot: str) -> str | None:
    """Find an approval that tokens in this slot have to pass; only slots behind gates have such approvals.

    Elsewhere the gate counts the votes, so that nothing passes it by another way.
    """
    workflow = execution.workflow
    slots = workflow.content["slot_map"]
    if not _is_after_gate(workflow, slot):
        return None
    left = [token.node for token in execution.projection.position.at_work() if slots.get(token.node) == slot]
    seen = set(left)
    while left:
        node = workflow.nodes[left.pop()]
        if node.type.name == "approval":
            return node.id
        targets = {edge.target for edges in node.edges.values() for edge in edges}
        new = {target for target in targets - seen if slots.get(target) == slot}
        seen |= new
        left.extend(sorted(new))
    return None


def _list_slots(execution: InstanceExecution) -> list[str]:
    slots = execution.workflow.content["slot_map"]
    found = (slots.get(token.node) for token in execution.projection.position.at_work())
    return list(dict.fromkeys(slot for slot in found if slot is not None))


def _list_candidates(execution: InstanceExecution, status: str) -> list[str]:
    """List the nodes on the way of the tokens, but for the states that they rest at."""
    workflow, tokens = execution.workflow, execution.projection.position.at_work()
    nodes = [slot_in(slot) for slot in _list_slots(execution)]
    nodes += [state for token in tokens for state in _list_states(workflow, token, status)]
    resting = {token.node for token in tokens if workflow.nodes[token.node].type.name == "state"}
    return [node for node in dict.fromkeys(nodes) if node in workflow.nodes and node not in resting]


def _list_states(workflow: Workflow, token: Token, status: str) -> Iterator[str]:
    """List the state that a token came from, and the one that its slot behind a gate leads to.

    A gate of several states does not say which one its token came from. Then it is the document's own,
    unless amendments have another beginning at the same status. An amendment whose original has moved on may
    begin again. There people edit it, so that it stands for the original as it is now.
    """
    slot = workflow.content["slot_map"].get(token.node)
    if slot is not None and _is_after_gate(workflow, slot):
        yield _exit_of(workflow, slot)
        return
    state = workflow.return_state_of(token.node)
    if state is not None:
        yield state
    elif not begins_amendments(workflow, status):
        yield state_node(status)
    if token.hold is not None and token.hold.reason.startswith(MOVEMENTS):
        yield find_beginning(workflow)


def _find_bar(execution: InstanceExecution, status: str, node_id: str) -> Rejected | None:
    """Find what keeps every operator from sending the instance to a node of its way."""
    workflow, slots = execution.workflow, _list_slots(execution)
    for slot in slots:
        ahead = find_approval_ahead(execution, slot)
        if ahead is not None and node_id == _exit_of(workflow, slot):
            sentence = (
                f"the instance cannot go to {node_id}: behind the gate the approval {ahead} is not decided"
            )
            return _refuse_passing(sentence)
    if slots and all(
        _is_after_gate(workflow, slot) and node_id == _exit_of(workflow, slot) for slot in slots
    ):
        return None  # it goes on, and nothing begins again
    repeated = sorted(_list_repeated(workflow, status, node_id, is_decided=execution.is_decided))
    if not repeated:
        return None
    sentence = (
        f"the instance cannot go to {node_id}: what was approved once could be done again by"
        f" {', '.join(repeated)}"
    )
    return Rejected("INSTANCE_TARGET_REPEATS", sentence, remedy="Retry what is held, or skip it.")


def _refuse_passing(sentence: str) -> Rejected:
    remedy = "Have it decided by those who were asked."
    return Rejected("INSTANCE_APPROVAL_AHEAD", sentence, remedy=remedy)


def _list_repeated(workflow: Workflow, status: str, node_id: str, *, is_decided: bool) -> Iterator[str]:
    """List the calls, and the actions that may make documents, that begin again at a node behind a gate.

    A state is left by a request, which asks again; where it is left by itself, its slot begins again.
    """
    slots = workflow.content["slot_map"]
    state = workflow.nodes[node_id].config.get("state", status)
    is_approved = workflow.is_behind_approvals(state) or (is_decided and state == status)
    edges = workflow.nodes[node_id].edges.get("automatic", ())
    begun = {slots.get(node) for node in (node_id, *(edge.target for edge in edges))} - {None}
    for name, node in workflow.nodes.items():
        slot = slots.get(name)
        if slot not in begun:
            continue
        if (is_approved or _is_after_gate(workflow, slot)) and has_lasting_effect(workflow, name):
            yield node.id


def has_lasting_effect(workflow: Workflow, node_id: str) -> bool:
    node = workflow.nodes[node_id]
    if node.type.name == "action":
        return workflow.actions[node.config["action"]].kind in MAKING
    return node.type.name == "webhook_out"


def list_renamed(old: Workflow, new: Workflow) -> tuple[list[str], list[str]]:
    """List the acting nodes that are gone, and those that are new: each may be one of the others renamed."""
    before, after = (
        {node_id for node_id in workflow.nodes if has_lasting_effect(workflow, node_id)}
        for workflow in (old, new)
    )
    return sorted(before - new.nodes.keys()), sorted(after - old.nodes.keys())


def _is_after_gate(workflow: Workflow, slot: str) -> bool:
    return workflow.return_state_of(slot_in(slot)) == slot_in(slot)


def _exit_of(workflow: Workflow, slot: str) -> str:
    return workflow.nodes[slot_out(slot)].edges["done"][0].target
