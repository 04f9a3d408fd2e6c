"""Parallel blocks: each join closes one split, and no edge enters or leaves a block sideways.

Nodes are visited in topological order, each with the stack of blocks around it: `(split, branch)` from the
outside in. A branch may leave its block early only by an `exit` or `error` edge or a rejection, which cancels
the block's other tokens.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from signet.core.compiler.graph import Edge, Graph
from signet.core.compiler.node_configurations import MAX_BRANCHES
from signet.core.compiler.rejection_edges import REJECTING
from signet.core.validation.finding import Finding, make_finding

MAX_BLOCK_DEPTH = 50
# Fewer than the live tokens that an instance may have, so all branches may run at once.
MAX_BRANCHES_IN_ALL = 900

Stack = tuple[tuple[str, int], ...]


@dataclass
class Blocks:
    stacks: dict[str, Stack] = field(default_factory=dict)
    join_of: dict[str, str] = field(default_factory=dict)
    split_of: dict[str, str] = field(default_factory=dict)
    branch_count: dict[str, int] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    def find_innermost_join(self, node_id: str) -> str | None:
        stack = self.stacks.get(node_id, ())
        return self.join_of.get(stack[-1][0]) if stack else None


def find_blocks(graph: Graph, order: Sequence[str]) -> Blocks:
    blocks = Blocks()
    branches = _number_branches(graph, blocks)
    ahead = _JoinsAhead(graph, order)
    for node_id in order:
        arriving = [
            edge for edge in graph.incoming[node_id] if edge.role != "return" and edge.source in blocks.stacks
        ]
        stacks = {edge.id: _stack_along(edge, blocks, branches) for edge in arriving}
        if graph.nodes[node_id].type == "parallel_join":
            blocks.stacks[node_id] = _close_block(graph, blocks, node_id, arriving, stacks)
        else:
            blocks.stacks[node_id] = _agree_on_stack(blocks, ahead, node_id, arriving, stacks)
    _check_splits(blocks)
    return blocks


def _number_branches(graph: Graph, blocks: Blocks) -> dict[str, int]:
    branches: dict[str, int] = {}
    for node in graph.nodes.values():
        if node.type == "parallel_split":
            outgoing = graph.outgoing[node.id]
            blocks.branch_count[node.id] = len(outgoing)
            branches.update({edge.id: index for index, edge in enumerate(outgoing)})
            blocks.findings.extend(_check_split(node.id, outgoing))
    if len(branches) > MAX_BRANCHES_IN_ALL:
        what, limit = "branches of parallel splits", MAX_BRANCHES_IN_ALL
        blocks.findings.append(
            make_finding("LIMIT_EXCEEDED", "/", what=what, count=len(branches), limit=limit)
        )
    return branches


def _check_split(split: str, outgoing: Sequence[Edge]) -> Iterator[Finding]:
    if len(outgoing) < 2:
        yield make_finding("SPLIT_TOO_FEW", split, count=len(outgoing))
    if len(outgoing) > MAX_BRANCHES:
        yield make_finding("LIMIT_EXCEEDED", split, what="branches", count=len(outgoing), limit=MAX_BRANCHES)
    for edge in outgoing:
        if edge.role == "exit":
            yield make_finding("EXIT_FROM_SPLIT", edge.id)


def _stack_along(edge: Edge, blocks: Blocks, branches: Mapping[str, int]) -> Stack:
    stack = blocks.stacks[edge.source]
    return (*stack, (edge.source, branches[edge.id])) if edge.id in branches else stack


def _leaves_early(edge: Edge) -> bool:
    return edge.role in ("exit", "error") or edge.on in REJECTING


class _JoinsAhead:
    """The joins ahead of each node, as bit masks in their order. They tell which edge breaks a block."""

    def __init__(self, graph: Graph, order: Sequence[str]) -> None:
        self._graph, self._order = graph, order

    @cached_property
    def _masks(self) -> Mapping[str, int]:
        masks: dict[str, int] = {}
        bits = {
            n: 1 << at for at, n in enumerate(self._order) if self._graph.nodes[n].type == "parallel_join"
        }
        for node_id in reversed(self._order):
            mask = bits.get(node_id, 0)
            for edge in self._graph.outgoing[node_id]:
                if edge.role != "return" and not _leaves_early(edge):
                    mask |= masks[edge.target]
            masks[node_id] = mask
        return masks

    def is_inside(self, node_id: str, split: str) -> bool:
        """Return whether the node leads to the split's join: the first one that all its branches lead to."""
        common = ~0
        for edge in self._graph.outgoing[split]:
            common &= self._masks[edge.target]
        join = common & -common
        return bool(join & self._masks[node_id])


