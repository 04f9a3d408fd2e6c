"""When what failed is tried again: exponential, capped, and spread.

Half of a delay is fixed; the other half comes from the row's id, so that rows that failed together do not
come back together, and yet the same row at the same attempt always waits as long.
"""

import hashlib
from dataclasses import dataclass
from uuid import UUID

_MOST_DOUBLINGS = 40  # far above every cap, and far below what a float can hold
_DRAW_BYTES = 6  # a float holds them exactly


@dataclass(frozen=True, slots=True)
class Backoff:
    first_seconds: float
    cap_seconds: float

    def delay_seconds(self, attempts: int, row_id: UUID) -> float:
        """After so many attempts; each waits longer than the one before, until the cap."""
        doublings = min(max(attempts, 1) - 1, _MOST_DOUBLINGS)
        step = min(self.first_seconds * 2.0**doublings, self.cap_seconds)
        return step / 2 + step / 2 * _draw(row_id, attempts)


# The engine's own work usually meets a lock or a broken connection; effects meet services that are down.
EVENT_BACKOFF = Backoff(first_seconds=1, cap_seconds=60)
EFFECT_BACKOFF = Backoff(first_seconds=10, cap_seconds=3600)


def _draw(row_id: UUID, attempts: int) -> float:
    """From 0 up to 1, as if by lot."""
    digest = hashlib.sha256(f"{row_id}:{attempts}".encode()).digest()
    return int.from_bytes(digest[:_DRAW_BYTES]) / 2.0 ** (8 * _DRAW_BYTES)
