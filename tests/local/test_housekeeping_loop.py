"""The housekeeping thread of `make run`: it has the janitor's role and survives errors."""

import threading
from typing import cast

import pytest

from signet.core.errors import Transient
from signet.engine.housekeeping.runner import Housekeeping, Ran
from signet.engine.housekeeping.task import Task
from signet.engine.housekeeping.task_run import TaskRun
from signet.local.housekeeping_loop import running_housekeeping
from signet.store.database import Database, PoolSettings
from tests.support.database.runtime_roles import as_role

WAIT_SECONDS = 20.0
HOUR = 3_600.0


def test_it_keeps_house_at_once_and_ends_when_it_is_told(owner_url: str) -> None:
    done = threading.Event()

    def note(turn: TaskRun) -> None:
        done.set()

    database = Database(as_role(owner_url, "signet_janitor"), PoolSettings(size=1))
    try:
        with running_housekeeping(Housekeeping(database, [Task("a", HOUR, note)]), HOUR):
            assert done.wait(WAIT_SECONDS)
    finally:
        database.close()
    assert "signet-janitor" not in {thread.name for thread in threading.enumerate()}


class Troubled:
    """A runner whose database is away the first time."""

    def __init__(self) -> None:
        self.calls, self.came_back = 0, threading.Event()

    def run(self, seconds: float) -> list[Ran]:
        self.calls += 1
        if self.calls == 1:
            raise Transient("DATABASE_UNAVAILABLE", "it is away")
        self.came_back.set()
        return []


def test_what_goes_wrong_is_said_and_it_comes_again(capsys: pytest.CaptureFixture[str]) -> None:
    troubled = Troubled()
    with running_housekeeping(cast(Housekeeping, troubled), 0.0):
        assert troubled.came_back.wait(WAIT_SECONDS)
    assert "signet-janitor: DATABASE_UNAVAILABLE" in capsys.readouterr().err
