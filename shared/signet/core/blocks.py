"""Parallel blocks: which join closes which split, and that nothing enters or leaves one sideways.

Nodes are visited in topological order, each with the stack of blocks that it stands in: `(split, branch)`
from the outside in. A branch may leave its block early only by an `exit` or `error` edge or a rejection;
that cancels the block's other tokens.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from signet.core.findings import Finding, find
from signet.core.graph import Edge, Graph, make_graph
from signet.core.merge import REJECTING

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
    for node_id in order:
        if node_id not in graph.nodes:
            continue
        arriving = [
            edge for edge in graph.incoming[node_id] if edge.role != "return" and edge.source in blocks.stacks
        ]
        stacks = {edge.id: _stack_along(edge, blocks, branches) for edge in arriving}
        if graph.nodes[node_id].type == "parallel_join":
            blocks.stacks[node_id] = _close_block(graph, blocks, node_id, arriving, stacks)
        else:
            blocks.stacks[node_id] = _agree(blocks, arriving, stacks)
    _find_open_splits(graph, blocks)
    return blocks


def _number_branches(graph: Graph, blocks: Blocks) -> dict[str, int]:
    branches: dict[str, int] = {}
    for node in graph.nodes.values():
        if node.type == "parallel_split":
            outgoing = graph.outgoing[node.id]
            blocks.branch_count[node.id] = len(outgoing)
            branches.update({edge.id: index for index, edge in enumerate(outgoing)})
            if len(outgoing) < 2:
                blocks.findings.append(find("SPLIT_TOO_FEW", node.id, count=len(outgoing)))
    return branches


def _stack_along(edge: Edge, blocks: Blocks, branches: Mapping[str, int]) -> Stack:
    stack = blocks.stacks[edge.source]
    return (*stack, (edge.source, branches[edge.id])) if edge.id in branches else stack


def _leaves_early(edge: Edge) -> bool:
    return edge.role in ("exit", "error") or edge.on in REJECTING


def _agree(blocks: Blocks, arriving: Sequence[Edge], stacks: Mapping[str, Stack]) -> Stack:
    """Where several ways meet they must stand in the same block; early leavers come from further in."""
    regular = [edge for edge in arriving if not _leaves_early(edge)]
    if regular:
        stack = min((stacks[edge.id] for edge in regular), key=lambda s: (len(s), s))
    else:
        stack = min(
            (_after_leaving(edge, stacks[edge.id]) for edge in arriving),
            key=lambda s: (len(s), s),
            default=(),
        )
    for edge in arriving:
        _check_way(blocks, edge, stacks[edge.id], stack, early=_leaves_early(edge))
    return stack


def _after_leaving(edge: Edge, stack: Stack) -> Stack:
    # An exit leaves its innermost block; an error is handled where it happened unless it is led further.
    return stack[:-1] if edge.role == "exit" else stack


def _check_way(blocks: Blocks, edge: Edge, source: Stack, target: Stack, *, early: bool) -> None:
    if source == target:
        if edge.role == "exit" and edge.on not in REJECTING:
            blocks.findings.append(find("EXIT_OUTSIDE_BLOCK", edge.id))
    elif target == source[: len(target)]:
        if not early:
            blocks.findings.append(find("BLOCK_LEFT_SIDEWAYS", edge.id, split=source[len(target)][0]))
    else:
        shared = _common_length(source, target)
        blocks.findings.append(find("BLOCK_ENTERED_SIDEWAYS", edge.id, split=target[shared][0]))


def _common_length(one: Stack, other: Stack) -> int:
    length = 0
    while length < min(len(one), len(other)) and one[length] == other[length]:
        length += 1
    return length


def _close_block(
    graph: Graph, blocks: Blocks, join: str, arriving: Sequence[Edge], stacks: Mapping[str, Stack]
) -> Stack:
    inside = [stacks[edge.id] for edge in arriving if stacks[edge.id]]
    if not inside:
        blocks.findings.append(find("JOIN_WITHOUT_SPLIT", join))
        return ()
    # Early leavers of an inner block may arrive from deeper in; the join closes the shallowest block.
    closing = min(inside, key=lambda s: (len(s), s))
    split, outer = closing[-1][0], closing[:-1]
    if split in blocks.join_of:
        blocks.findings.append(find("SPLIT_WITHOUT_JOIN", split))
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
        _check_way(blocks, edge, stack, closing, early=False)
    _check_every_branch_arrives(graph, blocks, join, split, arrived)
    return outer


def _check_every_branch_arrives(
    graph: Graph, blocks: Blocks, join: str, split: str, arrived: set[int]
) -> None:
    missing = sorted(set(range(blocks.branch_count[split])) - arrived)
    if missing and graph.nodes[join].config.get("mode") == "all":
        first = graph.outgoing[split][missing[0]]
        blocks.findings.append(find("JOIN_NEVER_SATISFIED", join, split=split, branch=first.target))


def _find_open_splits(graph: Graph, blocks: Blocks) -> None:
    for node in graph.nodes.values():
        if node.type == "parallel_split" and node.id in blocks.stacks and node.id not in blocks.join_of:
            blocks.findings.append(find("SPLIT_WITHOUT_JOIN", node.id))


def redirect_rejections(graph: Graph, blocks: Blocks) -> Graph:
    """Rejections the compiler leads out go first to the join of the block that they happen in."""
    edges: list[Edge] = []
    for edge in graph.edges.values():
        join = blocks.find_innermost_join(edge.source) if _is_led_out(edge) else None
        edges.append(edge if join is None else replace(edge, target=join))
    edges.extend(_make_join_rejections(graph, blocks))
    return make_graph(graph.nodes.values(), edges)


def _is_led_out(edge: Edge) -> bool:
    return edge.id.startswith("sys:edge:rejection:")


def _make_join_rejections(graph: Graph, blocks: Blocks) -> Iterable[Edge]:
    """A block that can be rejected passes the rejection on: to the join around it, or out of the slot."""
    rejectable = {
        blocks.stacks[e.source][-1][0]
        for e in graph.edges.values()
        if _is_led_out(e) and blocks.stacks.get(e.source)
    }
    inner_first = sorted(blocks.join_of, key=lambda split: -len(blocks.stacks[split]))
    for split in inner_first:
        join, stack = blocks.join_of[split], blocks.stacks[split]
        if split not in rejectable:
            continue
        if stack:
            rejectable.add(stack[-1][0])
        if any(edge.on == "rejected" for edge in graph.outgoing[join]):
            continue
        slot = graph.nodes[join].provenance
        target = blocks.join_of.get(stack[-1][0]) if stack else f"sys:slot:{slot}:out"
        if target is not None:
            yield Edge(
                f"sys:edge:rejection:{join}#rejected", join, target, "rejected", role="exit", provenance=slot
            )
