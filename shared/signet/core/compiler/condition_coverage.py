"""Sibling conditions that speak of one variable: values that none covers, or more than one."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from signet.core.compiler.graph import Edge
from signet.core.expressions import Expression, RangeFindingKind, Scope, find_gaps_and_overlaps
from signet.core.validation.finding import Finding, make_finding

# With a single condition the default edge is simply the other case.
MIN_CONDITIONS = 2


def check_condition_coverage(
    node_id: str, edges: Sequence[Edge], conditions: Mapping[str, Expression], scope: Scope
) -> Iterator[Finding]:
    by_outcome = sorted(edges, key=lambda edge: edge.on)
    for _, siblings in groupby(by_outcome, key=lambda edge: edge.on):
        parsed = [conditions[edge.id] for edge in siblings if edge.id in conditions]
        if len(parsed) < MIN_CONDITIONS:
            continue
        seen: set[RangeFindingKind] = set()
        for found in find_gaps_and_overlaps(parsed, scope):
            if found.kind in seen:
                continue  # one example of each kind is enough to look again
            seen.add(found.kind)
            code = "CONDITIONS_LEAVE_GAP" if found.kind is RangeFindingKind.GAP else "CONDITIONS_OVERLAP"
            yield make_finding(code, node_id, variable=found.variable, example=found.example)
