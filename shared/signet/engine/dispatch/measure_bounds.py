"""The time from which on figures of a queue look: not past what an old snapshot keeps in its indexes.

A figure may be a little wrong. So a process looks at everything once in ten minutes, and remembers the oldest
row that waits or has lost its worker. In between it looks from there on. A row that comes late, with an
earlier time, is counted from the next look at everything on.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

MARGIN = timedelta(minutes=1)
LOOK_AT_ALL_SECONDS = 600.0
MAX_KEYS = 10_000
# The name of a queue, and a tenant; None is all of them.
Measured = tuple[str, UUID | None]


@dataclass(frozen=True, slots=True)
class _MeasuredSince:
    since: datetime
    looked_at: float


class MeasureBounds:
    """The bounds of a process, for the figures of any queue."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._bounds: dict[Measured, _MeasuredSince] = {}

    def find(self, measured: Measured, find_oldest: Callable[[], datetime]) -> datetime:
        """Return since when to look; `find_oldest` looks at everything."""
        bound = self._bounds.get(measured)
        if bound is None or self._clock() - bound.looked_at >= LOOK_AT_ALL_SECONDS:
            if len(self._bounds) >= MAX_KEYS:
                self._bounds.clear()
            bound = self._bounds[measured] = _MeasuredSince(find_oldest() - MARGIN, self._clock())
        return bound.since
