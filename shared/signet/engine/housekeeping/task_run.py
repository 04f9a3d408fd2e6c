"""One run of a housekeeping task: batch after batch, each a short transaction, until its time is up.

A batch locks the task's row first and keeps the cursor last. Work and cursor are committed together, and no
other runner works on the task meanwhile. So a run that is cut, or killed, goes on where it was.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from signet.core.errors import Superseded
from signet.engine.telemetry import Telemetry
from signet.store.database import Connection, Database
from signet.store.operations.housekeeping import (
    About,
    ClaimedTask,
    find_expired_tenants,
    find_tenants,
    hold_task,
    keep_cursor,
)
from signet.store.outbox.queue import EVER
from signet.store.wake_ups import QueueName

Clock = Callable[[], float]
# Takes at most so many rows of the tenant, and returns their number; fewer means that these were the last.
Batch = Callable[[Connection, UUID, int], int]
# Finds the next tenants with work after one of them.
FindTenants = Callable[[Connection, UUID | None], list[UUID]]
# Longer than any batch may take: the limits of a statement and of a lock are far below.
LEASE_SECONDS = 120.0
# At most so many rows in one transaction.
BATCH_ROWS = 500
# Longer than any transaction that takes or renews a lease.
LEASE_MARGIN = timedelta(minutes=1)
# At most so many tenants in one query.
TENANTS_AT_A_LOOK = 200
AFTER = "after"


@dataclass(frozen=True, slots=True)
class TaskLimits:
    """The limits of one run. What is left is due again at once, after the tasks that have waited longer."""

    rows: int = 50_000
    seconds: float = 20.0
    batch_rows: int = BATCH_ROWS


@dataclass(slots=True)
class TaskRun:
    """A task at work: its transactions, its cursor and its count of rows."""

    database: Database
    telemetry: Telemetry
    claimed: ClaimedTask
    limits: TaskLimits
    clock: Clock = time.monotonic
    rows: int = 0
    # More is left than this run took.
    is_cut: bool = False
    cursor: Mapping[str, Any] = field(init=False)
    # The tenant that it works for.
    tenant_id: UUID | None = field(init=False, default=None)
    _began: float = field(init=False)

    def __post_init__(self) -> None:
        self.cursor, self._began = self.claimed.cursor or {}, self.clock()

    @property
    def is_over(self) -> bool:
        return self.rows >= self.limits.rows or self.clock() - self._began >= self.limits.seconds

    @contextmanager
    def batch(self, tenant_id: UUID | None = None) -> Iterator[Connection]:
        """Open a transaction of one tenant, or of none, in which the task is held."""
        opened = (
            self.database.tenantless_transaction()
            if tenant_id is None
            else self.database.transaction(tenant_id)
        )
        with opened as connection:
            self._hold(connection)
            yield connection

    def keep(self, connection: Connection, cursor: Mapping[str, Any]) -> None:
        self.cursor = dict(cursor)
        keep_cursor(connection, self.claimed, cursor)

    def finish(self, connection: Connection, tenant_id: UUID) -> None:
        """Move the cursor past the tenant, with its last batch."""
        self.keep(connection, {AFTER: str(tenant_id)})

    def skip(self, connection: Connection) -> None:
        """Move the cursor past a tenant that failed. It gets its next turn after all others."""
        if self.tenant_id is not None:
            self.finish(connection, self.tenant_id)

    @property
    def looks_since(self) -> datetime:
        """The time from which on leases are looked at: each tenth run, and one after a failure, look at all.

        In between, a lease that expired before the last run is not looked for. An old snapshot may keep the
        entries of all that is done since in the index.
        """
        looked_at = self.claimed.looked_at
        return EVER if looked_at is None else looked_at - LEASE_MARGIN

    def walk_tenants(self, about: About, kept_seconds: float = 0.0) -> Iterator[UUID]:
        """Yield the tenants with work of this kind, from the one after the cursor on."""

        def find(connection: Connection, after: UUID | None) -> list[UUID]:
            return find_tenants(
                connection, about, kept_seconds=kept_seconds, after=after, at_most=TENANTS_AT_A_LOOK
            )

        return self._walk(find)

    def _walk(self, find: FindTenants) -> Iterator[UUID]:
        """Yield what is found, tenant by tenant.

        A tenant that its caller does not finish in a batch is finished here, when the next one is asked for.
        """
        while tenants := self._find(find):
            for tenant_id in tenants:
                if self.is_over:
                    self.is_cut = True
                    return
                self.tenant_id = tenant_id
                yield tenant_id
                self.tenant_id = None
                if self.is_cut:
                    return
                if self.cursor.get(AFTER) != str(tenant_id):
                    with self.batch() as connection:
                        self.finish(connection, tenant_id)

    def each_batch(self, about: About, do: Batch, kept_seconds: float = 0.0) -> None:
        """Run the batches of each tenant that has work."""
        for tenant_id in self.walk_tenants(about, kept_seconds):
            self._take_batches(tenant_id, do)

    def each_expired(self, queue: QueueName, do: Batch) -> None:
        """Run the batches of each tenant with leases that have expired."""

        def find(connection: Connection, after: UUID | None) -> list[UUID]:
            return find_expired_tenants(
                connection, queue, since=self.looks_since, after=after, at_most=TENANTS_AT_A_LOOK
            )

        for tenant_id in self._walk(find):
            self._take_batches(tenant_id, do)

    def _take_batches(self, tenant_id: UUID, do: Batch) -> None:
        while True:
            with self.batch(tenant_id) as connection:
                taken = do(connection, tenant_id, self.limits.batch_rows)
                is_last = taken < self.limits.batch_rows
                if is_last:
                    self.finish(connection, tenant_id)
            self.rows += taken
            if is_last:
                return
            if self.is_over:
                self.is_cut = True
                return

    def _find(self, find: FindTenants) -> list[UUID]:
        after = self.cursor.get(AFTER)
        with self.database.tenantless_transaction() as connection:
            return find(connection, None if after is None else UUID(after))

    def _hold(self, connection: Connection) -> None:
        if not hold_task(connection, self.claimed, LEASE_SECONDS):
            raise Superseded("TASK_TAKEN", f"another process runs '{self.claimed.task}' by now")
