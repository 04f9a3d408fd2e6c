"""Sets of whole numbers as unions of closed intervals. A bound of None is infinite."""

Interval = tuple[int | None, int | None]
# Intervals ascend, and neither overlap nor touch.
Intervals = tuple[Interval, ...]


def unite(a: Intervals, b: Intervals) -> Intervals:
    """Return each value that is in one of the two.

    >>> unite(((1, 3),), ((4, None),))
    ((1, None),)
    """
    united: list[Interval] = []
    for low, high in sorted((*a, *b), key=_low_key):
        if united and _reaches(united[-1][1], low):
            united[-1] = (united[-1][0], _later_end(united[-1][1], high))
        else:
            united.append((low, high))
    return tuple(united)


def intersect(a: Intervals, b: Intervals) -> Intervals:
    """Return each value that is in both."""
    shared: list[Interval] = []
    for a_low, a_high in a:
        for b_low, b_high in b:
            low = max((bound for bound in (a_low, b_low) if bound is not None), default=None)
            high = min((bound for bound in (a_high, b_high) if bound is not None), default=None)
            if low is None or high is None or low <= high:
                shared.append((low, high))
    return tuple(shared)


def complement(values: Intervals, whole: Interval) -> Intervals:
    """Return each value of the whole that is not among these.

    >>> complement(((1, 3),), (0, 9))
    ((0, 0), (4, 9))
    """
    gaps: list[Interval] = []
    low: int | None = None
    for start, end in values:
        if start is not None:
            gaps.append((low, start - 1))
        if end is None:
            break
        low = end + 1
    else:
        gaps.append((low, None))
    return intersect(tuple(gaps), (whole,))


def _low_key(interval: Interval) -> tuple[bool, int]:
    return (interval[0] is not None, interval[0] or 0)


def _reaches(high: int | None, low: int | None) -> bool:
    return high is None or low is None or low <= high + 1


def _later_end(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else max(a, b)
