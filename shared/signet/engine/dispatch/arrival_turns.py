"""Turns of what has just come, while others' work waits in front of it: every second claim looks at it alone.

A claim takes the oldest rows of a tenant. After a bulk of thousands, what another person asks for would wait
until all of it is done. So a tenant with a backlog is looked at in turns.
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from uuid import UUID

# A row is due since its transaction began, by the clock of the database.
MARGIN = timedelta(seconds=0.25)
MAX_TENANTS = 10_000


class ArrivalTurns:
    """The turns of a process, for one queue."""

    def __init__(self, read_now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._read_now = read_now
        # Of a tenant with a backlog: the last look at what had just come.
        self._looked_at: dict[UUID, datetime] = {}
        self._had_turn: set[UUID] = set()

    def take(self, tenant_id: UUID) -> datetime | None:
        """Return since when rows have come that have a turn now; None if it is the turn of the oldest."""
        looked_at = self._looked_at.get(tenant_id)
        if looked_at is None:
            return None
        if tenant_id in self._had_turn:
            self._had_turn.discard(tenant_id)
            return None
        self._had_turn.add(tenant_id)
        self._looked_at[tenant_id] = self._read_now()
        return looked_at - MARGIN

    def note(self, tenant_id: UUID, *, is_full: bool) -> None:
        """Note whether a claim of the oldest was full, so that more waits behind it."""
        if not is_full:
            self._looked_at.pop(tenant_id, None)
            self._had_turn.discard(tenant_id)
        elif tenant_id in self._looked_at or len(self._looked_at) < MAX_TENANTS:
            self._looked_at.setdefault(tenant_id, self._read_now())
