"""One closure for the commonest comparison: a field of a namespace with a literal.

Each gives exactly what the general operation of values.py gives. It is fast because the literal's type rules
cases out. The guards `is not True and is not False` come last, after the comparison, because to Python True
== 1.
"""

from collections.abc import Callable, Mapping
from typing import Any

from signet.core.expressions.syntax_tree import ORDERINGS, Comparison, ListLiteral, Literal, Name

Environment = Mapping[str, Any]
Reader = Callable[[Environment], Any]

# The namespace is missing or no object, or the operator does not take the value.
UNREADABLE = (KeyError, AttributeError, TypeError)
_SWAPPED = {"==": "==", "!=": "!=", ">": "<", ">=": "<=", "<": ">", "<=": ">="}
# To Python these numbers equal a bool.
_LIKE_BOOLS = (0, 1)


def fuse_comparison(node: Comparison) -> Reader | None:
    """Return the closure, or None for any other shape; the general closures do the same more slowly."""
    operator, name, other = node.operator, node.left, node.right
    if isinstance(other, Name) and operator in _SWAPPED:
        operator, name, other = _SWAPPED[operator], other, name
    if not isinstance(name, Name) or len(name.path) != 2:
        return None
    root, field = name.path
    if isinstance(other, ListLiteral) and operator == "in":
        return _fuse_in(root, field, other)
    if not isinstance(other, Literal):
        return None
    if operator in ORDERINGS:
        return _ORDERINGS[operator](root, field, other.value) if other.kind == "int" else None
    if operator in ("==", "!="):
        return _fuse_equality(operator, root, field, other)
    if operator == "contains" and other.kind == "str":
        return _contains(root, field, other.value)
    return None


def _fuse_equality(operator: str, root: str, field: str, literal: Literal) -> Reader:
    value = literal.value
    if value is None or isinstance(value, bool):
        return _is(root, field, value) if operator == "==" else _is_not(root, field, value)
    return _equal(root, field, value) if operator == "==" else _different(root, field, value)


def _fuse_in(root: str, field: str, items: ListLiteral) -> Reader | None:
    for item in items.items:
        if item.kind not in ("str", "int") or item.value in _LIKE_BOOLS:
            return None
    return _in(root, field, frozenset(item.value for item in items.items))


def _greater(root: str, field: str, literal: Any) -> Reader:
    def test(env: Environment) -> Any:
        try:
            value = env[root].get(field)
            return value is not None and value > literal and value is not True and value is not False
        except UNREADABLE:
            return False

    return test


def _greater_or_equal(root: str, field: str, literal: Any) -> Reader:
    def test(env: Environment) -> Any:
        try:
            value = env[root].get(field)
            return value is not None and value >= literal and value is not True and value is not False
        except UNREADABLE:
            return False

    return test


def _less(root: str, field: str, literal: Any) -> Reader:
    def test(env: Environment) -> Any:
        try:
            value = env[root].get(field)
            return value is not None and value < literal and value is not True and value is not False
        except UNREADABLE:
            return False

    return test


def _less_or_equal(root: str, field: str, literal: Any) -> Reader:
    def test(env: Environment) -> Any:
        try:
            value = env[root].get(field)
            return value is not None and value <= literal and value is not True and value is not False
        except UNREADABLE:
            return False

    return test


_ORDERINGS = {">": _greater, ">=": _greater_or_equal, "<": _less, "<=": _less_or_equal}


def _equal(root: str, field: str, literal: Any) -> Reader:
    def test(env: Environment) -> Any:
        try:
            value = env[root].get(field)
            return value == literal and value is not True and value is not False
        except UNREADABLE:
            return False

    return test


def _different(root: str, field: str, literal: Any) -> Reader:
    def test(env: Environment) -> Any:
        try:
            value = env[root].get(field)
            return value != literal or value is True or value is False
        except UNREADABLE:
            return True

    return test


def _is(root: str, field: str, literal: Any) -> Reader:
    def test(env: Environment) -> Any:
        try:
            return env[root].get(field) is literal
        except UNREADABLE:
            return literal is None

    return test


def _is_not(root: str, field: str, literal: Any) -> Reader:
    def test(env: Environment) -> Any:
        try:
            return env[root].get(field) is not literal
        except UNREADABLE:
            return literal is not None

    return test


def _contains(root: str, field: str, literal: Any) -> Reader:
    def test(env: Environment) -> Any:
        try:
            value = env[root].get(field)
            # For an object `in` would look among the keys.
            return value is not None and literal in value and value.__class__ is not dict
        except UNREADABLE:
            return False

    return test


def _in(root: str, field: str, literals: frozenset[Any]) -> Reader:
    def test(env: Environment) -> Any:
        try:
            # A value that cannot be hashed is a list or an object, and equals no literal.
            return env[root].get(field) in literals
        except UNREADABLE:
            return False

    return test
