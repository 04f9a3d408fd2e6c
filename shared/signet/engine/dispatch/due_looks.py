"""Looks for tenants with work: at everything from time to time, and in between at what has come since.

A row that is done leaves the indexes of due rows and of leases. While another transaction has an old
snapshot, its entry stays there, and a look at everything reads all of them. So a process remembers what such
a look has found. Until the next one it asks from there on. Of a tenant that waited, that is its oldest row,
and of each other the time of the look. A row that was committed late, with an earlier due time, waits for
the next look at everything. It is never missed.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from signet.store.database import Connection
from signet.store.outbox.due_tenants import DueTenant, due_tenants, due_tenants_since
from signet.store.outbox.queue import Queue
from signet.store.tenants.tenants import read_now


@dataclass(frozen=True, slots=True)
class LookPlan:
    """The time between two looks at everything, and the longest transaction that is seen at once."""

    look_at_all_seconds: float
    margin: timedelta


# For a loop that looks many times a second, and for a sweep once a minute, which is a safety net.
OFTEN = LookPlan(10.0, timedelta(seconds=10))
SELDOM = LookPlan(600.0, timedelta(minutes=1))


@dataclass(frozen=True, slots=True)
class _Seen:
    since: datetime
    known: Mapping[UUID, datetime]
    looked_at: float


class DueLooks:
    """The looks of a process at one queue."""

    def __init__(
        self, queue: Queue[Any], plan: LookPlan | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._queue = queue
        self._plan = plan or OFTEN
        self._clock = clock
        self._seen: _Seen | None = None

    def list_tenants(self, connection: Connection, *, at_most: int) -> list[DueTenant]:
        """List tenants with work, those that have waited longest first."""
        seen = self._seen
        if seen is None or self._clock() - seen.looked_at >= self._plan.look_at_all_seconds:
            return self._look_at_all(connection, at_most)
        return due_tenants_since(connection, self._queue, since=seen.since, known=seen.known, at_most=at_most)

    def _look_at_all(self, connection: Connection, at_most: int) -> list[DueTenant]:
        found, margin = due_tenants(connection, self._queue, at_most=at_most), self._plan.margin
        known = {tenant.tenant_id: tenant.oldest_due_at - margin for tenant in found}
        # Where more may wait than are told, nothing is known of those.
        is_whole = len(found) < at_most
        self._seen = _Seen(read_now(connection) - margin, known, self._clock()) if is_whole else None
        return found
