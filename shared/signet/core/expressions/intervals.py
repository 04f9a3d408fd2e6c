"""Sets of whole numbers as unions of closed intervals, plus null. A bound of None is infinite."""

from dataclasses import dataclass

Interval = tuple[int | None, int | None]


@dataclass(frozen=True, slots=True)
class Cases:
    """A set of numbers, perhaps with null. The intervals ascend and neither overlap nor touch."""

    intervals: tuple[Interval, ...]
    null: bool


def unite(a: Cases, b: Cases) -> Cases:
    """Return each value that is in one of the two.

    >>> unite(Cases(((1, 3),), False), Cases(((4, None),), True))
    Cases(intervals=((1, None),), null=True)
    """
    united: list[Interval] = []
    for low, high in sorted((*a.intervals, *b.intervals), key=_low_key):
        if united and _reaches(united[-1][1], low):
            united[-1] = (united[-1][0], _later_end(united[-1][1], high))
        else:
            united.append((low, high))
    return Cases(tuple(united), a.null or b.null)


def intersect(a: Cases, b: Cases) -> Cases:
    """Return each value that is in both."""
    shared: list[Interval] = []
    for a_low, a_high in a.intervals:
        for b_low, b_high in b.intervals:
            low = max((bound for bound in (a_low, b_low) if bound is not None), default=None)
            high = min((bound for bound in (a_high, b_high) if bound is not None), default=None)
            if low is None or high is None or low <= high:
                shared.append((low, high))
    return Cases(tuple(shared), a.null and b.null)


def complement(cases: Cases, whole: Interval) -> Cases:
    """Return each value of the whole, and null, that is not among the cases.

    >>> complement(Cases(((1, 3),), True), (0, 9))
    Cases(intervals=((0, 0), (4, 9)), null=False)
    """
    gaps: list[Interval] = []
    low: int | None = None
    for start, end in cases.intervals:
        if start is not None:
            gaps.append((low, start - 1))
        if end is None:
            break
        low = end + 1
    else:
        gaps.append((low, None))
    return Cases(intersect(Cases(tuple(gaps), False), Cases((whole,), False)).intervals, not cases.null)


def _low_key(interval: Interval) -> tuple[bool, int]:
    return (interval[0] is not None, interval[0] or 0)


def _reaches(high: int | None, low: int | None) -> bool:
    return high is None or low is None or low <= high + 1


def _later_end(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else max(a, b)
