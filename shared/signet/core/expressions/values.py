"""The operators on values. They are total: any two JSON values have an answer, and none raises.

`null` equals only `null`. A bool is never a number. Values of different types are unequal and unordered. Only
a list has members; `contains` also looks into strings.
"""

import operator
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

_TIMESTAMP_LENGTHS = range(len("2026-01-31T12:00:00Z"), len("2026-01-31T12:00:00.000000Z") + 1)
_T_POSITION = len("2026-01-31")


def are_equal(left: Any, right: Any) -> bool:
    # A loop, not recursion: a value may be nested deeper than Python's stack.
    pairs = [(left, right)]
    while pairs:
        a, b = pairs.pop()
        if isinstance(a, list) and isinstance(b, list):
            if len(a) != len(b):
                return False
            pairs.extend(zip(a, b, strict=True))
        elif isinstance(a, dict) and isinstance(b, dict):
            if a.keys() != b.keys():
                return False
            pairs.extend((value, b[key]) for key, value in a.items())
        elif a != b or isinstance(a, bool) is not isinstance(b, bool):
            return False
    return True


def order_key(text: str) -> str:
    """Return the text without a timestamp's `Z`, so that 12:00:00.5Z comes after 12:00:00Z."""
    is_timestamp = len(text) in _TIMESTAMP_LENGTHS and text[-1] == "Z" and text[_T_POSITION] == "T"
    return text[:-1] if is_timestamp else text


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_in(item: Any, container: Any) -> bool:
    return isinstance(container, list) and any(are_equal(item, member) for member in container)


def contains(container: Any, item: Any) -> bool:
    """Return whether a list has the item as a member, or a string has it as a part.

    >>> contains(["a", "b"], "a"), contains("abc", "bc"), contains([1], True)
    (True, True, False)
    """
    if isinstance(container, str):
        return isinstance(item, str) and item in container
    return is_in(item, container)


def _make_ordering(holds: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def is_ordered(left: Any, right: Any) -> bool:
        if isinstance(left, str) and isinstance(right, str):
            return holds(order_key(left), order_key(right))
        return is_number(left) and is_number(right) and holds(left, right)

    return is_ordered


OPERATIONS: Mapping[str, Callable[[Any, Any], bool]] = MappingProxyType(
    {
        "==": are_equal,
        "!=": lambda left, right: not are_equal(left, right),
        ">": _make_ordering(operator.gt),
        ">=": _make_ordering(operator.ge),
        "<": _make_ordering(operator.lt),
        "<=": _make_ordering(operator.le),
        "in": is_in,
        "contains": contains,
    }
)
