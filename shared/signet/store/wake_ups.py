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
# For one transaction; the rest is left to the relay.
MAX_WAKE_UPS = 50
# A wake-up may be late by this share of its delay, so that many of about the same time are one.
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
) -> None:
    """Add a wake-up beside a statement that writes work; it may be for nothing after a rollback."""
    if not isinstance(connection, WakingConnection):
        return
    wake_ups = connection.wake_ups = connection.wake_ups or {}
    if len(wake_ups) < MAX_WAKE_UPS:
        wake_ups[WakeUp(tenant_id, queue, _round_up(delay_seconds))] = None


def _round_up(delay_seconds: float) -> int:
    """Round a delay up: a wake-up that comes too early finds nothing, and no other follows."""
    seconds = max(ceil(delay_seconds), 0)
    step = max(seconds // _LATE_SHARE, 1)
    return -(-seconds // step) * step
