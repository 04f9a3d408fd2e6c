"""The approvals that a contract requires of a slot, checked against every path that a patch draws through it.

Only what holds for good is counted. Of `quorum: all` that is one approval, for people may abstain. A chain
proves one, since its next version may ask fewer people. An escalation proves one, by those it goes to.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from math import inf
from typing import Any

from signet.core.compiler.approval_paths import Weight, follow_paths
from signet.core.compiler.envelope import EnvelopeSlot
from signet.core.compiler.graph import Graph, Node
from signet.core.compiler.parallel_blocks import Blocks
from signet.core.compiler.slot_graph import slot_in, slot_out
from signet.core.contracts.contract import RequiredApprovals
from signet.core.validation.finding import Finding, make_finding


def check_requirements(
    graph: Graph,
    blocks: Blocks,
    order: Sequence[str],
    slots: Mapping[str, EnvelopeSlot],
    *,
    is_bare: bool,
) -> Iterator[Finding]:
    """Check each slot of which the contract requires approvals; the bare envelope only waits for a patch."""
    for slot in slots.values():
        if slot.requires is None:
            continue
        wanted = describe_requirement(slot.requires)
        if slot_in(slot.id) not in graph.nodes:
            code = "REQUIRED_SLOT_WAITS" if is_bare else "REQUIRED_SLOT_EMPTY"
            yield make_finding(code, slot.id, wanted=wanted)
            continue
        paths = follow_paths(graph, blocks, order, partial(_weigh_node, requires=slot.requires))
        proven = paths.count_fewest(slot_out(slot.id))
        if proven is not None and proven < slot.requires.approvals:
            yield make_finding("REQUIRED_APPROVALS_MISSING", slot.id, wanted=wanted, proven=proven)
        if slot.requires.distinct:
            yield from _check_distinct(graph, slot.id)


def list_shut_gates(graph: Graph, slots: Mapping[str, EnvelopeSlot]) -> dict[str, str]:
    """Return the gates that nothing passes, each with its empty slot that wants approvals."""
    empty = (slot for slot in slots.values() if slot.requires is not None)
    return {slot.exit: slot.id for slot in empty if slot_in(slot.id) not in graph.nodes}


def describe_requirement(requires: RequiredApprovals) -> str:
    count = "1 approval" if requires.approvals == 1 else f"{requires.approvals} approvals"
    people = " by distinct persons" if requires.distinct else ""
    role = f" from seats of the role '{requires.role}'" if requires.role is not None else ""
    return f"at least {count}{people}{role}"


def _weigh_node(node: Node, requires: RequiredApprovals) -> Weight:
    return weigh_approval(node.config, requires)


def weigh_approval(config: Mapping[str, Any], requires: RequiredApprovals) -> Weight:
    """Return how many of the required approvals a node with this configuration proves."""
    if config["chain"] is not None:
        # Nobody knows whose seats a chain's next version has. Two chains may both allow the same person.
        counted = 0 if requires.role is not None or requires.distinct else 1
        return Weight(counted, is_chain=requires.role is None and requires.distinct)
    proven = _count_asked(config["approvers"], config["quorum"], requires.role)
    if config["escalate"] is not None:
        proven = min(proven, int(_is_of_role(config["escalate"]["to"], requires.role)))
    return Weight(proven)


def _count_asked(approvers: Sequence[Mapping[str, Any]], quorum: str | int, role: str | None) -> int:
    """Return how many approvals of the role the stage cannot do without."""
    outsiders = sum(_count_seats(person) for person in approvers if not _is_of_role(person, role))
    return int(max(0, (quorum if isinstance(quorum, int) else 1) - outsiders))


def _count_seats(person: Mapping[str, Any]) -> float:
    return inf if person["by"] == "expression" else 1


def _is_of_role(person: Mapping[str, Any], role: str | None) -> bool:
    return role is None or role == person.get("role") or role == person.get("who")


def _check_distinct(graph: Graph, slot: str) -> Iterator[Finding]:
    for node in graph.nodes.values():
        if node.provenance == slot and node.config.get("same_person") is not None:
            yield make_finding("REQUIRED_DISTINCT", node.id, slot=slot)