def _agree_on_stack(
    blocks: Blocks, ahead: _JoinsAhead, node_id: str, arriving: Sequence[Edge], stacks: Mapping[str, Stack]
) -> Stack:
    """Return the one stack of a node where several edges meet. Early leavers come from further in."""
    candidates = {stacks[edge.id] for edge in arriving if not _leaves_early(edge)}
    candidates = candidates or {_after_leaving(edge, stacks[edge.id]) for edge in arriving}
    if len(candidates) > 1:
        # One of them is wrong. The joins ahead of the node tell in which block it is.
        begun = [stacks[e.id] for e in arriving if stacks[e.id][-1:] and stacks[e.id][-1][0] == e.source]
        inside = {stack for stack in begun or candidates if stack and ahead.is_inside(node_id, stack[-1][0])}
        candidates = inside or {min(candidates, key=lambda stack: (len(stack), stack))}
    stack = max(candidates, key=lambda stack: (len(stack), stack), default=())
    for edge in arriving:
        _check_path(blocks, edge, stacks[edge.id], stack, early=_leaves_early(edge))
    return stack


def _after_leaving(edge: Edge, stack: Stack) -> Stack:
    # An exit leaves its innermost block. An error is handled where it happened unless an edge leads further.
    return stack[:-1] if edge.role == "exit" else stack


def _check_path(blocks: Blocks, edge: Edge, source: Stack, target: Stack, *, early: bool) -> None:
    if source == target:
        if edge.role == "exit" and edge.on not in REJECTING:
            blocks.findings.append(make_finding("EXIT_OUTSIDE_BLOCK", edge.id))
    elif target == source[: len(target)]:
        if not early:
            blocks.findings.append(make_finding("BLOCK_LEFT_SIDEWAYS", edge.id, split=source[len(target)][0]))
    else:
        shared = _common_length(source, target)
        blocks.findings.append(make_finding("BLOCK_ENTERED_SIDEWAYS", edge.id, split=target[shared][0]))


def _common_length(stack: Stack, other: Stack) -> int:
    length = 0
    while length < min(len(stack), len(other)) and stack[length] == other[length]:
        length += 1
    return length


def _close_block(
    graph: Graph, blocks: Blocks, join: str, arriving: Sequence[Edge], stacks: Mapping[str, Stack]
) -> Stack:
    inside = [stacks[edge.id] for edge in arriving if stacks[edge.id]]
    if not inside:
        blocks.findings.append(make_finding("JOIN_WITHOUT_SPLIT", join))
        return ()
    # Early leavers of an inner block may arrive from deeper in; the join closes the shallowest block.
    closing = min(inside, key=lambda s: (len(s), s))
    split, outer = closing[-1][0], closing[:-1]
    if split in blocks.join_of:
        blocks.findings.append(make_finding("SPLIT_WITHOUT_JOIN", split))
        return outer
    blocks.join_of[split], blocks.split_of[join] = join, split
    arrived: set[int] = set()
    for edge in arriving:
        stack = stacks[edge.id]
        depth = len(outer)
        if stack[:depth] == outer and len(stack) > depth and stack[depth][0] == split:
            if len(stack) == depth + 1 or _leaves_early(edge):
                arrived.add(stack[depth][1])
                continue
        # An edge from deeper in the same block leaves a block inside it; any other comes from elsewhere.
        inside_it = stack[:depth] == outer and len(stack) > depth and stack[depth][0] == split
        _check_path(blocks, edge, stack, stack[: depth + 1] if inside_it else closing, early=False)
    _check_every_branch_arrives(graph, blocks, join, split, arrived)
    return outer


def _check_every_branch_arrives(
    graph: Graph, blocks: Blocks, join: str, split: str, arrived: set[int]
) -> None:
    missing = sorted(set(range(blocks.branch_count[split])) - arrived)
    if missing and graph.nodes[join].config.get("mode") == "all":
        first = graph.outgoing[split][missing[0]]
        blocks.findings.append(make_finding("JOIN_NEVER_SATISFIED", join, split=split, branch=first.target))


def _check_splits(blocks: Blocks) -> None:
    for split in blocks.branch_count:
        if split not in blocks.join_of:
            blocks.findings.append(make_finding("SPLIT_WITHOUT_JOIN", split))
        if len(blocks.stacks[split]) == MAX_BLOCK_DEPTH:  # reported once, not for each block further in
            what, count = "parallel blocks inside each other", MAX_BLOCK_DEPTH + 1
            blocks.findings.append(
                make_finding("LIMIT_EXCEEDED", split, what=what, count=count, limit=MAX_BLOCK_DEPTH)
            )
