"""Housekeeping on one machine: a thread that does each minute what the schedule does on AWS."""

import threading
from contextlib import AbstractContextManager

from signet.engine.housekeeping.runner import Housekeeping
from signet.engine.telemetry import SILENT, Telemetry
from signet.local.background import Background, in_background
from signet.store.database import Database

NAME = "signet-janitor"
EVERY_SECONDS = 60.0
# No task is begun later than this, so that stopping does not take long.
BUSY_SECONDS = 5.0


def running_housekeeping(
    housekeeping: Housekeeping,
    every_seconds: float = EVERY_SECONDS,
    *,
    database: Database | None = None,
    telemetry: Telemetry = SILENT,
) -> AbstractContextManager[threading.Event]:
    def take_a_turn(stop: threading.Event) -> float:
        housekeeping.run(BUSY_SECONDS)
        return every_seconds

    return in_background(Background(NAME, take_a_turn, _leave, telemetry), NAME, database)


def _leave() -> None:
    """Leave nothing behind: a task that was cut goes on where its cursor is."""
