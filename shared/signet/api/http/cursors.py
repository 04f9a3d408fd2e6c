"""Pages by the place where the one before has ended, so that what is written meanwhile shifts nothing.

A cursor is a place and no secret: it is read within the caller's tenant and under the caller's own filters.
"""

import base64
import binascii
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from types import UnionType
from typing import Any, Generic, TypeVar

import orjson

from signet.api.http.message import to_json
from signet.core.errors import Rejected
from signet.core.validation.text import find_text_problem

T = TypeVar("T")
# Lambda answers with 6 MB at most, and base64 takes a third of that.
MAX_PAGE_BYTES = 4_000_000
# Of the columns that lists are sorted by.
_LARGEST = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    items: Sequence[T]
    # For the next page; null when there is none.
    next_cursor: str | None


def make_page(
    found: Sequence[T], limit: int, place_of: Callable[[T], Sequence[Any]], filters: object = None
) -> Page[T]:
    """Of one more than was asked for, which says whether there is another page."""
    items = found[:limit]
    is_last = len(found) <= limit or not items
    return Page(items, None if is_last else write_cursor(place_of(items[-1]), filters))


def count_fitting(found: Sequence[object], limit: int) -> int:
    """How many of them a page takes by their size; one at least, which alone is never too large."""
    left = MAX_PAGE_BYTES
    for count, one in enumerate(found[:limit]):
        left -= len(to_json(one))
        if left < 0:
            return max(count, 1)
    return limit


def write_cursor(place: Sequence[Any], filters: object = None) -> str:
    text = orjson.dumps([_sign(filters), *place], default=str)
    return base64.urlsafe_b64encode(text).decode().rstrip("=")


def read_cursor(cursor: str | None, filters: object, *kinds: type | UnionType) -> tuple[Any, ...] | None:
    """The place, each part of its kind (`str | None` where it may be null); None without a cursor."""
    if cursor is None:
        return None
    try:
        text = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        sign, *place = orjson.loads(text)
        if sign != _sign(filters) or len(place) != len(kinds):
            raise ValueError
        return tuple(_read(part, kind) for part, kind in zip(place, kinds, strict=True))
    except (ValueError, TypeError, binascii.Error) as error:
        raise Rejected(
            "CURSOR_INVALID",
            "the cursor is none of this list under these filters",
            remedy="Begin without a cursor, and send each with the filters that it was got with.",
        ) from error


def _read(part: Any, kind: type | UnionType) -> Any:
    if isinstance(kind, UnionType):
        return None if part is None else _read(part, kind.__args__[0])
    if kind is int:
        if isinstance(part, bool) or not isinstance(part, int) or abs(part) > _LARGEST:
            raise ValueError
        return part
    if not isinstance(part, str) or find_text_problem(part) is not None:
        raise ValueError
    return datetime.fromisoformat(part) if kind is datetime else kind(part)


def _sign(filters: object) -> str:
    return blake2b(orjson.dumps(filters, default=str, option=orjson.OPT_SORT_KEYS), digest_size=6).hexdigest()
