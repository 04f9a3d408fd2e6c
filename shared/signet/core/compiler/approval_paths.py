"""The fewest approvals that a path brings along, node by node, with blocks, joins and rejections.

The paths of a node are those from where its innermost branch begins, or else its slot. They follow the
rules of `core/runtime/tokens.py`: a rejected token stays so until a node approves it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from signet.core.compiler.graph import ENVELOPE, Edge, Graph, Node
from signet.core.compiler.parallel_blocks import Blocks, Stack
from signet.core.compiler.rejection_edges import REJECTING


class Course(NamedTuple):
    """The marks of paths that are counted together: they are rejected, and a chain was asked."""

    is_rejected: bool = False
    has_chain: bool = False


# The fewest approvals by course. A course that no path takes is not in it.
Fewest = Mapping[Course, int]
_BEGIN: Fewest = {Course(): 0}


@dataclass(frozen=True)
class Weight:
    """The approvals that a node proves at least. Chains may prove no more than one together."""

    count: int
    is_chain: bool = False


@dataclass(frozen=True)
class Departure:
    """An edge that leaves a block early, with the approvals of its paths inside that block's branch."""

    edge: Edge
    split: str
    branch: int
    fewest: Fewest


@dataclass
class ApprovalPaths:
    """The counts at each node, at each join by branch, and where a block is left early."""

    graph: Graph
    blocks: Blocks
    weigh: Callable[[Node], Weight]
    at: dict[str, Fewest] = field(default_factory=dict)
    arrivals: dict[str, dict[int, Fewest]] = field(default_factory=dict)
    departures: list[Departure] = field(default_factory=list)

    def count_fewest(self, node_id: str) -> int | None:
        """Return the fewest approvals with which the node is reached unrejected; None where it never is."""
        counts = [n + course.has_chain for course, n in self.at[node_id].items() if not course.is_rejected]
        return min(counts, default=None)

    def enter(self, node_id: str) -> None:
        """Count the paths to a node. Nodes must be entered in topological order."""
        node = self.graph.nodes[node_id]
        if node.provenance == ENVELOPE:
            return
        if node.type == "slot_in":
            self.at[node_id] = _BEGIN
            return
        depth = len(self.blocks.stacks[node_id])
        split = self.blocks.split_of.get(node_id)
        arriving: list[Fewest] = []
        by_branch = self.arrivals.setdefault(node_id, {}) if split is not None else {}
        for edge in self.graph.incoming[node_id]:
            stack, fewest = self._lift(edge, depth + (split is not None))
            arriving.append(fewest)
            if split is not None:
                branch = stack[-1][1]
                by_branch[branch] = _unite([by_branch.get(branch, {}), fewest])
        self.at[node_id] = _unite(arriving) if split is None else self._join(node_id, split, by_branch)

    def _lift(self, edge: Edge, depth: int) -> tuple[Stack, Fewest]:
        """Return the edge's paths as its target sees them, from outside of the blocks that it leaves."""
        stack = self.blocks.stacks[edge.source]
        if self.graph.nodes[edge.source].type == "parallel_split":
            branch = next(i for i, e in enumerate(self.graph.outgoing[edge.source]) if e.id == edge.id)
            stack, fewest = (*stack, (edge.source, branch)), _BEGIN
        else:
            fewest = self._pass(edge)
        while len(stack) > depth:
            split, branch = stack[-1]
            self.departures.append(Departure(edge, split, branch, fewest))
            # A rejection from before the split stays, unless this very edge approves.
            stack, fewest = stack[:-1], _add(self.at[split], fewest, clears=edge.on == "approved")
        return stack, fewest

    def _pass(self, edge: Edge) -> Fewest:
        """Return what becomes of the paths to an edge's source along this edge."""
        before, source = self.at[edge.source], self.graph.nodes[edge.source]
        if source.type == "approval" and edge.on == "approved":
            weight = self.weigh(source)
            return _unite(
                {Course(False, course.has_chain or weight.is_chain): count + weight.count}
                for course, count in before.items()
            )
        if source.type == "parallel_join":
            wanted = edge.on == "rejected"
            return {course: count for course, count in before.items() if course.is_rejected == wanted}
        if edge.on in REJECTING:
            return _unite({Course(True, course.has_chain): count} for course, count in before.items())
        return before

    def _join(self, join: str, split: str, by_branch: Mapping[int, Fewest]) -> Fewest:
        branches = [by_branch.get(index, {}) for index in range(self.blocks.branch_count[split])]
        going_on = [_only(branch, is_rejected=False) for branch in branches]
        rejected = [_only(branch, is_rejected=True) for branch in branches]
        if self.graph.nodes[join].config["mode"] == "all":
            # One rejection rejects all of them; what the others brought along is not counted then.
            met = _unite([_multiply(going_on), *rejected])
        else:
            met = _unite([*going_on, {Course(True): 0} if all(rejected) else {}])
        return _add(self.at[split], met, clears=False)


def follow_paths(
    graph: Graph, blocks: Blocks, order: Sequence[str], weigh: Callable[[Node], Weight]
) -> ApprovalPaths:
    paths = ApprovalPaths(graph, blocks, weigh)
    for node_id in order:
        paths.enter(node_id)
    return paths


def is_free(fewest: Fewest) -> bool:
    """Return whether one of the paths goes on without any approval."""
    return fewest.get(Course()) == 0


def _only(fewest: Fewest, *, is_rejected: bool) -> Fewest:
    return {course: count for course, count in fewest.items() if course.is_rejected == is_rejected}


def _unite(alternatives: Iterable[Fewest]) -> Fewest:
    united: dict[Course, int] = {}
    for fewest in alternatives:
        for course, count in fewest.items():
            united[course] = min(count, united.get(course, count))
    return united


def _multiply(branches: Iterable[Fewest]) -> Fewest:
    """Return what all of the branches bring along together; nothing where one of them never arrives."""
    together = _BEGIN
    for branch in branches:
        together = _add(together, branch, clears=False)
    return together


def _add(outer: Fewest, inner: Fewest, *, clears: bool) -> Fewest:
    return _unite(
        {
            Course(
                (first.is_rejected and not clears) or second.is_rejected, first.has_chain or second.has_chain
            ): count + more
        }
        for first, count in outer.items()
        for second, more in inner.items()
    )
