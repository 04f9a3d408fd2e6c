"""Mistakes that a model finds in what was sent, with codes and sentences of our own.

Pydantic's words change with its versions, and speak of Python. Its places name what it tried, too.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

MAX_MISTAKES = 200
# More are told as one: listing them takes longer than finding them.
MAX_LISTED_MISTAKES = 2_000
UNKNOWN = ("FIELD_INVALID", "is not valid")
_TEXT = ("FIELD_TYPE", "wants a text")
_WHOLE = ("FIELD_TYPE", "wants a whole number")
_NUMBER = ("FIELD_TYPE", "wants a number")
_TRUTH = ("FIELD_TYPE", "wants true or false")
_OBJECT = ("FIELD_TYPE", "wants an object")
_LIST = ("FIELD_TYPE", "wants a list")
_MOMENT = ("FIELD_TYPE", "wants a moment with its time zone, such as 2026-01-31T08:00:00Z")
_ID = ("FIELD_TYPE", "wants an id such as 018f2f6e-7b7a-7c3e-9d3c-1f2a3b4c5d6e")
_DIGITS = ("FIELD_RANGE", "has too many digits")
# By the type of pydantic's error. What stands in braces is in its context.
_WORDS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "missing": ("FIELD_REQUIRED", "is required"),
        "extra_forbidden": ("FIELD_UNKNOWN", "is no field here"),
        "none_required": ("FIELD_TYPE", "wants null"),
        "string_type": _TEXT,
        "string_sub_type": _TEXT,
        "string_unicode": ("FIELD_TEXT_INVALID", "has a character that no text keeps"),
        "string_too_short": ("FIELD_TOO_SHORT", "wants at least {min_length} character(s)"),
        "string_too_long": ("FIELD_TOO_LONG", "has more than {max_length} character(s)"),
        "string_pattern_mismatch": ("FIELD_PATTERN", "wants a text of the form {pattern}"),
        "int_type": _WHOLE,
        "int_parsing": _WHOLE,
        "int_parsing_size": _DIGITS,
        "int_from_float": _WHOLE,
        "float_type": _NUMBER,
        "float_parsing": _NUMBER,
        "finite_number": _NUMBER,
        "decimal_type": _NUMBER,
        "decimal_parsing": _NUMBER,
        "decimal_max_digits": _DIGITS,
        "decimal_max_places": _DIGITS,
        "decimal_whole_digits": _DIGITS,
        "bool_type": _TRUTH,
        "bool_parsing": _TRUTH,
        "dict_type": _OBJECT,
        "mapping_type": _OBJECT,
        "model_type": _OBJECT,
        "model_attributes_type": _OBJECT,
        "dataclass_type": _OBJECT,
        "list_type": _LIST,
        "tuple_type": _LIST,
        "set_type": _LIST,
        "frozen_set_type": _LIST,
        "iterable_type": _LIST,
        "too_short": ("FIELD_TOO_SHORT", "wants at least {min_length} item(s)"),
        "too_long": ("FIELD_TOO_LONG", "has more than {max_length} item(s)"),
        "greater_than": ("FIELD_RANGE", "wants more than {gt}"),
        "greater_than_equal": ("FIELD_RANGE", "wants {ge} or more"),
        "less_than": ("FIELD_RANGE", "wants less than {lt}"),
        "less_than_equal": ("FIELD_RANGE", "wants {le} or less"),
        "literal_error": ("FIELD_CHOICE", "wants {expected}"),
        "enum": ("FIELD_CHOICE", "wants {expected}"),
        "union_tag_invalid": ("FIELD_CHOICE", "wants one of {expected_tags} as {discriminator}"),
        "union_tag_not_found": ("FIELD_REQUIRED", "wants a {discriminator}"),
        "uuid_type": _ID,
        "uuid_parsing": _ID,
        "datetime_type": _MOMENT,
        "datetime_parsing": _MOMENT,
        "datetime_from_date_parsing": _MOMENT,
        "timezone_aware": _MOMENT,
        # One of our own checks said it.
        "value_error": ("FIELD_INVALID", "{error}"),
    }
)
# Every code that a mistake may have.
CODES = frozenset(code for code, _ in (*_WORDS.values(), UNKNOWN))


@dataclass(frozen=True, slots=True)
class ModelError:
    path: tuple[str, ...]
    code: str
    sentence: str


def describe_mistakes(errors: Sequence[Mapping[str, Any]], document: Any) -> tuple[ModelError, ...]:
    """Describe pydantic's errors about a document, each once and at its place there."""
    found = dict.fromkeys(_describe(error, document) for error in _leave_out_echoes(errors))
    return tuple(found)[:MAX_MISTAKES]


def describe_too_many(count: int) -> str:
    return f"has {count} mistakes, which are too many to list"


def describe_mistake(error: Mapping[str, Any]) -> tuple[str, str]:
    """Return the code and the sentence of one of pydantic's errors."""
    code, sentence = _WORDS.get(error["type"], UNKNOWN)
    return code, sentence.format_map(error.get("ctx", {}))


def _describe(error: Mapping[str, Any], document: Any) -> ModelError:
    return ModelError(tuple(find_written_path(error["loc"], document)), *describe_mistake(error))


def _leave_out_echoes(errors: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Leave out that a list is too short where only its items are wrong: pydantic has not counted these."""
    parents = {error["loc"][:length] for error in errors for length in range(len(error["loc"]))}
    return (error for error in errors if error["type"] != "too_short" or error["loc"] not in parents)


def find_written_path(location: Sequence[str | int], document: Any) -> list[str]:
    """Return the path as the author wrote it. Pydantic's also names what it tried (`decimal`, `[key]`)."""
    parts = [str(part) for part in location]
    written: list[str] = []
    value = document
    for index, part in enumerate(parts):
        is_entry = isinstance(value, list | tuple) and part.isdecimal() and int(part) < len(value)
        if is_entry or (isinstance(value, dict) and part in value):
            value = value[int(part) if is_entry else part]
            written.append(part)
        elif isinstance(value, dict) and index == len(parts) - 1 and not part.startswith("["):
            written.append(part)  # the missing key
    return written
