"""Wake-ups of a transaction, collected while it writes work and sent after its commit.

A wake-up is permission to work, and not the work. A lost one costs the time until the relay's next sweep,
which finds every due row by itself.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from math import ceil
from typing import Literal
from uuid import UUID

import psycopg

from signet.store.deadlines import BoundedConnection

QueueName = Literal["events", "effects"]
# For one transaction, one for each instance of a wave. The soonest are sent, and the relay finds the others.
MAX_WAKE_UPS = 100
# The wake-up of a retry may be late by this share of its delay, so that many of about the same time are one.
_LATE_SHARE = 10


@dataclass(frozen=True, slots=True)
class WakeUp:
    """A message that a tenant's queue has work, or will have in so many seconds."""

    tenant_id: UUID
    queue: QueueName
    delay_seconds: int = 0


# Never raises and returns soon, even if the wake-ups are lost.
Wake = Callable[[Collection[WakeUp]], None]


def no_wake_up(wake_ups: Collection[WakeUp]) -> None:
    """Ignore wake-ups, for processes that look for work by themselves."""


class WakingConnection(BoundedConnection):
    """A connection that keeps the wake-ups of its transaction until the commit."""

    wake_ups: dict[WakeUp, None] | None = None


def take_wake_ups(connection: psycopg.Connection[tuple[object, ...]]) -> Collection[WakeUp]:
    """Take the collected wake-ups, which the caller must send."""
    if not isinstance(connection, WakingConnection):
        return ()
    wake_ups, connection.wake_ups = connection.wake_ups or {}, None
    return wake_ups.keys()


def add_wake_up(
    connection: psycopg.Connection[tuple[object, ...]],
    tenant_id: UUID,
    queue: QueueName,
    delay_seconds: float = 0.0,
    *,
    is_exact: bool = False,
) -> None:
    """Add a wake-up beside a statement that writes work; it may be for nothing after a rollback.

    One for a moment that something waits for is exact to the second.
    """
    if not isinstance(connection, WakingConnection):
        return
    wake_ups = connection.wake_ups = connection.wake_ups or {}
    wake_up = WakeUp(tenant_id, queue, _round_up(delay_seconds, is_exact=is_exact))
    if wake_up not in wake_ups and len(wake_ups) >= MAX_WAKE_UPS:
        latest = max(wake_ups, key=lambda one: one.delay_seconds)
        if latest.delay_seconds <= wake_up.delay_seconds:
            return
        del wake_ups[latest]
    wake_ups[wake_up] = None


def _round_up(delay_seconds: float, *, is_exact: bool) -> int:
    """Round a delay up: a wake-up that comes too early finds nothing, and no other follows."""
    seconds = max(ceil(delay_seconds), 0)
    step = 1 if is_exact else max(seconds // _LATE_SHARE, 1)
    return -(-seconds // step) * step
