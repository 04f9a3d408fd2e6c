"""Housekeeping on one machine: a thread that does each minute what the schedule does on AWS."""

import sys
import threading
from contextlib import AbstractContextManager

from signet.core.errors import SignetError
from signet.engine.housekeeping.runner import Housekeeping
from signet.local.background import in_background

EVERY_SECONDS = 60.0
# No task is begun later than this, so that stopping does not take long.
BUSY_SECONDS = 5.0


def running_housekeeping(
    housekeeping: Housekeeping, every_seconds: float = EVERY_SECONDS
) -> AbstractContextManager[None]:
    return in_background("signet-janitor", lambda stop: _keep_until(stop, housekeeping, every_seconds))


def _keep_until(stop: threading.Event, housekeeping: Housekeeping, every_seconds: float) -> None:
    while not stop.is_set():
        try:
            housekeeping.run(BUSY_SECONDS)
        except SignetError as error:
            print(f"janitor: {error.code}: {error}", file=sys.stderr, flush=True)
        stop.wait(every_seconds)
