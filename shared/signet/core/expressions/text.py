"""The canonical text of an expression, and the limits that hold for every tree."""

from signet.core.expressions.errors import ExpressionError, make_error
from signet.core.expressions.syntax_tree import (
    Comparison,
    Expression,
    Junction,
    ListLiteral,
    Literal,
    Name,
    Not,
    walk,
)

MAX_EXPRESSION_CHARACTERS = 500
MAX_DEPTH = 10
MAX_DEREFERENCES = 20
MAX_LIST_ITEMS = 100

# A higher number binds more tightly. An operand that binds less tightly stands in parentheses.
POWERS = {"||": 1, "&&": 2, **dict.fromkeys(("==", "!=", ">", ">=", "<", "<=", "in", "contains"), 3)}
COMPARISON_POWER = 3
NOT_POWER = 4
OPERAND_POWER = 5

ESCAPES = {"\\": "\\", "'": "'", '"': '"', "n": "\n", "t": "\t"}
_ESCAPED = str.maketrans({"\\": "\\\\", "'": "\\'", "\n": "\\n", "\t": "\\t"})
_WORDS = {True: "true", False: "false", None: "null"}


def to_text(node: Expression) -> str:
    """Return the one text of this tree: parsing it gives the same tree.

    >>> from signet.core.expressions.syntax import parse_expression
    >>> to_text(parse_expression('(entity.status=="draft")&&!vars.sent'))
    "entity.status == 'draft' && !context.sent"
    """
    match node:
        case Literal(value=str() as text):
            return f"'{text.translate(_ESCAPED)}'"
        case Literal(value=bool() | None as word):
            return _WORDS[word]
        case Literal():
            return str(node.value)
        case ListLiteral():
            return f"[{', '.join(to_text(item) for item in node.items)}]"
        case Name():
            return node.text
        case Not():
            return f"!{_operand_text(node.operand, NOT_POWER)}"
        case Comparison():
            left = _operand_text(node.left, NOT_POWER)
            return f"{left} {node.operator} {_operand_text(node.right, NOT_POWER)}"
        case _:
            floor = POWERS[node.operator] + 1
            return f" {node.operator} ".join(_operand_text(term, floor) for term in node.terms)


def _operand_text(node: Expression, floor: int) -> str:
    text = to_text(node)
    return f"({text})" if _power_of(node) < floor else text


def _power_of(node: Expression) -> int:
    match node:
        case Comparison() | Junction():
            return POWERS[node.operator]
        case Not():
            return NOT_POWER
        case _:
            return OPERAND_POWER


def find_excess(node: Expression) -> ExpressionError | None:
    """Return the first limit that the tree breaks, also of a tree that was not made from text."""
    dereferences = 0
    for current, depth in walk(node):
        if depth > MAX_DEPTH:
            return make_error("TOO_DEEP", current.position, current.length, limit=MAX_DEPTH)
        if isinstance(current, Name):
            dereferences += len(current.path) - 1
            if dereferences > MAX_DEREFERENCES:
                position, length = current.position, current.length
                return make_error(
                    "TOO_MANY_DEREFERENCES", position, length, limit=MAX_DEREFERENCES, count=dereferences
                )
        if isinstance(current, ListLiteral) and len(current.items) > MAX_LIST_ITEMS:
            return make_error("LIST_TOO_LONG", current.position, current.length, limit=MAX_LIST_ITEMS)
    # The canonical text is kept as evidence and must itself be an expression.
    count = len(to_text(node))
    if count > MAX_EXPRESSION_CHARACTERS:
        return make_error(
            "CANONICAL_TOO_LONG", node.position, node.length, limit=MAX_EXPRESSION_CHARACTERS, count=count
        )
    return None
