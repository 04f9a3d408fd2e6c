"""Heavy calls: pure functions about large definitions, one at a time for a tenant.

Each takes up to a second of a processor at the largest size that is allowed. In the local server they run in
processes of their own, so that the threads of the API go on. On AWS each request has a process already.
"""

import time
from collections.abc import Callable
from typing import ParamSpec, Protocol, TypeVar
from uuid import UUID

from signet.core.errors import Rejected, Transient
from signet.store.database import Connection
from signet.store.definitions.designer import take_heavy_turn

# What is smaller takes less than a twentieth of a second, and runs where it is asked for.
LARGE_DOCUMENT_BYTES = 32_768
LARGE_ARTIFACT_BYTES = 262_144
LARGE_CONTRACT_PARTS = 200
RETRY_SECONDS = 1
# No further call of a request begins after so long. Even with a long last one,
# it ends before the gateway gives up.
REQUEST_SECONDS = 12.0
P = ParamSpec("P")
T = TypeVar("T")


class HeavyCalls(Protocol):
    """The place where heavy calls run. What goes there and comes back are plain values."""

    def call(self, function: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T: ...


class CallsInPlace:
    """The process that asks runs them itself."""

    def call(self, function: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
        return function(*arguments, **named)


IN_PLACE = CallsInPlace()


class CallsOfRequest:
    """The heavy calls of one request, which may be many: together they are bounded."""

    def __init__(self, calls: HeavyCalls, clock: Callable[[], float] = time.monotonic) -> None:
        self._calls = calls
        self._clock = clock
        self._ends_at = clock() + REQUEST_SECONDS

    def call(self, function: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
        if self._clock() >= self._ends_at:
            raise Transient(
                "HEAVY_CALLS_TOO_LONG",
                f"the calls that this request needs took {REQUEST_SECONDS:g} seconds, and some are left",
                remedy="Try again when less is going on, or let fewer large definitions run.",
                details={"retry_after_seconds": round(REQUEST_SECONDS)},
            )
        return self._calls.call(function, *arguments, **named)


def choose_place(calls: HeavyCalls, connection: Connection, tenant_id: UUID, *, is_large: bool) -> HeavyCalls:
    """Return where to call: here what is small, and `calls` for what is large, in the tenant's turn.

    While another large one of the tenant runs, it is refused. The turn ends with the transaction.
    """
    if not is_large:
        return IN_PLACE
    require_turn(connection, tenant_id)
    return calls


def require_turn(connection: Connection, tenant_id: UUID) -> None:
    """Take the tenant's turn until the transaction ends, or refuse."""
    if take_heavy_turn(connection, tenant_id):
        return
    raise Rejected(
        "HEAVY_CALL_RUNNING",
        "another call about a large definition runs for the tenant, and they run one at a time",
        remedy=f"Try again in {RETRY_SECONDS} second, once it has answered.",
        details={"retry_after_seconds": RETRY_SECONDS},
    )
