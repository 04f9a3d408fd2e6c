"""The type check: all errors of an expression against a scope at once."""

import re
from collections.abc import Sequence
from datetime import date, datetime

from signet.core.expressions.errors import ExpressionError, make_error, suggest
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
from signet.core.expressions.text import to_text
from signet.core.expressions.types import (
    ANY,
    BOOL,
    DATE,
    INT,
    NULL,
    STRING,
    TIMESTAMP,
    FollowedField,
    ResolvedName,
    Scope,
    Type,
    TypeKind,
    list_of,
    resolve_name,
)

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
_TIMESTAMP = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{6})?Z", re.ASCII)
_LITERAL_TYPES = {"str": STRING, "int": INT, "bool": BOOL, "NoneType": NULL}
_TEMPORAL = (TypeKind.DATE, TypeKind.TIMESTAMP)
_ORDERED = (TypeKind.ANY, TypeKind.INT, TypeKind.STRING, *_TEMPORAL)
# All are strings at runtime. An enum or an id may be compared with a free string, an enum never with an id.
_TEXTUAL = (TypeKind.STRING, TypeKind.ENUM, TypeKind.REF)


def check(expression: Expression, scope: Scope) -> tuple[Type, tuple[ExpressionError, ...]]:
    """Return the type of the expression (any where it has none) and all its errors.

    >>> from signet.core.expressions.syntax import parse_expression
    >>> from signet.core.expressions.types import object_of
    >>> scope = Scope({"entity": object_of({"total": INT})})
    >>> [error.code for error in check(parse_expression("entity.totl > 5 && !entity.total"), scope)[1]]
    ['UNKNOWN_FIELD', 'NOT_BOOL']
    """
    checker = _Checker(scope)
    whole_type = checker.type_of(expression)
    return whole_type, tuple(checker.errors)


def check_condition(expression: Expression, scope: Scope) -> tuple[ExpressionError, ...]:
    """Return all errors of the expression, one of them if the whole is no bool."""
    whole_type, errors = check(expression, scope)
    if not errors and whole_type.kind not in (TypeKind.BOOL, TypeKind.ANY):
        return (_at(expression, "CONDITION_NOT_BOOL", operand=to_text(expression), type=str(whole_type)),)
    return errors


def list_followed_fields(expression: Expression, scope: Scope) -> frozenset[FollowedField]:
    """Return what the expression reads behind refs of `entity`; `env["refs"]` must hold it."""
    names = (resolve_name(name.path, scope) for name in list_variables(expression))
    return frozenset(name.followed for name in names if isinstance(name, ResolvedName) and name.followed)


def _at(node: Expression, code: str, suggestion: str | None = None, **parameters: str) -> ExpressionError:
    return make_error(code, node.position, node.length, suggestion=suggestion, **parameters)


