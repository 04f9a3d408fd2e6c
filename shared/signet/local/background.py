"""A thread beside the API that looks for work again and again: it cannot end unseen, and ends when told."""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from signet.core.backoff import Backoff
from signet.core.errors import SignetError
from signet.engine.telemetry import Telemetry
from signet.ids import make_id
from signet.store.database import Database

# What is under way may end by itself for so long. Then its database answers at once or not at all.
LEAVE_SECONDS, HURRIED_SECONDS, HURRIED_ANSWER_SECONDS = 4.0, 4.0, 1.0
RETRY = Backoff(first_seconds=2, cap_seconds=15)
# Looks once, and returns the seconds until the next look.
Look = Callable[[threading.Event], float]


class StopSignal(threading.Event):
    """The end of a thread, which also ends its pause."""

    def __init__(self, bell: threading.Event) -> None:
        super().__init__()
        self._bell = bell

    def set(self) -> None:
        super().set()
        self._bell.set()


class Background:
    """The thread, with what it tells of itself. A ring of its bell ends a pause."""

    def __init__(
        self,
        name: str,
        look: Look,
        leave: Callable[[], None],
        telemetry: Telemetry,
        bell: threading.Event | None = None,
    ) -> None:
        self.bell = bell or threading.Event()
        self._name = name
        self._look = look
        self._leave = leave
        self._telemetry = telemetry
        self._failures = 0

    def run(self, stop: threading.Event) -> None:
        while not stop.is_set():
            # A ring from here on is about what this look may not see.
            self.bell.clear()
            pause = self._try(lambda: self._look(stop))
            if stop.is_set():
                break
            # After a failure nobody hurries it.
            (stop if self._failures else self.bell).wait(pause)
        self._try(self._leave)

    def _try(self, act: Callable[[], float | None]) -> float:
        """Act, and return the pause. Anything may be raised here, even what wants to end the process."""
        try:
            pause = act() or 0.0
        except BaseException as error:
            self._failures += 1
            self._telemetry.thread_failed(self._name, error)
            print(f"{self._name}: {_describe(error)}", file=sys.stderr, flush=True)
            return RETRY.delay_seconds(self._failures, make_id())
        self._failures = 0
        self._telemetry.looked(self._name)
        return pause


@contextmanager
def in_background(thread: Background, name: str, database: Database | None) -> Iterator[threading.Event]:
    """Run it until the block is left, or until the event is set that is yielded."""
    stop = StopSignal(thread.bell)
    # A daemon: what does not end in time does not keep the process.
    running = threading.Thread(target=thread.run, args=(stop,), name=name, daemon=True)
    running.start()
    try:
        yield stop
    finally:
        stop.set()
        running.join(LEAVE_SECONDS)
        if running.is_alive() and database is not None:
            database.hurry(HURRIED_ANSWER_SECONDS)
            running.join(HURRIED_SECONDS)
        if running.is_alive():
            print(f"{name}: THREAD_LEFT: it did not end in time; its leases bring its work back", flush=True)


def _describe(error: BaseException) -> str:
    """Return the code and the sentence of our errors, and no more than the type of others."""
    if isinstance(error, SignetError):
        return f"{error.code}: {error}"
    return f"INTERNAL_ERROR: {type(error).__name__}; it goes on"
