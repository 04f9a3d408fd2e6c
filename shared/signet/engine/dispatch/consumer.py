"""One call of a function that works: for the tenants that it was woken for, in turn, until nothing is due.

While it works it looks by itself, so that it wakes nobody for what it finds anyway. Whatever it leaves when
its time is up, it wakes somebody for.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from signet.core.errors import Transient
from signet.engine.telemetry import SILENT, Telemetry
from signet.ids import make_id
from signet.store.wake_ups import QueueName, Wake, WakeUp

# When work that broke off is looked for again, where nobody comes by himself before: longer than any lease,
# and than a message can wait. So it plans a sweep where sweeps are planned, and says nothing elsewhere.
AGAIN_SECONDS = 960
# One claim and what it wakes; whether there was anything to do.
Work = Callable[[UUID], bool]


@dataclass(slots=True)
class ConsumerRun:
    """What became of the tenants: those whose work was not done in time, and those whose work broke off."""

    left: Sequence[UUID] = ()
    failed: dict[UUID, Exception] = field(default_factory=dict)
    # By what passes.
    interrupted: list[UUID] = field(default_factory=list)


class BatchedWakeUps:
    """What a shift's transactions say: told at once the first time, and once more at its end where repeated.

    Whoever was woken the first time may have ended before the last of it was written.
    """

    def __init__(self, queue: QueueName, wake: Wake) -> None:
        self._queue = queue
        self._wake = wake
        self._told: set[WakeUp] = set()
        self._repeated: set[WakeUp] = set()

    def __call__(self, wake_ups: Collection[WakeUp]) -> None:
        others = {one for one in wake_ups if one.queue != self._queue or one.delay_seconds > 0}
        self._repeated |= others & self._told
        new = others - self._told
        if new:
            self._told |= new
            self._wake(new)

    def end(self, left: Collection[UUID], interrupted: Collection[UUID] = ()) -> None:
        last = self._repeated | {WakeUp(tenant_id, self._queue) for tenant_id in left}
        last |= {WakeUp(tenant_id, self._queue, AGAIN_SECONDS) for tenant_id in interrupted}
        self._told, self._repeated = set(), set()
        if last:
            self._wake(last)


class QueueConsumer:
    """One a process."""

    def __init__(self, work: Work, wake_ups: BatchedWakeUps, telemetry: Telemetry = SILENT) -> None:
        self._work = work
        self._wake_ups = wake_ups
        self._telemetry = telemetry

    def run(self, tenant_ids: Collection[UUID], is_time_up: Callable[[], bool]) -> ConsumerRun:
        """One claim of each, over and over, so that none waits for another's thousands.

        Each begins elsewhere: two that began together would look for the same rows all along.
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
        """What breaks off is put on record by whoever claimed it, or comes back when its lease ends."""
        try:
            return self._work(tenant_id)
        except Transient as error:
            # Nobody's fault, and no message's: the relay finds what is due.
            self._telemetry.failed(error, {"tenant_id": str(tenant_id)})
            run.interrupted.append(tenant_id)
        except Exception as error:
            self._telemetry.failed(error, {"tenant_id": str(tenant_id)})
            run.failed[tenant_id] = error
        return False
