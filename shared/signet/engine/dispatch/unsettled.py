"""The ends of claims that could not be written because the server was away.

A worker that is still there knows what it holds. It keeps what it has to write, and writes it once the server
takes writes again. So an outage costs no attempt, and a delivery that was made is not made twice. Each end
passes the id of its claim: what another worker has claimed since is left alone.
"""

from collections import deque
from collections.abc import Callable
from uuid import UUID

from signet.core.errors import Transient
from signet.store.database import Connection, Database

# The leases of what does not fit bring it back.
MAX_UNSETTLED = 1_000
MAX_TRIES = 3
Write = Callable[[Connection], object]


class UnsettledClaims:
    """One of each worker; used by one thread at a time."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._left: deque[tuple[UUID, Write]] = deque(maxlen=MAX_UNSETTLED)

    def end(self, tenant_id: UUID, write: Write) -> None:
        """Write the end of a claim, or keep it for later."""
        for _ in range(MAX_TRIES):
            try:
                self._write(tenant_id, write)
                return
            except Transient as error:
                if not error.is_brief:
                    break
        self._left.append((tenant_id, write))

    def settle(self) -> None:
        """Write what is left, before anything else is claimed. It raises while the server is away."""
        while self._left:
            self._write(*self._left[0])
            self._left.popleft()

    def _write(self, tenant_id: UUID, write: Write) -> None:
        with self._database.transaction(tenant_id) as connection:
            write(connection)
