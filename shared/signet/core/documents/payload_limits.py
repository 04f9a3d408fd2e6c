"""Limits of payloads from outside: any JSON value that the context of an instance can hold.

No message repeats a value, because it may be personal.
"""

from collections.abc import Mapping
from typing import Any

from signet.core.canonical_json import canonical_bytes
from signet.core.errors import FieldError
from signet.core.validation.text import find_text_problem

MAX_PAYLOAD_BYTES = 65_536
MAX_PAYLOAD_DEPTH = 20
POINTER = "/payload"


def check_payload(payload: Any) -> FieldError | None:
    """Return the first mistake in the payload."""
    problem = _find_problem(payload, 0)
    if problem is not None:
        return FieldError(POINTER, *problem)
    try:
        size = len(canonical_bytes(payload))
    except ValueError:
        return FieldError(POINTER, "FIELD_NUMBER_UNSAFE", "has a number that JSON cannot keep")
    if size > MAX_PAYLOAD_BYTES:
        return FieldError(POINTER, "FIELD_TOO_LONG", f"has more than {MAX_PAYLOAD_BYTES} bytes")
    return None


def _find_problem(value: Any, depth: int) -> tuple[str, str] | None:
    """Return the code and the sentence of the first problem."""
    if depth > MAX_PAYLOAD_DEPTH:
        return "FIELD_TOO_DEEP", f"is nested deeper than {MAX_PAYLOAD_DEPTH} levels"
    inner: list[Any] = []
    match value:
        case Mapping():
            if not all(isinstance(name, str) for name in value):
                return "FIELD_TYPE", "has a name that is no text"
            inner = [*value, *value.values()]
        case list():
            inner = value
        case str():
            problem = find_text_problem(value)
            return None if problem is None else ("FIELD_TEXT_INVALID", problem)
        case bool() | int() | float() | None:
            return None
        case _:
            return "FIELD_TYPE", "has something in it that is no JSON"
    return next((nested for part in inner if (nested := _find_problem(part, depth + 1)) is not None), None)
