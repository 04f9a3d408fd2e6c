"""Filters and sort orders of lists, from the text that people write to terms of an index.

A filter is an expression of one form: comparisons of indexed fields with literals, joined by `&&`. It means
the same as the expression (docs/api.md). A comparison that no index can answer is refused with a remedy.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal as OneOf
from typing import cast

from signet.core.contracts.contract import Contract
from signet.core.contracts.expression_scope import type_of_entity
from signet.core.contracts.field_checks import FAST_COLUMN_OF
from signet.core.contracts.fields import DecimalField
from signet.core.contracts.indexed_columns import map_indexed_fields, parse_moment
from signet.core.errors import FieldError, Rejected
from signet.core.expressions import (
    Expression,
    ExpressionError,
    Scope,
    check_condition,
    parse_expression,
    to_text,
)
from signet.core.expressions.syntax_tree import Comparison, Junction, ListLiteral, Literal, Name

ColumnKind = OneOf["text", "number", "time"]
Operator = OneOf["==", "<", "<=", ">", ">=", "in", "null", "not null"]
Scalar = str | int | datetime
CREATED_AT = "created_at"
# The indexed columns that every document has beside its fields.
_FIXED: Mapping[str, ColumnKind] = {"status": "text", CREATED_AT: "time"}
# The operator when the field moves to its left side.
_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "contains": "in"}
_FORM = "A filter is comparisons of indexed fields with values, joined by `&&`."
_DAY = len("YYYY-MM-DD")
# A day sorts before each of its moments, also before the first of them.
_MOMENT_WITH_DAY: Mapping[str, Operator] = {"<": "<", "<=": "<", ">": ">=", ">=": ">="}
_DAY_WITH_MOMENT: Mapping[str, Operator] = {"<": "<=", "<=": "<=", ">": ">", ">=": ">"}


@dataclass(frozen=True, slots=True)
class Term:
    """A comparison; all terms of a filter must hold."""

    field: str
    operator: Operator
    value: Scalar | tuple[Scalar, ...] | None = None


@dataclass(frozen=True, slots=True)
class Sort:
    field: str
    kind: ColumnKind
    is_descending: bool


def parse_filter(text: str, contract: Contract) -> tuple[Term, ...]:
    """Parse the terms of a filter; raise its mistakes, each in a sentence."""
    parsed = parse_expression(text)
    errors: Sequence[ExpressionError] = (
        (parsed,)
        if isinstance(parsed, ExpressionError)
        else check_condition(parsed, Scope({"entity": type_of_entity(contract)}))
    )
    if isinstance(parsed, ExpressionError) or errors:
        fields = tuple(_field_of(error.code, error.message, "filter") for error in errors)
        raise Rejected("FILTER_INVALID", fields[0].message, remedy=_FORM, fields=fields)
    parts = parsed.terms if isinstance(parsed, Junction) and parsed.operator == "&&" else (parsed,)
    return tuple(_read_term(part, contract) for part in parts)


def parse_sort(text: str, contract: Contract) -> Sort:
    """Parse the name of a field, with `-` for descending order."""
    name = text.removeprefix("-")
    sortable = [CREATED_AT, *map_indexed_fields(contract)]
    if name not in sortable:
        message = f"documents cannot be sorted by `{name}`"
        raise _refuse("FIELD_NOT_INDEXED", message, f"Sort by one of: {', '.join(sortable)}.", "sort")
    return Sort(name, _kind_of(name, contract), text.startswith("-"))


def place_fields(names: Sequence[str], contract: Contract, newest: Contract) -> Mapping[str, str] | None:
    """Return the column of each field in documents of `contract`.

    Return None where it indexes a field not at all, or in another form than the newest contract.
    """
    columns = map_indexed_fields(contract)
    placed: dict[str, str] = {}
    for name in names:
        if name in _FIXED:
            placed[name] = name
        elif name in columns and _form_of(name, contract) == _form_of(name, newest):
            placed[name] = columns[name]
        else:
            return None
    return placed


def _form_of(name: str, contract: Contract) -> tuple[str, int]:
    field = contract.fields[name]
    return field.type, field.scale if isinstance(field, DecimalField) else 0


def _kind_of(name: str, contract: Contract) -> ColumnKind:
    if name in _FIXED:
        return _FIXED[name]
    return cast(ColumnKind, FAST_COLUMN_OF[contract.fields[name].type])


def _read_term(node: Expression, contract: Contract) -> Term:
    if not isinstance(node, Comparison):
        raise _refuse_form(node)
    name, operator, literal = node.left, node.operator, node.right
    if not isinstance(name, Name):
        name, operator, literal = node.right, _FLIPPED.get(operator, operator), node.left
    if not isinstance(name, Name) or not isinstance(literal, Literal | ListLiteral):
        raise _refuse_form(node)
    field = _find_field(name, contract)
    if isinstance(literal, ListLiteral):
        # The type check allows a list in no other place.
        return Term(field, "in", tuple(_read_items(node, literal, field, contract)))
    if literal.value is None:
        return Term(field, "null" if operator == "==" else "not null")
    if operator not in ("==", "<", "<=", ">", ">="):
        raise _refuse_form(node)
    adjusted = _adjust(field, cast(Operator, operator), str(literal.value), contract)
    return Term(field, adjusted, _read_value(field, literal.value, contract))


def _find_field(name: Name, contract: Contract) -> str:
    field = name.path[1] if len(name.path) == 2 else ""
    known = [*_FIXED, *map_indexed_fields(contract)]
    if field not in known:
        remedy = f"Mark it `indexed` in the contract, or filter by one of: {', '.join(known)}."
        raise _refuse("FIELD_NOT_INDEXED", f"`{name.text}` is not indexed", remedy)
    return field


def _read_items(node: Comparison, literal: ListLiteral, field: str, contract: Contract) -> Iterator[Scalar]:
    for item in literal.items:
        if item.value is None:
            raise _refuse_form(node)
        yield _read_value(field, item.value, contract)


def _adjust(field: str, operator: Operator, text: str, contract: Contract) -> Operator:
    """Adjust a comparison of a day with a moment: a column holds a day as its first moment."""
    if operator == "==" or _kind_of(field, contract) != "time":
        return operator
    is_day = field not in _FIXED and contract.fields[field].type == "date"
    if is_day is (len(text) == _DAY):
        return operator
    return _DAY_WITH_MOMENT[operator] if is_day else _MOMENT_WITH_DAY[operator]


def _read_value(field: str, value: str | int, contract: Contract) -> Scalar:
    kind = _kind_of(field, contract)
    if kind == "text":
        return str(value)
    return int(value) if kind == "number" else parse_moment(str(value))


def _refuse_form(node: Expression) -> Rejected:
    return _refuse("FILTER_INVALID", f"an index cannot answer `{to_text(node)}`", _FORM)


def _refuse(code: str, message: str, remedy: str, parameter: str = "filter") -> Rejected:
    return Rejected(code, message, remedy=remedy, fields=(_field_of(code, message, parameter),))


def _field_of(code: str, message: str, parameter: str) -> FieldError:
    return FieldError("", code, message, within="query", name=parameter)
