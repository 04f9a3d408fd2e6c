"""The ends of claims that could not be written because the server was away.

A worker that is still there knows what it holds. It keeps what it has to write, and writes it once the server
takes writes again. So an outage costs no attempt, and a delivery that was made is not made twice. Each end
passes the id of its claim: what another worker has claimed since is left alone.
"""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from signet.core.errors import Transient
from signet.store.database import Connection, Database

# The leases of what does not fit bring it back.
MAX_UNSETTLED = 1_000
MAX_TRIES = 3
# What may be in the way of one row alone: a worker waits for it no more than once in so many seconds.
OWN_CODES = frozenset({"DATABASE_CONTENDED", "STATEMENT_TIMED_OUT"})
PUT_OFF_SECONDS = 15.0
Write = Callable[[Connection], object]


@dataclass(slots=True)
class _Kept:
    tenant_id: UUID
    write: Write
    # When it is tried again, where something was in its way.
    not_before: float = 0.0


class UnsettledClaims:
    """One of each worker; used by one thread at a time."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.monotonic) -> None:
        self._database = database
        self._clock = clock
        self._left: deque[_Kept] = deque(maxlen=MAX_UNSETTLED)

    def end(self, tenant_id: UUID, write: Write) -> None:
        """Write the end of a claim, or keep it for later."""
        for _ in range(MAX_TRIES):
            try:
                self._write(tenant_id, write)
                return
            except Transient as error:
                if not error.is_brief:
                    break
        self._left.append(_Kept(tenant_id, write))

    def settle(self) -> None:
        """Write what is left, before anything else is claimed. It raises while the server is away."""
        for kept in list(self._left):
            if kept.not_before > self._clock():
                continue
            try:
                self._write(kept.tenant_id, kept.write)
            except Transient as error:
                if error.code in OWN_CODES:
                    kept.not_before = self._clock() + PUT_OFF_SECONDS
                raise
            except Exception:
                # It can never be written. Its lease brings it back, and an attempt is counted.
                self._left.remove(kept)
                raise
            self._left.remove(kept)

    def owes(self, tenant_id: UUID) -> bool:
        """Return whether claims of the tenant are kept: their leases are not those of a lost worker."""
        return any(kept.tenant_id == tenant_id for kept in self._left)

    def _write(self, tenant_id: UUID, write: Write) -> None:
        with self._database.transaction(tenant_id) as connection:
            write(connection)
