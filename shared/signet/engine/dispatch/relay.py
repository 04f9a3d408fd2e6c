"""The relay: finds what is due and nobody was woken for, and wakes somebody. It changes no row.

So a wake-up that was lost, late or never sent costs the time to the next sweep, and nothing else. A worker
that died is found the same way, when its lease has ended.
"""

from collections.abc import Callable, Collection, Sequence
from datetime import datetime

from signet.engine.telemetry import SILENT, SweptQueue, Telemetry
from signet.store.database import Database
from signet.store.outbox.queue import MAX_TENANTS, QUEUES, DueTenant, due_tenants
from signet.store.tenants.tenants import read_now
from signet.store.wake_ups import QueueName, WakeUp

# All of them, or it raises: nobody comes after the relay.
Send = Callable[[Collection[WakeUp]], None]


class Relay:
    def __init__(self, database: Database, send: Send, telemetry: Telemetry = SILENT) -> None:
        self._database = database
        self._send = send
        self._telemetry = telemetry

    def sweep(self) -> dict[QueueName, int]:
        """How many tenants have work, by queue; those that have waited longest where they are too many."""
        with self._database.tenantless_transaction() as connection:
            now = read_now(connection)
            due = {queue.name: due_tenants(connection, queue, at_most=MAX_TENANTS) for queue in QUEUES}
        # Also where nobody can be woken: that is when somebody has to know.
        self._telemetry.swept({name: _describe(found, now) for name, found in due.items()})
        self._send([WakeUp(one.tenant_id, name) for name, found in due.items() for one in found])
        return {name: len(found) for name, found in due.items()}


def _describe(found: Sequence[DueTenant], now: datetime) -> SweptQueue:
    oldest_seconds = max(((now - one.oldest_due_at).total_seconds() for one in found), default=0.0)
    return SweptQueue(len(found), oldest_seconds)
