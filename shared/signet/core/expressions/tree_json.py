"""An expression as JSON: minimal and canonical, so that equal expressions give equal bytes and hashes.

    {"name": "entity.status"}   {"literal": "draft"}   {"literal": ["a", 1, null]}
    {"!": X}   {"==": [X, Y]}   {"&&": [X, Y, …]}

Positions are not in it. `expression_from_json` accepts exactly what `expression_to_json` makes.
"""

from signet.core.errors import Defect
from signet.core.expressions.syntax_tree import (
    COMPARISONS,
    FORBIDDEN_CHARACTER,
    MAX_INTEGER,
    NAME,
    Comparison,
    Expression,
    Junction,
    ListLiteral,
    Literal,
    Name,
    Not,
)
from signet.core.expressions.text import MAX_DEPTH, MAX_EXPRESSION_CHARACTERS, MAX_LIST_ITEMS, find_excess
from signet.core.expressions.types import NAMESPACES


class MalformedTree(Defect):
    """A stored expression or template that this package did not write."""

    def __init__(self, pointer: str, problem: str) -> None:
        super().__init__(
            "EXPRESSION_TREE_MALFORMED", f"{problem} at '{pointer}'", details={"pointer": pointer}
        )


def expression_to_json(node: Expression) -> dict[str, object]:
    """Return the tree as JSON.

    >>> from signet.core.expressions.syntax import parse_expression
    >>> expression_to_json(parse_expression("!entity.paid"))
    {'!': {'name': 'entity.paid'}}
    """
    match node:
        case Literal():
            return {"literal": node.value}
        case ListLiteral():
            return {"literal": [item.value for item in node.items]}
        case Name():
            return {"name": node.text}
        case Not():
            return {"!": expression_to_json(node.operand)}
        case Comparison():
            return {node.operator: [expression_to_json(node.left), expression_to_json(node.right)]}
        case _:
            return {node.operator: [expression_to_json(term) for term in node.terms]}


def expression_from_json(value: object, pointer: str = "") -> Expression:
    """Return the tree. Raise MalformedTree, with `pointer` as the value's place in a larger document."""
    node = _parse_node(value, pointer, 1)
    excess = find_excess(node)
    if excess is not None:
        raise MalformedTree(pointer, excess.message)
    return node


def take_only_member(value: object, pointer: str) -> tuple[str, object]:
    if not isinstance(value, dict) or len(value) != 1:
        raise MalformedTree(pointer, "an object with one member is expected")
    key, inner = next(iter(value.items()))
    if not isinstance(key, str):
        raise MalformedTree(pointer, "a member without a name")
    return key, inner


def _parse_node(value: object, pointer: str, depth: int) -> Expression:
    if depth > MAX_DEPTH:
        raise MalformedTree(pointer, "nested too deep")
    key, inner = take_only_member(value, pointer)
    pointer = f"{pointer}/{key}"
    if key == "literal":
        return _parse_literals(inner, pointer)
    if key == "name":
        return _parse_name(inner, pointer)
    if key == "!":
        return Not(_parse_node(inner, pointer, depth + 1))
    if key not in COMPARISONS and key not in ("&&", "||"):
        raise MalformedTree(pointer, "unknown node")
    if not isinstance(inner, list) or not 2 <= len(inner) <= MAX_EXPRESSION_CHARACTERS:
        raise MalformedTree(pointer, "a list of operands is expected")
    operands = tuple(_parse_node(item, f"{pointer}/{index}", depth + 1) for index, item in enumerate(inner))
    if key in COMPARISONS:
        if len(operands) > 2:
            raise MalformedTree(pointer, "two operands are expected")
        return Comparison(key, operands[0], operands[1])
    if any(isinstance(operand, Junction) and operand.operator == key for operand in operands):
        raise MalformedTree(pointer, "not canonical: the same operator inside")
    return Junction(key, operands)


def _parse_name(value: object, pointer: str) -> Name:
    if not isinstance(value, str) or len(value) > MAX_EXPRESSION_CHARACTERS or not NAME.fullmatch(value):
        raise MalformedTree(pointer, "not a dotted name")
    path = tuple(value.split("."))
    if path[0] not in NAMESPACES:
        raise MalformedTree(pointer, "not a namespace")
    return Name(path)


def _parse_literals(value: object, pointer: str) -> Expression:
    if not isinstance(value, list):
        return _parse_literal(value, pointer)
    if len(value) > MAX_LIST_ITEMS:
        raise MalformedTree(pointer, "too many items")
    return ListLiteral(tuple(_parse_literal(item, f"{pointer}/{index}") for index, item in enumerate(value)))


def _parse_literal(value: object, pointer: str) -> Literal:
    if isinstance(value, str):
        if len(value) > MAX_EXPRESSION_CHARACTERS or FORBIDDEN_CHARACTER.search(value):
            raise MalformedTree(pointer, "not a string of expressions")
        return Literal(value)
    if value is None or isinstance(value, bool):
        return Literal(value)
    if isinstance(value, int) and abs(value) <= MAX_INTEGER:
        return Literal(value)
    raise MalformedTree(pointer, "not a literal")
