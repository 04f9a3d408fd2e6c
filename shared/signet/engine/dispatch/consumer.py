"""The consumer of a queue: it serves the tenants that it was woken for, in turn, until nothing is due.

A consumer claims what its own work adds, so that it sends no wake-up for its own queue. It sends one for the
tenants that are left when its time is up.
"""

import time
from bisect import bisect_left
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from signet.core.errors import Transient
from signet.engine.telemetry import SILENT, Telemetry
from signet.ids import make_id
from signet.store.wake_ups import QueueName, Wake, WakeUp

# The delay until a sweep looks for work that broke off: longer than any lease, and than a message can wait.
# So it plans a sweep where sweeps are planned, and sends no message elsewhere.
AGAIN_SECONDS = 960
# Makes one claim and does its work; returns whether more may be due.
Work = Callable[[UUID], bool]


@dataclass(slots=True)
class ConsumerRun:
    """The tenants whose work was not done in time, and those whose work broke off."""

    left: Sequence[UUID] = ()
    failed: dict[UUID, Exception] = field(default_factory=dict)
    # Their work broke off by a transient error.
    interrupted: list[UUID] = field(default_factory=list)


class BatchedWakeUps:
    """The wake-ups of one run: each is sent at once the first time, and at the end if it was repeated.

    The consumer that the first one woke may have ended before the last row was written. One for a later
    moment is sent with its own transaction, unless another one comes then, or less than a second later.
    """

    def __init__(self, queue: QueueName, wake: Wake, clock: Callable[[], float] = time.monotonic) -> None:
        self._queue = queue
        self._wake = wake
        self._clock = clock
        self._sent: set[WakeUp] = set()
        self._repeated: set[WakeUp] = set()
        # When those that wait will come, in their order.
        self._coming: dict[tuple[UUID, QueueName], list[float]] = {}

    def __call__(self, wake_ups: Collection[WakeUp]) -> None:
        others = {w for w in wake_ups if w.queue != self._queue and not w.delay_seconds}
        self._repeated |= others & self._sent
        new = others - self._sent
        self._sent |= new
        new |= {w for w in wake_ups if w.delay_seconds and self._is_first_of_moment(w)}
        if new:
            self._wake(new)

    def end(self, left: Collection[UUID], interrupted: Collection[UUID] = ()) -> None:
        last = self._repeated | {WakeUp(tenant_id, self._queue) for tenant_id in left}
        last |= {WakeUp(tenant_id, self._queue, AGAIN_SECONDS) for tenant_id in interrupted}
        self._sent, self._repeated, self._coming = set(), set(), {}
        if last:
            self._wake(last)

    def _is_first_of_moment(self, wake_up: WakeUp) -> bool:
        moment = self._clock() + wake_up.delay_seconds
        coming = self._coming.setdefault((wake_up.tenant_id, wake_up.queue), [])
        place = bisect_left(coming, moment)
        if place < len(coming) and coming[place] < moment + 1:
            return False
        coming.insert(place, moment)
        return True


class QueueConsumer:
    """The loop over tenants; one a process."""

    def __init__(self, work: Work, wake_ups: BatchedWakeUps, telemetry: Telemetry = SILENT) -> None:
        self._work = work
        self._wake_ups = wake_ups
        self._telemetry = telemetry

    def run(self, tenant_ids: Collection[UUID], is_time_up: Callable[[], bool]) -> ConsumerRun:
        """Make one claim of each tenant, over and over, so that none waits for the thousands of another.

        Each run begins elsewhere: two that began at the same tenant would look for the same rows throughout.
        """
        run, waiting = ConsumerRun(), list(dict.fromkeys(tenant_ids))
        first = make_id().int % max(len(waiting), 1)
        waiting = [*waiting[first:], *waiting[:first]]
        while waiting and not is_time_up():
            waiting = [
                tenant_id for tenant_id in waiting if not is_time_up() and self._attempt(tenant_id, run)
            ]
        run.left = waiting
        self._wake_ups.end(waiting, run.interrupted)
        return run

    def _attempt(self, tenant_id: UUID, run: ConsumerRun) -> bool:
        """Work for one tenant. A claim that breaks off is put on record, or its lease brings it back."""
        try:
            return self._work(tenant_id)
        except Transient as error:
            # No message is at fault: the relay finds what is due.
            self._telemetry.failed(error, {"tenant_id": str(tenant_id)})
            run.interrupted.append(tenant_id)
        except Exception as error:
            self._telemetry.failed(error, {"tenant_id": str(tenant_id)})
            run.failed[tenant_id] = error
        return False
