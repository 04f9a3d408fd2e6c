"""Work that a transaction has written, told once it is committed: so that somebody does it at once.

A wake-up is permission to work, not the work. Whoever loses one loses the time to the relay's
next sweep at most: it finds every due row by itself.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from math import ceil
from typing import Literal
from uuid import UUID

import psycopg

QueueName = Literal["events", "effects"]
# Of one transaction: what is beyond is left to the relay.
MAX_WAKE_UPS = 50
# How late a wake-up may come, of what it waits for: so that many of about the same time are one.
_LATE_SHARE = 10


@dataclass(frozen=True, slots=True)
class WakeUp:
    """That a queue of a tenant has work, or will have so many seconds from now."""

    tenant_id: UUID
    queue: QueueName
    delay_seconds: int = 0


# Never raises, and takes little time, whatever becomes of the wake-ups.
Wake = Callable[[Collection[WakeUp]], None]


def no_wake_up(wake_ups: Collection[WakeUp]) -> None:
    """Where whoever works looks by itself."""


class WakingConnection(psycopg.Connection[tuple[object, ...]]):
    """A connection that keeps the wake-ups of its transaction until that is committed."""

    wake_ups: dict[WakeUp, None] | None = None


def take_wake_ups(connection: psycopg.Connection[tuple[object, ...]]) -> Collection[WakeUp]:
    """Whoever has taken them answers for them."""
    if not isinstance(connection, WakingConnection):
        return ()
    taken, connection.wake_ups = connection.wake_ups or {}, None
    return taken.keys()


def add_wake_up(
    connection: psycopg.Connection[tuple[object, ...]],
    tenant_id: UUID,
    queue: QueueName,
    delay_seconds: float = 0.0,
) -> None:
    """Beside each statement that writes work; rolled back, it may wake somebody for nothing."""
    if not isinstance(connection, WakingConnection):
        return
    noted = connection.wake_ups = connection.wake_ups or {}
    if len(noted) < MAX_WAKE_UPS:
        noted[WakeUp(tenant_id, queue, _round_up(delay_seconds))] = None


def _round_up(delay_seconds: float) -> int:
    """Later rather than earlier: who comes early finds nothing, and nobody comes again."""
    seconds = max(ceil(delay_seconds), 0)
    step = max(seconds // _LATE_SHARE, 1)
    return -(-seconds // step) * step
