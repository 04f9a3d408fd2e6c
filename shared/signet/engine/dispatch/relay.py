"""The relay: it finds tenants with due work that no wake-up was sent for, and sends one. It changes no row.

A wake-up that was lost, late or never sent costs the time to the next sweep, and nothing else. The work of a
dead worker is found the same way, when its lease has ended.

A message of a wave waits for a quarter of an hour at most. So a sweep also sends wake-ups that wait for what
comes due before the next one.
"""

from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from math import ceil
from uuid import UUID

from signet.engine.dispatch.due_looks import SELDOM, DueLooks
from signet.engine.telemetry import SILENT, SweptQueue, Telemetry
from signet.store.database import Database
from signet.store.outbox.due_tenants import (
    MAX_COMING,
    MAX_TENANTS,
    ComingTenant,
    DueTenant,
    coming_tenants,
)
from signet.store.outbox.queue import EVENTS, QUEUES
from signet.store.tenants.tenants import read_now
from signet.store.wake_ups import QueueName, WakeUp

# Past the next sweep of a minute, and past the moment that a planned sweep is for: that one comes a minute
# or two before.
AHEAD_SECONDS = 150.0
# Sends all of them or raises: there is no relay behind the relay.
Send = Callable[[Collection[WakeUp]], None]


class Relay:
    """The sweep over all queues."""

    def __init__(self, database: Database, send: Send, telemetry: Telemetry = SILENT) -> None:
        self._database = database
        self._send = send
        self._telemetry = telemetry
        self._looks = {queue.name: DueLooks(queue, SELDOM) for queue in QUEUES}
        # The moments that an earlier sweep has sent wake-ups for.
        self._sent: set[tuple[UUID, datetime]] = set()

    def sweep(self) -> dict[QueueName, int]:
        """Wake the tenants with due work, those that waited longest first. Return their number by queue."""
        with self._database.tenantless_transaction() as connection:
            now = read_now(connection)
            due = {
                name: looks.list_tenants(connection, at_most=MAX_TENANTS)
                for name, looks in self._looks.items()
            }
            coming = coming_tenants(connection, EVENTS, ahead_seconds=AHEAD_SECONDS, at_most=MAX_COMING)
        # Before sending, so that the figures are known also when no wake-up can be sent.
        self._telemetry.swept({name: _measure(tenants, now) for name, tenants in due.items()})
        self._send(
            [
                *(WakeUp(tenant.tenant_id, name) for name, tenants in due.items() for tenant in tenants),
                *self._list_new(coming, now),
            ]
        )
        self._sent = {(tenant.tenant_id, tenant.due_at) for tenant in coming}
        return {name: len(tenants) for name, tenants in due.items()}

    def _list_new(self, coming: Sequence[ComingTenant], now: datetime) -> list[WakeUp]:
        """List wake-ups, each for its moment, that the sweep before has not sent."""
        return [
            WakeUp(tenant.tenant_id, EVENTS.name, ceil((tenant.due_at - now).total_seconds()))
            for tenant in coming
            if (tenant.tenant_id, tenant.due_at) not in self._sent
        ]


def _measure(tenants: Sequence[DueTenant], now: datetime) -> SweptQueue:
    oldest_seconds = max(((now - tenant.oldest_due_at).total_seconds() for tenant in tenants), default=0.0)
    return SweptQueue(len(tenants), oldest_seconds)
