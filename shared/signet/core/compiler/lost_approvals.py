"""Approvals that a parallel branch without one can cancel: by winning an `any` join, or by leaving the block.

The author of a patch may accept it, by the name of the block's join. The artifact keeps what was accepted.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from signet.core.compiler.approval_paths import ApprovalPaths, Departure, Weight, follow_paths, is_free
from signet.core.compiler.graph import Graph
from signet.core.compiler.parallel_blocks import Blocks
from signet.core.compiler.patch import SlotPatch
from signet.core.compiler.rejection_edges import REJECTING
from signet.core.validation.finding import Finding, make_finding

_LEAVING = ("exit", "error")


@dataclass(frozen=True)
class LostApproval:
    """An approval that can be lost in the block of this join, and how."""

    join: str
    approval: str
    cause: str


def find_lost_approvals(graph: Graph, blocks: Blocks, order: Sequence[str]) -> list[LostApproval]:
    paths = follow_paths(graph, blocks, order, lambda node: Weight(1))
    asking = _find_asking(graph, blocks)
    found: dict[tuple[str, str], LostApproval] = {}
    for lost in (*_find_overtaken(paths, asking), *_find_left(paths, asking)):
        found.setdefault((lost.join, lost.approval), lost)
    return [found[key] for key in sorted(found)]


def check_lost_approvals(
    lost_approvals: Sequence[LostApproval], patches: Mapping[str, SlotPatch]
) -> Iterator[Finding]:
    """Check that every loss is accepted by name, and that nothing else is."""
    accepted = _list_accepted(patches)
    joins = {lost.join for lost in lost_approvals}
    for lost in lost_approvals:
        if lost.join not in accepted:
            join = lost.join.rsplit(":", 1)[-1]
            yield make_finding(
                "APPROVAL_CAN_BE_LOST", lost.join, approval=lost.approval, cause=lost.cause, join=join
            )
    for full, (slot, name) in accepted.items():
        if full not in joins:
            yield make_finding("ACCEPTANCE_UNUSED", slot, name=name)


def describe_accepted(lost_approvals: Sequence[LostApproval]) -> dict[str, list[str]]:
    """Return, for each join, the approvals that may be lost there, as the artifact keeps them."""
    accepted: dict[str, list[str]] = {}
    for lost in lost_approvals:
        accepted.setdefault(lost.join, []).append(lost.approval)
    return accepted


def _list_accepted(patches: Mapping[str, SlotPatch]) -> dict[str, tuple[str, str]]:
    """Return, by full id, the slot where a join is accepted and the name that the author gave it."""
    return {
        f"usr:{slot}:{name.removeprefix(f'usr:{slot}:')}": (slot, name)
        for slot, patch in sorted(patches.items())
        if patch.accepts is not None
        for name in patch.accepts.approval_can_be_lost
    }


def _find_asking(graph: Graph, blocks: Blocks) -> dict[str, dict[int, list[str]]]:
    """Return the approvals in each branch of each split."""
    asking: dict[str, dict[int, list[str]]] = {}
    for node in graph.nodes.values():
        if node.type == "approval":
            for split, branch in blocks.stacks[node.id]:
                asking.setdefault(split, {}).setdefault(branch, []).append(node.id)
    return asking


def _list_beside(asking: Mapping[str, Mapping[int, Sequence[str]]], split: str, branch: int) -> list[str]:
    others = asking.get(split, {})
    return [approval for other, held in others.items() if other != branch for approval in held]


def _find_overtaken(
    paths: ApprovalPaths, asking: Mapping[str, Mapping[int, Sequence[str]]]
) -> Iterator[LostApproval]:
    for join, by_branch in paths.arrivals.items():
        split = paths.blocks.split_of[join]
        if paths.graph.nodes[join].config["mode"] == "all":
            continue
        for branch, fewest in sorted(by_branch.items()):
            if is_free(fewest):
                first = paths.graph.outgoing[split][branch].target
                branch_name = f"the branch that begins at '{first}'" if first != join else "an empty branch"
                cause = f"{branch_name} can win '{join}' without an approval"
                for approval in _list_beside(asking, split, branch):
                    yield LostApproval(join, approval, cause)


def _find_left(
    paths: ApprovalPaths, asking: Mapping[str, Mapping[int, Sequence[str]]]
) -> Iterator[LostApproval]:
    for departure in paths.departures:
        if _is_way_round(paths, departure):
            edge, join = departure.edge, paths.blocks.join_of[departure.split]
            cause = f"the edge {edge.id} leaves the block without an approval"
            for approval in _list_beside(asking, departure.split, departure.branch):
                yield LostApproval(join, approval, cause)


def _is_way_round(paths: ApprovalPaths, departure: Departure) -> bool:
    """Return whether nobody is asked before the edge in its branch, nor after it up to the slot's end."""
    edge = departure.edge
    if edge.role not in _LEAVING or edge.on in REJECTING or not is_free(departure.fewest):
        return False
    waiting, seen = [edge.target], {edge.target}
    while waiting:
        node = paths.graph.nodes[waiting.pop()]
        if node.type == "slot_out":
            return True
        if node.type == "approval":
            continue
        onward = {e.target for e in paths.graph.outgoing[node.id] if e.on not in REJECTING} - seen
        seen |= onward
        waiting += onward
    return False
