"""Schemas of payloads: the part of JSON Schema (2020-12) that costs no more to check than to read.

There are no references, no patterns and no combinations of schemas. So a check takes as long as the payload
is large, by every schema. No message repeats a value, because it may be personal.
"""

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from types import MappingProxyType
from typing import Any

from signet.core.canonical_json import canonical_bytes
from signet.core.errors import FieldError
from signet.core.validation.strict_model import point

MAX_SCHEMA_BYTES = 16_384
MAX_SCHEMA_DEPTH = 10
MAX_SCHEMA_MISTAKES = 20
_Path = tuple[str | int, ...]
_Check = Callable[[Any, Any], bool]


def find_schema_problem(schema: Any) -> tuple[str, str] | None:
    """Return the place of the first mistake in a schema, and what is wrong there."""
    try:
        is_large = len(canonical_bytes(schema)) > MAX_SCHEMA_BYTES
    except ValueError:
        return "", "has a number that JSON cannot keep"
    if is_large:
        return "", f"has more than {MAX_SCHEMA_BYTES} bytes"
    problems = [(point(path), problem) for path, problem in _check_schema(schema, (), 0)]
    return problems[0] if problems else None


def find_payload_mistakes(schema: Mapping[str, Any], payload: Any, root: str) -> tuple[FieldError, ...]:
    """Return what does not fit the schema, each mistake with its place below the root."""
    found = islice(_check(schema, payload, ()), MAX_SCHEMA_MISTAKES)
    return tuple(FieldError(root + point(path), code, message) for path, code, message in found)


def _check_schema(schema: Any, path: _Path, depth: int) -> Iterator[tuple[_Path, str]]:
    if not isinstance(schema, Mapping):
        yield path, "wants an object: a schema"
        return
    if depth > MAX_SCHEMA_DEPTH:
        yield path, f"is nested deeper than {MAX_SCHEMA_DEPTH} levels"
        return
    for name, value in schema.items():
        known = _KEYWORDS.get(name)
        if known is None:
            yield (*path, name), f"is no keyword that is checked; there are {', '.join(_KEYWORDS)}"
        elif not known[0](value):
            yield (*path, name), f"wants {known[1]}"
        elif name == "properties":
            for field, inner in value.items():
                yield from _check_schema(inner, (*path, name, field), depth + 1)
        elif name == "items":
            yield from _check_schema(value, (*path, name), depth + 1)


def _check(schema: Mapping[str, Any], value: Any, path: _Path) -> Iterator[tuple[_Path, str, str]]:
    wanted = schema.get("type", ())
    types = (wanted,) if isinstance(wanted, str) else tuple(wanted)
    if types and not any(_TYPES[name](value) for name in types):
        yield path, "FIELD_TYPE", f"wants {' or '.join(types)}"
        return
    for keyword, (applies, holds, code, sentence) in _LIMITS.items():
        if keyword in schema and applies(value) and not holds(value, schema[keyword]):
            yield path, code, sentence.format(limit=schema[keyword])
    if isinstance(value, Mapping):
        yield from _check_object(schema, value, path)
    if isinstance(value, list) and "items" in schema:
        for index, item in enumerate(value):
            yield from _check(schema["items"], item, (*path, index))


def _check_object(
    schema: Mapping[str, Any], value: Mapping[str, Any], path: _Path
) -> Iterator[tuple[_Path, str, str]]:
    declared = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            yield (*path, name), "FIELD_REQUIRED", "is required"
    for name, inner in value.items():
        if name in declared:
            yield from _check(declared[name], inner, (*path, name))
        elif schema.get("additionalProperties") is False:
            yield (*path, name), "FIELD_UNKNOWN", "is not declared"


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _is_anything(value: Any) -> bool:
    return True


def _is_same(value: Any, other: Any) -> bool:
    """Compare as JSON does: true is not 1, and 1.0 is 1."""
    return canonical_bytes(value) == canonical_bytes(other)


_TYPES: Mapping[str, Callable[[Any], bool]] = MappingProxyType(
    {
        "object": lambda value: isinstance(value, Mapping),
        "array": _is_list,
        "string": _is_text,
        "integer": lambda value: _is_number(value) and value == int(value),
        "number": _is_number,
        "boolean": lambda value: isinstance(value, bool),
        "null": lambda value: value is None,
    }
)
# By keyword: of which values it is asked, whether it holds, and the code and the sentence of a refusal.
_LIMITS: Mapping[str, tuple[Callable[[Any], bool], _Check, str, str]] = MappingProxyType(
    {
        "enum": (
            _is_anything,
            lambda value, values: any(_is_same(value, one) for one in values),
            "FIELD_NOT_IN_ENUM",
            "is none of the values that the schema names",
        ),
        "const": (_is_anything, _is_same, "FIELD_NOT_IN_ENUM", "is not the value that the schema names"),
        "minimum": (_is_number, lambda value, least: value >= least, "FIELD_RANGE", "is less than {limit}"),
        "maximum": (_is_number, lambda value, most: value <= most, "FIELD_RANGE", "is more than {limit}"),
        "minLength": (
            _is_text,
            lambda value, least: len(value) >= least,
            "FIELD_TOO_SHORT",
            "has fewer than {limit} characters",
        ),
        "maxLength": (
            _is_text,
            lambda value, most: len(value) <= most,
            "FIELD_TOO_LONG",
            "has more than {limit} characters",
        ),
        "minItems": (
            _is_list,
            lambda value, least: len(value) >= least,
            "FIELD_TOO_SHORT",
            "has fewer than {limit} items",
        ),
        "maxItems": (
            _is_list,
            lambda value, most: len(value) <= most,
            "FIELD_TOO_LONG",
            "has more than {limit} items",
        ),
    }
)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_type(value: Any) -> bool:
    names = [value] if isinstance(value, str) else value
    return _is_names(names) and bool(names) and all(name in _TYPES for name in names)


def _is_names(value: Any) -> bool:
    return _is_list(value) and all(map(_is_text, value))


# By keyword: whether its value is one, and what it wants.
_KEYWORDS: Mapping[str, tuple[Callable[[Any], bool], str]] = MappingProxyType(
    {
        "type": (_is_type, f"one or more of {', '.join(_TYPES)}"),
        "properties": (lambda value: isinstance(value, Mapping), "an object of schemas"),
        "required": (_is_names, "a list of names"),
        "additionalProperties": (lambda value: isinstance(value, bool), "true or false"),
        "items": (lambda value: isinstance(value, Mapping), "a schema"),
        "enum": (lambda value: _is_list(value) and bool(value), "a list of values"),
        "const": (_is_anything, "a value"),
        "minimum": (_is_number, "a number"),
        "maximum": (_is_number, "a number"),
        **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems"), (_is_count, "a whole number")),
        **dict.fromkeys(("title", "description"), (_is_text, "a text")),
    }
)
