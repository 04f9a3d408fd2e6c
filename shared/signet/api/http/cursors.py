"""Pages that begin behind the last item of the page before, so that new items shift nothing.

A cursor is a position and no secret: it is used within the caller's tenant and the caller's own filters.
"""

import base64
import binascii
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from types import UnionType
from typing import Any, Generic, TypeVar, cast

import orjson

from signet.api.http.message import to_json
from signet.core.errors import FieldError, Rejected
from signet.core.validation.text import find_text_problem

T = TypeVar("T")
# Lambda answers with 6 MB at most, and base64 takes a third of that.
MAX_PAGE_BYTES = 4_000_000
# The limit of the columns that lists are sorted by.
_LARGEST = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    items: Sequence[T]
    # The cursor of the next page; null if there is none.
    next_cursor: str | None


def make_page(
    records: Sequence[T], limit: int, place_of: Callable[[T], Sequence[Any]], filters: object = None
) -> Page[T]:
    """Make a page; a record beyond the limit says that there is another page."""
    items = records[:limit]
    is_last = len(records) <= limit or not items
    return Page(items, None if is_last else write_cursor(place_of(items[-1]), filters))


def cut_page(
    records: Sequence[T], limit: int, cursor: str | None, name_of: Callable[[T], str], filters: object
) -> Page[T]:
    """Cut a page out of a list that the code has, in its order."""
    after = parse_position(cursor, filters, str)
    names = [name_of(record) for record in records]
    start = names.index(after) + 1 if after in names else 0
    return make_page(records[start : start + limit + 1], limit, lambda record: (name_of(record),), filters)


def count_fitting(records: Sequence[object], limit: int) -> int:
    """Count the items that fit into a page by their size: at least one, which alone is never too large."""
    left = MAX_PAGE_BYTES
    for count, record in enumerate(records[:limit]):
        left -= len(to_json(record))
        if left < 0:
            return max(count, 1)
    return limit


def write_cursor(place: Sequence[Any], filters: object = None) -> str:
    text = orjson.dumps([_fingerprint(filters), *place], default=str)
    return base64.urlsafe_b64encode(text).decode().rstrip("=")


def parse_cursor(cursor: str | None, filters: object, *kinds: type | UnionType) -> tuple[Any, ...] | None:
    """Parse a cursor into its position; None without a cursor.

    Each part has its kind; `str | None` allows null.
    """
    if cursor is None:
        return None
    try:
        text = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        sign, *place = orjson.loads(text)
        if sign != _fingerprint(filters) or len(place) != len(kinds):
            raise ValueError
        return tuple(_parse_part(part, kind) for part, kind in zip(place, kinds, strict=True))
    except (ValueError, TypeError, binascii.Error) as error:
        raise Rejected(
            "CURSOR_INVALID",
            "the cursor does not belong to this list with these filters",
            remedy="Begin without a cursor. Send each cursor with the filters of the page that it came from.",
            fields=(
                FieldError("", "CURSOR_INVALID", "is no cursor of this list", within="query", name="cursor"),
            ),
        ) from error


def parse_position(cursor: str | None, filters: object, kind: type[T]) -> T | None:
    """Parse a cursor whose position has one part; None without a cursor."""
    place = parse_cursor(cursor, filters, kind)
    return None if place is None else cast(T, place[0])


def _parse_part(part: Any, kind: type | UnionType) -> Any:
    if isinstance(kind, UnionType):
        return None if part is None else _parse_part(part, kind.__args__[0])
    if kind is int:
        if isinstance(part, bool) or not isinstance(part, int) or abs(part) > _LARGEST:
            raise ValueError
        return part
    if not isinstance(part, str) or find_text_problem(part) is not None:
        raise ValueError
    return datetime.fromisoformat(part) if kind is datetime else kind(part)


def _fingerprint(filters: object) -> str:
    return blake2b(orjson.dumps(filters, default=str, option=orjson.OPT_SORT_KEYS), digest_size=6).hexdigest()
