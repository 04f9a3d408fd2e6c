"""Gaps and overlaps among sibling conditions on one variable, each with an example.

Only conditions that can be decided exactly are analysed: ints compared with integer literals, and enums and
bools compared by `==`, `!=`, `in`. `&&`, `||` and `!` may join them. Anything else, or a second variable,
gives no findings.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import reduce
from itertools import combinations

from signet.core.expressions.intervals import Interval, Intervals, complement, intersect, unite
from signet.core.expressions.syntax_tree import (
    ORDERINGS,
    Comparison,
    Expression,
    Junction,
    ListLiteral,
    Literal,
    Name,
    Not,
    list_variables,
)
from signet.core.expressions.types import ResolvedName, Scope, Type, TypeKind, resolve_name

MAX_CONDITIONS = 50
MAX_FINDINGS = 100
_SWAPPED = {"==": "==", "!=": "!=", ">": "<", ">=": "<=", "<": ">", "<=": ">="}


class RangeFindingKind(StrEnum):
    GAP = "gap"
    OVERLAP = "overlap"


@dataclass(frozen=True, slots=True)
class RangeFinding:
    kind: RangeFindingKind
    variable: str
    example: str | int | bool
    # For ints the whole range, where None is unbounded. For an enum or a bool both are the example.
    low: str | int | bool | None
    high: str | int | bool | None
    # The conditions that overlap, by their position in the sequence; a gap has none.
    conditions: tuple[int, ...]


def find_gaps_and_overlaps(conditions: Sequence[Expression], scope: Scope) -> tuple[RangeFinding, ...]:
    """Return gaps first, then overlaps pair by pair. A missing value is never among them.

    >>> from signet.core.expressions.syntax import parse_expression
    >>> from signet.core.expressions.types import INT, object_of
    >>> scope = Scope({"entity": object_of({"total": INT})})
    >>> conditions = [parse_expression(text) for text in ("entity.total < 10", "entity.total > 10")]
    >>> [(finding.kind.value, finding.example) for finding in find_gaps_and_overlaps(conditions, scope)]
    [('gap', 10)]
    """
    variables = {name for condition in conditions for name in list_variables(condition)}
    if len(variables) != 1 or len(conditions) > MAX_CONDITIONS:
        return ()
    variable = variables.pop()
    resolved = resolve_name(variable.path, scope)
    if not isinstance(resolved, ResolvedName) or resolved.type.kind not in (
        TypeKind.INT,
        TypeKind.ENUM,
        TypeKind.BOOL,
    ):
        return ()
    try:
        domain = _RangeAnalysis(variable, resolved.type)
        covered = [domain.find_true_values(condition) for condition in conditions]
    except _NotAnalysable:
        return ()
    findings: list[RangeFinding] = []
    for finding in domain.compare(covered):
        findings.append(finding)
        if len(findings) == MAX_FINDINGS:
            break
    return tuple(findings)


class _NotAnalysable(Exception):
    """A shape of condition whose values are not known exactly; never leaves this module."""


class _RangeAnalysis:
    """The values of one variable as numbers: ints as they are, those of enums and bools by their position."""

    def __init__(self, variable: Name, of: Type) -> None:
        self._variable = variable
        self._kind = of.kind
        self._values: tuple[str | bool, ...] = (False, True) if of.kind is TypeKind.BOOL else of.values
        self._whole: Interval = (None, None) if of.kind is TypeKind.INT else (0, len(self._values) - 1)

    def find_true_values(self, node: Expression) -> Intervals:
        """Return the values that make the condition true."""
        match node:
            case Literal():
                return (self._whole,) if node.value is True else ()
            case Name() if self._kind is TypeKind.BOOL:
                return ((1, 1),)
            case Not():
                return complement(self.find_true_values(node.operand), self._whole)
            case Junction():
                combine = intersect if node.operator == "&&" else unite
                return reduce(combine, map(self.find_true_values, node.terms))
            case Comparison():
                return self._find_values_of_comparison(node)
            case _:
                raise _NotAnalysable

    def _find_values_of_comparison(self, node: Comparison) -> Intervals:
        operator, name, other = node.operator, node.left, node.right
        if isinstance(other, Name) and operator in _SWAPPED:
            operator, name, other = _SWAPPED[operator], other, name
        if name != self._variable:
            raise _NotAnalysable
        if isinstance(other, ListLiteral) and operator == "in":
            values: Intervals = ()
            for item in other.items:
                values = unite(values, self._only(item))
            return values
        if not isinstance(other, Literal):
            raise _NotAnalysable
        if operator == "==":
            return self._only(other)
        if operator == "!=":
            return complement(self._only(other), self._whole)
        if operator in ORDERINGS and other.kind == "int" and self._kind is TypeKind.INT:
            return (_ordered_interval(operator, int(other.value or 0)),)
        raise _NotAnalysable

    def _only(self, literal: Literal) -> Intervals:
        if literal.value is None:
            return ()
        if isinstance(literal.value, bool) is not (self._kind is TypeKind.BOOL):
            raise _NotAnalysable
        if self._kind is TypeKind.INT and isinstance(literal.value, int):
            return ((literal.value, literal.value),)
        if self._kind is TypeKind.INT or literal.value not in self._values:
            raise _NotAnalysable
        position = self._values.index(literal.value)
        return ((position, position),)

    def compare(self, covered: Sequence[Intervals]) -> Iterator[RangeFinding]:
        together: Intervals = ()
        for values in covered:
            together = unite(together, values)
        yield from self._report(RangeFindingKind.GAP, complement(together, self._whole), ())
        for first, second in combinations(range(len(covered)), 2):
            shared = intersect(covered[first], covered[second])
            yield from self._report(RangeFindingKind.OVERLAP, shared, (first, second))

    def _report(
        self, kind: RangeFindingKind, values: Intervals, conditions: tuple[int, ...]
    ) -> Iterator[RangeFinding]:
        text = self._variable.text
        for low, high in values:
            if self._kind is TypeKind.INT:
                example = low if low is not None else high if high is not None else 0
                yield RangeFinding(kind, text, example, low, high, conditions)
                continue
            for value in self._values[slice(low, (high or 0) + 1)]:
                yield RangeFinding(kind, text, value, value, value, conditions)


def _ordered_interval(operator: str, bound: int) -> Interval:
    if operator == ">":
        return (bound + 1, None)
    if operator == ">=":
        return (bound, None)
    return (None, bound - 1 if operator == "<" else bound)
