"""The base of everything that authors write: unknown keys and guessed types are mistakes."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from signet.core.validation.finding import Finding, make_finding
from signet.core.validation.text import NAME_PATTERN

MAX_DOCUMENT_CHARACTERS = 1_048_576
MAX_MISTAKES = 200
# Beyond it not every reader of JSON keeps an integer, and canonical JSON has no form for it.
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
ExpressionText = Annotated[str, Field(min_length=1, max_length=2_000)]

_DURATION = re.compile(
    r"P(?:(?P<weeks>[0-9]{1,4})W|(?:(?P<days>[0-9]{1,4})D)?(?:T(?=[0-9])(?:(?P<hours>[0-9]{1,5})H)?(?:(?P<minutes>[0-9]{1,6})M)?"
    r"(?:(?P<seconds>[0-9]{1,7})S)?)?)"
)
_SECONDS = {"weeks": 604_800, "days": 86_400, "hours": 3_600, "minutes": 60, "seconds": 1}
MAX_DURATION_SECONDS = 10 * 366 * 86_400


def parse_duration_seconds(text: str) -> int:
    """ISO 8601 without months and years, whose length depends on when they begin: PT72H, P3D, P2W."""
    match = _DURATION.fullmatch(text)
    seconds = sum(int(n) * _SECONDS[unit] for unit, n in match.groupdict().items() if n) if match else 0
    if not 0 < seconds <= MAX_DURATION_SECONDS:
        raise ValueError("wants a duration such as PT30M, PT72H, P3D or P2W, of at most ten years")
    return seconds


def is_slug(text: str) -> bool:
    return _SLUG.fullmatch(text) is not None


def _check_duration(text: str) -> str:
    parse_duration_seconds(text)
    return text


Duration = Annotated[str, Field(max_length=40), AfterValidator(_check_duration)]


def point(path: Sequence[str | int]) -> str:
    """A JSON pointer (RFC 6901)."""
    return "".join("/" + _shorten(str(part)).replace("~", "~0").replace("/", "~1") for part in path)


def _shorten(text: str) -> str:
    """A key as long as a document would be repeated by every mistake in it."""
    return text if len(text) <= MAX_SHOWN_KEY_CHARACTERS else f"{text[:MAX_SHOWN_KEY_CHARACTERS]}…"


def parse_strictly(model: type[T], document: Any) -> tuple[T | None, tuple[Finding, ...]]:
    """The document as `model`, or every mistake in it with its place."""
    try:
        # Through JSON text: arrays become tuples without making numbers out of strings.
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
        mistakes = error.errors(include_url=False, include_input=False)[:MAX_MISTAKES]
        return None, tuple(
            make_finding("FIELD_INVALID", point(_as_written(m["loc"], document)), problem=m["msg"])
            for m in mistakes
        )


def _as_written(location: Sequence[str | int], document: Any) -> list[str]:
    """Pydantic's places also name what it tried (`decimal`, `[key]`); an author's pointer does not."""
    parts = [str(part) for part in location]
    written: list[str] = []
    here = document
    for index, part in enumerate(parts):
        is_entry = isinstance(here, list | tuple) and part.isdecimal() and int(part) < len(here)
        if is_entry or (isinstance(here, dict) and part in here):
            here = here[int(part) if is_entry else part]
            written.append(part)
        elif isinstance(here, dict) and index == len(parts) - 1 and part != "[key]":
            written.append(part)  # what is missing
    return written


def _find_unsafe_integers(document: Any) -> Iterator[Finding]:
    waiting: list[tuple[tuple[str | int, ...], Any]] = [((), document)]
    while waiting:
        path, here = waiting.pop()
        if isinstance(here, dict):
            waiting.extend(((*path, str(key)), value) for key, value in here.items())
        elif isinstance(here, list | tuple):
            waiting.extend(((*path, index), value) for index, value in enumerate(here))
        elif isinstance(here, int) and abs(here) > MAX_SAFE_INTEGER:
            place = point(path)
            yield make_finding("DOCUMENT_NUMBER_INVALID", place, where=f"At {place}", number=str(here))