class _Checker:
    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self.errors: list[ExpressionError] = []

    def type_of(self, node: Expression) -> Type:
        match node:
            case Literal():
                return _LITERAL_TYPES[node.kind]
            case ListLiteral():
                return list_of(_common_type(node.items))
            case Name():
                return self._type_of_name(node)
            case Not():
                self._expect_bool("!", node.operand)
            case Junction():
                for term in node.terms:
                    self._expect_bool(node.operator, term)
            case _:
                self._check_comparison(node)
        return BOOL

    def _add(self, node: Expression, code: str, suggestion: str | None = None, **parameters: str) -> None:
        self.errors.append(_at(node, code, suggestion, **parameters))

    def _type_of_name(self, node: Name) -> Type:
        resolved = resolve_name(node.path, self._scope)
        if isinstance(resolved, ResolvedName):
            return resolved.type
        # The position is counted from the end, because an alias of the namespace may be shorter than its
        # name.
        after = sum(len(step) + 1 for step in node.path[resolved.step + 1 :])
        end = max(node.position + node.length - after, 0)
        length = len(node.path[resolved.step]) if resolved.step else end - node.position
        position = max(end - length, 0)
        error = make_error(
            resolved.code, position, end - position, suggestion=resolved.suggestion, **resolved.parameters
        )
        self.errors.append(error)
        return ANY

    def _expect_bool(self, operator: str, node: Expression) -> None:
        operand_type = self.type_of(node)
        if operand_type.kind not in (TypeKind.BOOL, TypeKind.ANY):
            self._add(node, "NOT_BOOL", operator=operator, operand=to_text(node), type=str(operand_type))

    def _check_comparison(self, node: Comparison) -> None:
        left, right = self.type_of(node.left), self.type_of(node.right)
        if node.operator == "in":
            self._check_in(node, left, right)
        elif node.operator == "contains":
            self._check_contains(node, left, right)
        elif node.operator in ORDERINGS:
            self._check_ordering(node, left, right)
        else:
            self._check_equality(node.left, left, node.right, right)

    def _check_in(self, node: Comparison, left: Type, right: Type) -> None:
        if right.kind is TypeKind.LIST:
            self._check_membership(node.left, left, node.right, right)
        elif right.kind is not TypeKind.ANY:
            suggestion = "contains" if right.kind in _TEXTUAL else None
            self._add(node.right, "LIST_EXPECTED", suggestion, operand=to_text(node.right), type=str(right))

    def _check_contains(self, node: Comparison, left: Type, right: Type) -> None:
        if left.kind is TypeKind.LIST:
            self._check_membership(node.right, right, node.left, left)
        elif left.kind is TypeKind.STRING:
            if right.kind not in (TypeKind.ANY, *_TEXTUAL):
                self._add_types_differ(node.left, left, node.right, right)
        elif left.kind is not TypeKind.ANY:
            self._add(node.left, "CONTAINER_EXPECTED", operand=to_text(node.left), type=str(left))

    def _check_membership(
        self, item: Expression, item_type: Type, owner: Expression, owner_type: Type
    ) -> None:
        if isinstance(owner, ListLiteral):
            for literal in owner.items:
                self._check_equality(item, item_type, literal, _LITERAL_TYPES[literal.kind])
            return
        member = owner_type.item or ANY
        item_type = self._narrow(item, item_type, owner, member)
        if _find_type_conflict(item_type, member) is not None:
            texts = {"item": to_text(item), "item_type": str(item_type), "container": to_text(owner)}
            self._add(item, "NEVER_A_MEMBER", container_type=str(owner_type), **texts)

    def _check_ordering(self, node: Comparison, left: Type, right: Type) -> None:
        if TypeKind.NULL in (left.kind, right.kind):
            self._add(node, "NULL_ORDERED", operator=node.operator)
            return
        ordered = True
        for operand, operand_type in ((node.left, left), (node.right, right)):
            if operand_type.kind not in _ORDERED:
                ordered = False
                self._add(operand, "NOT_ORDERED", operand=to_text(operand), type=str(operand_type))
        if not ordered:
            return
        left = self._narrow(node.left, left, node.right, right)
        right = self._narrow(node.right, right, node.left, left)
        both_temporal = left.kind in _TEMPORAL and right.kind in _TEMPORAL
        if left.kind is not right.kind and TypeKind.ANY not in (left.kind, right.kind) and not both_temporal:
            self._add_types_differ(node.left, left, node.right, right)

    def _check_equality(self, left_node: Expression, left: Type, right_node: Expression, right: Type) -> None:
        left = self._narrow(left_node, left, right_node, right)
        right = self._narrow(right_node, right, left_node, left)
        code = _find_type_conflict(left, right)
        if code == "TYPES_DIFFER":
            self._add_types_differ(left_node, left, right_node, right)
        elif code is not None:
            self._add(right_node, code, left=to_text(left_node), right=to_text(right_node))

    def _add_types_differ(
        self, left_node: Expression, left: Type, right_node: Expression, right: Type
    ) -> None:
        texts = {"left": to_text(left_node), "right": to_text(right_node)}
        self._add(right_node, "TYPES_DIFFER", left_type=str(left), right_type=str(right), **texts)

    def _narrow(self, node: Expression, own: Type, other_node: Expression, other: Type) -> Type:
        """Return the type that a string literal takes from the other operand, or add an error."""
        if isinstance(node, ListLiteral) and other.kind is TypeKind.LIST:
            for literal in node.items:
                self._check_equality(literal, _LITERAL_TYPES[literal.kind], other_node, other.item or ANY)
            return ANY
        if not isinstance(node, Literal) or not isinstance(node.value, str):
            return own
        text = node.value
        if other.kind in _TEMPORAL:
            temporal = _temporal_type(text)
            if temporal is None:
                self._add(node, "NOT_A_DATE", value=text)
            return temporal or ANY
        if other.kind is TypeKind.ENUM and text not in other.values:
            operand = to_text(other_node)
            values = ", ".join(other.values)
            self._add(
                node,
                "NOT_ENUM_VALUE",
                suggest(text, other.values),
                value=text,
                operand=operand,
                values=values,
            )
            return ANY
        return own


def _common_type(items: Sequence[Literal]) -> Type:
    kinds = {item.kind for item in items}
    return _LITERAL_TYPES[kinds.pop()] if len(kinds) == 1 else ANY


def _temporal_type(text: str) -> Type | None:
    for pattern, parse, temporal in (
        (_DATE, date.fromisoformat, DATE),
        (_TIMESTAMP, datetime.fromisoformat, TIMESTAMP),
    ):
        if pattern.fullmatch(text):
            try:
                parse(text)
            except ValueError:
                return None
            return temporal
    return None


def _find_type_conflict(left: Type, right: Type) -> str | None:
    kinds = {left.kind, right.kind}
    if kinds & {TypeKind.ANY, TypeKind.NULL}:
        return None
    if kinds == set(_TEMPORAL):
        return "DATE_EQUALS_TIMESTAMP"
    if left.kind is not right.kind:
        return None if TypeKind.STRING in kinds and kinds <= set(_TEXTUAL) else "TYPES_DIFFER"
    if left.kind is TypeKind.ENUM and not set(left.values) & set(right.values):
        return "ENUMS_DISJOINT"
    if left.kind is TypeKind.REF and left.entity_type != right.entity_type:
        return "TYPES_DIFFER"
    if left.kind is TypeKind.LIST:
        return _find_type_conflict(left.item or ANY, right.item or ANY)
    return None
