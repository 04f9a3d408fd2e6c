"""Delays between the attempts of work that failed: exponential, capped, and spread.

Half of a delay is fixed, the other half depends on the row's id. So rows that failed together do not come
back together, and the same row at the same attempt always waits as long.
"""

import hashlib
from dataclasses import dataclass
from uuid import UUID

_MOST_DOUBLINGS = 40  # More than any cap needs, and far below what a float can hold.
_DRAW_BYTES = 6  # A float holds them exactly.


@dataclass(frozen=True, slots=True)
class Backoff:
    """A first delay that doubles at each attempt until the cap."""

    first_seconds: float
    cap_seconds: float

    def delay_seconds(self, attempts: int, row_id: UUID) -> float:
        """Return the delay after so many attempts, each longer than the one before until the cap.

        >>> row = UUID("0190a6f0-0000-7000-8000-000000000001")
        >>> 0.5 <= EVENT_BACKOFF.delay_seconds(1, row) < 1
        True
        >>> 30 <= EVENT_BACKOFF.delay_seconds(99, row) < 60
        True
        """
        doublings = min(max(attempts, 1) - 1, _MOST_DOUBLINGS)
        step = min(self.first_seconds * 2.0**doublings, self.cap_seconds)
        return step / 2 + step / 2 * _draw(row_id, attempts)


# The engine's own work usually fails at a lock or a broken connection, effects at services that are down.
EVENT_BACKOFF = Backoff(first_seconds=1, cap_seconds=60)
EFFECT_BACKOFF = Backoff(first_seconds=10, cap_seconds=3600)


def _draw(row_id: UUID, attempts: int) -> float:
    """Return a number from 0 up to 1 that looks random but is the same for the same row and attempt."""
    digest = hashlib.sha256(f"{row_id}:{attempts}".encode()).digest()
    return int.from_bytes(digest[:_DRAW_BYTES]) / 2.0 ** (8 * _DRAW_BYTES)
