"""Errors without their messages: type and place, for logs and for Sentry.

Messages of libraries repeat their input: a row that a constraint refused, a value that did not parse. So only
types, codes and places are told.
"""

import traceback
from collections.abc import Iterator
from typing import Any

from signet.core.errors import SignetError

MAX_FRAMES = 30
MAX_CAUSES = 5


def describe_crash(error: BaseException) -> list[dict[str, Any]]:
    """Describe an error, followed by its causes."""
    return [_describe(link) for link in list_chain(error)]


def list_chain(error: BaseException) -> Iterator[BaseException]:
    current: BaseException | None = error
    for _ in range(MAX_CAUSES):
        if current is None:
            return
        yield current
        current = current.__cause__ or (None if current.__suppress_context__ else current.__context__)


def name_error(error: BaseException) -> str:
    kind = type(error)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def code_of(error: BaseException) -> str | None:
    """Return our code, or the SQLSTATE of the database's error."""
    if isinstance(error, SignetError):
        return error.code
    state = getattr(error, "sqlstate", None)
    return state if isinstance(state, str) else None


def _describe(error: BaseException) -> dict[str, Any]:
    frames = traceback.extract_tb(error.__traceback__)[-MAX_FRAMES:]
    described: dict[str, Any] = {
        "error": name_error(error),
        "frames": [f"{_shorten(frame.filename)}:{frame.lineno} {frame.name}" for frame in frames],
    }
    code = code_of(error)
    if code is not None:
        described["code"] = code
    constraint = getattr(getattr(error, "diag", None), "constraint_name", None)
    if constraint:
        described["constraint"] = constraint
    return described


def _shorten(path: str) -> str:
    """Shorten a path to its part within the package, without the place of the installation."""
    for mark in ("/site-packages/", "/shared/", "/lib/"):
        _, separator, rest = path.rpartition(mark)
        if separator:
            return rest
    return path.rpartition("/")[2]
