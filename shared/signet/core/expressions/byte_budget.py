"""A budget of bytes: what values take as compact JSON, found out before anything is built of them.

Nothing here copies a list or an object, and a text is looked at only where its length fits.
"""

from collections.abc import Mapping
from typing import Any

import orjson

# Integers of more bits are not written to be counted. A digit has more than three bits.
_COUNTED_BITS = 64
_NO_LIMIT = 2**62
# The kinds that most values are of: they are told by their type alone, which is quicker.
_SCALARS = frozenset((bool, int, float, type(None)))


class BudgetSpent(Exception):
    """The values take more than the budget. It never leaves the core: its callers answer with a value."""


class ByteBudget:
    """The bytes that are left."""

    __slots__ = ("left",)

    def __init__(self, limit: int) -> None:
        self.left = limit

    def take(self, size: int) -> None:
        self.left -= size
        if self.left < 0:
            raise BudgetSpent

    def take_text(self, text: str) -> None:
        """Take what stands between the quotes of a text."""
        # No character takes less than a byte.
        if len(text) > self.left:
            raise BudgetSpent
        self.take(_count_text(text))

    def take_value(self, value: Any) -> None:
        """Take a whole value. A loop, not recursion: it may be nested deeper than Python's stack."""
        kind = type(value)
        if kind is str:
            self.take(2)
            self.take_text(value)
        elif kind in _SCALARS:
            self.take(_count_scalar(value))
        else:
            self._take_nested(value)

    def _take_nested(self, value: Any) -> None:
        values = [value]
        while values:
            current = values.pop()
            kind = type(current)
            if kind in _SCALARS:
                self.take(_count_scalar(current))
            elif isinstance(current, str):
                self.take(2)
                self.take_text(current)
            elif kind is dict or isinstance(current, Mapping):
                self.take(max(2 * len(current) + 1, 2))
                values.extend(current)
                values.extend(current.values())
            elif isinstance(current, list | tuple):
                self.take(max(len(current) + 1, 2))
                values.extend(current)
            else:
                self.take(_count_scalar(current))


def fits(value: Any, limit: int) -> bool:
    """Return whether the value takes at most so many bytes.

    >>> fits({"a": ["é", None]}, 17), fits({"a": ["é", None]}, 16)
    (True, False)
    """
    try:
        ByteBudget(limit).take_value(value)
    except BudgetSpent:
        return False
    return True


def count_bytes(value: Any) -> int:
    """Count what the value takes, however much that is."""
    budget = ByteBudget(_NO_LIMIT)
    budget.take_value(value)
    return _NO_LIMIT - budget.left


def _count_text(text: str) -> int:
    try:
        return len(orjson.dumps(text)) - 2
    except orjson.JSONEncodeError:
        # Half of a pair of surrogates: Python's encoder writes it, and it is never stored.
        return len(text.encode("utf-8", "surrogatepass"))


def _count_scalar(value: Any) -> int:
    if value is None or value is True:
        return 4
    if value is False:
        return 5
    if isinstance(value, int) and value.bit_length() > _COUNTED_BITS:
        return value.bit_length() // 3 + 2
    # What is no JSON has no size, and no text either.
    return len(repr(value)) if isinstance(value, int | float) else 0
