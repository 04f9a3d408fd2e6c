"""The base of every model of what authors write: unknown keys and guessed types are errors."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from signet.core.validation.finding import Finding, make_finding
from signet.core.validation.model_errors import (
    MAX_LISTED_MISTAKES,
    MAX_MISTAKES,
    describe_mistakes,
    describe_too_many,
)
from signet.core.validation.text import NAME_PATTERN

MAX_DOCUMENT_CHARACTERS = 1_048_576
# Beyond it some readers of JSON lose digits of an integer, and canonical JSON has no form for it.
MAX_SAFE_INTEGER = 2**53 - 1
MAX_SHOWN_KEY_CHARACTERS = 200


class Strict(BaseModel):
    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, validate_by_name=True, validate_by_alias=True
    )


T = TypeVar("T", bound=Strict)

Name = Annotated[str, Field(pattern=NAME_PATTERN)]
_LONG_NUMBER = re.compile(r"\d{16}")
_SLUG = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")
Slug = Annotated[str, Field(pattern=rf"^{_SLUG.pattern}$")]
Label = Annotated[str, Field(max_length=200)]
Permission = Annotated[str, Field(pattern=r"^(\*|[a-z][a-z0-9_]*):(\*|[a-z][a-z0-9_.]*)$", max_length=200)]
# One act, without wildcards: what a person must be able to do, and no role's reach.
OneAct = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*:[a-z][a-z0-9_.]*$", max_length=200)]
ExpressionText = Annotated[str, Field(min_length=1, max_length=2_000)]


def is_absent(value: object) -> bool:
    """Return whether a field is left out, so that documents from before it keep their hashes."""
    return value is None


def is_slug(text: str) -> bool:
    return _SLUG.fullmatch(text) is not None


def point(path: Sequence[str | int]) -> str:
    """Return the JSON pointer (RFC 6901) of a path.

    >>> point(["fields", "a/b", 0])
    '/fields/a~1b/0'
    """
    return "".join("/" + _shorten(str(part)).replace("~", "~0").replace("/", "~1") for part in path)


def _shorten(text: str) -> str:
    """Return a key short enough to be repeated by every error inside it."""
    return text if len(text) <= MAX_SHOWN_KEY_CHARACTERS else f"{text[:MAX_SHOWN_KEY_CHARACTERS]}…"


def parse_strictly(model: type[T], document: Any) -> tuple[T | None, tuple[Finding, ...]]:
    """Return the document as `model`, or every error in it with its place."""
    try:
        # JSON text makes tuples of arrays without making numbers of strings.
        text = json.dumps(document, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        return None, (make_finding("DOCUMENT_NOT_JSON", "", reason=str(error)),)
    if len(text) > MAX_DOCUMENT_CHARACTERS:
        return None, (make_finding("DOCUMENT_TOO_LARGE", "", limit=MAX_DOCUMENT_CHARACTERS),)
    unsafe = tuple(_find_unsafe_integers(document)) if _LONG_NUMBER.search(text) else ()
    if unsafe:
        return None, unsafe[:MAX_MISTAKES]
    try:
        return model.model_validate_json(text), ()
    except ValidationError as error:
        if error.error_count() > MAX_LISTED_MISTAKES:
            problem = describe_too_many(error.error_count())
            return None, (make_finding("FIELD_INVALID", "/", problem=problem),)
        mistakes = describe_mistakes(error.errors(include_url=False, include_input=False), document)
        return None, tuple(make_finding("FIELD_INVALID", point(m.path), problem=m.sentence) for m in mistakes)


def _find_unsafe_integers(document: Any) -> Iterator[Finding]:
    waiting: list[tuple[tuple[str | int, ...], Any]] = [((), document)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, dict):
            waiting.extend(((*path, str(key)), inner) for key, inner in value.items())
        elif isinstance(value, list | tuple):
            waiting.extend(((*path, index), inner) for index, inner in enumerate(value))
        elif isinstance(value, int) and abs(value) > MAX_SAFE_INTEGER:
            place = point(path)
            yield make_finding("DOCUMENT_NUMBER_INVALID", place, where=f"At {place}", number=str(value))
