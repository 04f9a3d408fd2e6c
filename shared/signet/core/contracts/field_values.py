"""A document's data against its contract's fields: all errors at once, and the data in its normal form.

There is one normal form, so that equal content has equal bytes. An absent field has its default, and an
explicit null stays null. A timestamp is UTC with six digits after the second, so that texts sort as their
moments do. A ref is a UUID in small letters. A business key is composed, without blanks around it.

No message repeats a value: it may be personal.
"""

import re
from collections.abc import Mapping
from typing import Any

from signet.core.contracts.fields import (
    MAX_SAFE_INTEGER,
    BoolField,
    DateField,
    DecimalField,
    EnumField,
    Field,
    IntField,
    ListField,
    ObjectField,
    RefField,
    StringField,
    TimestampField,
)
from signet.core.errors import FieldError
from signet.core.validation.strict_model import point
from signet.core.validation.text import (
    find_text_problem,
    has_hidden,
    is_calendar_date,
    normalise_timestamp,
    replace_surrogates,
    write_key,
)

MAX_FIELD_ERRORS = 200
MAX_SHOWN_NAME = 100
MAX_SHOWN_VALUES = 8

_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")

_Path = tuple[str | int, ...]


def validate_fields(
    fields: Mapping[str, Field], data: Any
) -> tuple[dict[str, Any] | None, tuple[FieldError, ...]]:
    """Return the whole data of a document in its normal form, or its errors."""
    mistakes: list[FieldError] = []
    values = _parse_object(fields, data, (), mistakes)
    return (None if mistakes else values), tuple(mistakes[:MAX_FIELD_ERRORS])


def check_value(field: Field, value: Any) -> tuple[FieldError, ...]:
    """Return the errors of one value; the pointers begin at the value."""
    mistakes: list[FieldError] = []
    if value is not None:
        _parse_value(field, value, (), mistakes)
    elif field.required:
        mistakes.append(_required(()))
    return tuple(mistakes[:MAX_FIELD_ERRORS])


def _refuse(mistakes: list[FieldError], path: _Path, code: str, message: str) -> None:
    mistakes.append(FieldError(point(path), code, message))


def _required(path: _Path) -> FieldError:
    return FieldError(point(path), "FIELD_REQUIRED", "is required")


def _parse_object(
    fields: Mapping[str, Field], data: Any, path: _Path, mistakes: list[FieldError]
) -> dict[str, Any]:
    if not isinstance(data, dict):
        _refuse(mistakes, path, "FIELD_TYPE", "wants an object")
        return {}
    values: dict[str, Any] = {}
    for name, field in fields.items():
        value = data.get(name, field.default)
        if value is not None:
            values[name] = _parse_value(field, value, (*path, name), mistakes)
        elif field.required:
            mistakes.append(_required((*path, name)))
        elif name in data:
            values[name] = None
    for name in data:
        if name not in fields:
            shown = replace_surrogates(str(name))[:MAX_SHOWN_NAME]
            _refuse(mistakes, (*path, shown), "FIELD_UNKNOWN", "is no field of the contract")
    return values


def _parse_value(field: Field, value: Any, path: _Path, mistakes: list[FieldError]) -> Any:
    match field:
        case ObjectField():
            return _parse_object(field.fields, value, path, mistakes)
        case ListField():
            return _parse_list(field, value, path, mistakes)
        case IntField() | DecimalField():
            return _parse_number(field, value, path, mistakes)
        case BoolField():
            if not isinstance(value, bool):
                _refuse(mistakes, path, "FIELD_TYPE", "wants true or false")
            return value
        case _:
            return _parse_text(field, value, path, mistakes)


def _parse_list(field: ListField, value: Any, path: _Path, mistakes: list[FieldError]) -> list[Any]:
    if not isinstance(value, list):
        _refuse(mistakes, path, "FIELD_TYPE", "wants a list")
        return []
    if len(value) > field.max_items:
        _refuse(mistakes, path, "FIELD_TOO_MANY_ITEMS", f"has more than {field.max_items} items")
        return []
    return [_parse_value(field.of, item, (*path, index), mistakes) for index, item in enumerate(value)]


def _parse_number(field: IntField | DecimalField, value: Any, path: _Path, mistakes: list[FieldError]) -> Any:
    if isinstance(value, bool) or not isinstance(value, int):
        units = f" of units of 1/{10**field.scale}" if isinstance(field, DecimalField) else ""
        _refuse(mistakes, path, "FIELD_TYPE", f"wants a whole number{units}")
    elif abs(value) > MAX_SAFE_INTEGER:
        _refuse(mistakes, path, "FIELD_NUMBER_UNSAFE", "is beyond ±(2^53 - 1): JSON cannot keep it")
    elif value < field.minimum:
        _refuse(mistakes, path, "FIELD_TOO_SMALL", f"is less than {field.minimum}")
    elif value > field.maximum:
        _refuse(mistakes, path, "FIELD_TOO_LARGE", f"is more than {field.maximum}")
    return value


_TextField = StringField | DateField | TimestampField | EnumField | RefField


def _parse_text(field: _TextField, value: Any, path: _Path, mistakes: list[FieldError]) -> Any:
    if not isinstance(value, str):
        _refuse(mistakes, path, "FIELD_TYPE", f"wants {_describe(field)}")
        return value
    problem = find_text_problem(value)
    if problem is not None:
        _refuse(mistakes, path, "FIELD_TEXT_INVALID", problem)
        return value
    if isinstance(field, StringField):
        if field.unique:
            value = write_key(value)
            if has_hidden(value):
                _refuse(mistakes, path, "FIELD_TEXT_INVALID", "contains a character that nobody sees")
        _check_length(field, value, path, mistakes)
        return value
    if isinstance(field, EnumField):
        if value not in field.values:
            _refuse(mistakes, path, "FIELD_NOT_IN_ENUM", f"wants {_describe(field)}")
        return value
    normal = _normalise(field, value)
    if normal is None:
        _refuse(mistakes, path, "FIELD_TYPE", f"wants {_describe(field)}")
    return normal


def _check_length(field: StringField, value: str, path: _Path, mistakes: list[FieldError]) -> None:
    if len(value) < field.min_length:
        _refuse(mistakes, path, "FIELD_TOO_SHORT", f"has fewer than {field.min_length} characters")
    elif len(value) > field.max_length:
        _refuse(mistakes, path, "FIELD_TOO_LONG", f"has more than {field.max_length} characters")


def _normalise(field: DateField | TimestampField | RefField, value: str) -> str | None:
    if isinstance(field, TimestampField):
        return normalise_timestamp(value)
    if isinstance(field, DateField):
        return value if is_calendar_date(value) else None
    return value.lower() if _UUID.fullmatch(value) else None


def _describe(field: _TextField) -> str:
    match field:
        case StringField():
            return "a text"
        case DateField():
            return "a date such as 2026-01-31"
        case TimestampField():
            return "a moment with its offset, such as 2026-01-31T12:00:00Z"
        case RefField():
            return f"the id (a UUID) of a {field.entity_type}"
        case _:
            more = ", …" if len(field.values) > MAX_SHOWN_VALUES else ""
            return f"one of: {', '.join(field.values[:MAX_SHOWN_VALUES])}{more}"
