"""The due time from which on a claim looks: not past what is done and an old snapshot keeps in the index.

A row that is done leaves the index of due rows. While another transaction has an old snapshot, its entry
stays there, and each claim would read all of them. A worker remembers how old the oldest row of a tenant was
when it last looked at everything. Until it does so again, it looks no further back. A row that comes late,
with an earlier due time, waits for that. So does an expired lease. Neither is ever missed.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from signet.store.outbox.queue import EVER, ClaimedRow

# Most transactions take less from their beginning, which is the due time of their rows, to their commit.
MARGIN = timedelta(seconds=10)
LOOK_AT_ALL_SECONDS = 10.0
MAX_TENANTS = 10_000


@dataclass(frozen=True, slots=True)
class _Bound:
    since: datetime
    # When everything was looked at.
    looked_at: float


class ClaimBounds:
    """The bounds of a process, for one queue."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._bounds: dict[UUID, _Bound] = {}

    def find(self, tenant_id: UUID) -> datetime:
        """Return the due time from which on to look; EVER looks at everything."""
        bound = self._bounds.get(tenant_id)
        if bound is None or self._clock() - bound.looked_at >= LOOK_AT_ALL_SECONDS:
            return EVER
        return bound.since

    def note(self, tenant_id: UUID, since: datetime, claimed: Sequence[ClaimedRow]) -> None:
        """Note what a claim found that looked from `since` on."""
        if since != EVER:
            return
        if len(self._bounds) >= MAX_TENANTS:
            self._bounds.clear()
        oldest = min((row.due_at for row in claimed), default=None)
        if oldest is None:
            self._bounds.pop(tenant_id, None)
        else:
            self._bounds[tenant_id] = _Bound(oldest.astimezone(UTC) - MARGIN, self._clock())
