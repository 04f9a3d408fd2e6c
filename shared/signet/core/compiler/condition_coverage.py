"""Sibling conditions on one variable: no value should be covered by none or by several of them."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from signet.core.compiler.graph import Edge
from signet.core.expressions import Expression, RangeFindingKind, Scope, find_gaps_and_overlaps
from signet.core.validation.finding import Finding, make_finding

# Beside a single condition the default edge is simply the other case.
MIN_CONDITIONS = 2


def check_condition_coverage(
    node_id: str, edges: Sequence[Edge], conditions: Mapping[str, Expression], scope: Scope
) -> Iterator[Finding]:
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
