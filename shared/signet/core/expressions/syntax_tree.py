"""The tree of an expression. Positions are of the source text and no part of a node's identity."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*", re.ASCII)
# Strings may not hold these: they could not be written, stored as JSON, or sent.
FORBIDDEN_CHARACTER = re.compile("[\x00-\x08\x0b-\x1f\ud800-\udfff]")
ORDERINGS = (">", ">=", "<", "<=")
COMPARISONS = ("==", "!=", *ORDERINGS, "in", "contains")
MAX_INTEGER = 2**53 - 1


@dataclass(frozen=True, slots=True)
class Literal:
    value: str | int | bool | None
    position: int = field(default=0, compare=False)
    length: int = field(default=0, compare=False)
    # Part of equality, because to Python 1 == True.
    kind: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", type(self.value).__name__)


@dataclass(frozen=True, slots=True)
class ListLiteral:
    items: tuple[Literal, ...]
    position: int = field(default=0, compare=False)
    length: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Name:
    path: tuple[str, ...]
    position: int = field(default=0, compare=False)
    length: int = field(default=0, compare=False)

    @property
    def text(self) -> str:
        return ".".join(self.path)


@dataclass(frozen=True, slots=True)
class Not:
    operand: "Expression"
    position: int = field(default=0, compare=False)
    length: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Comparison:
    operator: str
    left: "Expression"
    right: "Expression"
    position: int = field(default=0, compare=False)
    length: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Junction:
    """A `&&` or `||` of two terms or more, none of them a junction of the same operator."""

    operator: str
    terms: tuple["Expression", ...]
    position: int = field(default=0, compare=False)
    length: int = field(default=0, compare=False)


Expression = Literal | ListLiteral | Name | Not | Comparison | Junction


def list_children(node: Expression) -> tuple[Expression, ...]:
    match node:
        case Not():
            return (node.operand,)
        case Comparison():
            return (node.left, node.right)
        case Junction():
            return node.terms
        case _:
            return ()


def walk(node: Expression) -> Iterator[tuple[Expression, int]]:
    """Yield every node with its depth, in the order of the text. The whole has depth 1."""
    waiting = [(node, 1)]
    while waiting:
        current, depth = waiting.pop()
        yield current, depth
        waiting.extend((child, depth + 1) for child in reversed(list_children(current)))


def list_variables(node: Expression) -> tuple[Name, ...]:
    """Return the names that the expression reads, each once, in the order of the text.

    >>> from signet.core.expressions.syntax import parse_expression
    >>> [name.text for name in list_variables(parse_expression("entity.a == entity.b || entity.a == 1"))]
    ['entity.a', 'entity.b']
    """
    return tuple(dict.fromkeys(current for current, _ in walk(node) if isinstance(current, Name)))
