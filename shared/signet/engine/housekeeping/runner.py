"""Runs the tasks that are due, one after another, until none is or the time is up.

Any number of runners may be at it: a task is one runner's by its row (a lease, no session's lock), and
another runner takes the next one. A task that raises is told and tried again; the others go on.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from signet.core.errors import SignetError, Superseded
from signet.engine.housekeeping.task import Task
from signet.engine.housekeeping.task_run import LEASE_SECONDS, Clock, TaskRun
from signet.engine.telemetry import SILENT, HousekeepingReport, Telemetry
from signet.ids import make_id
from signet.store.database import Database
from signet.store.operations.housekeeping import ClaimedTask, Outcome, claim_task, end_task, ensure_tasks

# What failed is tried again so soon, or with its next turn where that comes first.
RETRY_SECONDS = 300.0
# More than there can be to do in one call, whatever the clock says.
MAX_RUNS = 1_000


@dataclass(frozen=True, slots=True)
class Ran:
    task: str
    outcome: Outcome
    rows: int


class Housekeeping:
    """One a process."""

    def __init__(
        self,
        database: Database,
        tasks: Sequence[Task],
        telemetry: Telemetry = SILENT,
        clock: Clock = time.monotonic,
    ) -> None:
        self._database = database
        self._tasks = {task.name: task for task in tasks}
        self._telemetry = telemetry
        self._clock = clock
        self._is_known = False

    def run(self, seconds: float) -> list[Ran]:
        """Every task that is due, as far as it comes; none is begun after so many seconds."""
        self._make_known()
        until, ran = self._clock() + seconds, list[Ran]()
        while len(ran) < MAX_RUNS and self._clock() < until:
            claimed = self.claim()
            if claimed is None:
                break
            done = self.work(claimed)
            if done is not None:
                ran.append(done)
        return ran

    def claim(self) -> ClaimedTask | None:
        """The task that has been due for longest, unless somebody is at it."""
        with self._database.tenantless_transaction() as connection:
            return claim_task(connection, list(self._tasks), claim_id=make_id(), lease_seconds=LEASE_SECONDS)

    def work(self, claimed: ClaimedTask) -> Ran | None:
        """None: somebody else took the task over, and answers for it."""
        task = self._tasks[claimed.task]
        turn = TaskRun(self._database, self._telemetry, claimed, task.limits, self._clock)
        began, error = self._clock(), None
        try:
            task.run(turn)
        except Superseded:
            return None
        except Exception as caught:
            # Of this task; told below, and kept on its row.
            error = caught
        return self._end(task, turn, self._clock() - began, error)

    def _end(self, task: Task, turn: TaskRun, seconds: float, error: Exception | None) -> Ran | None:
        outcome: Outcome = "failed" if error is not None else "more" if turn.is_cut else "done"
        again = {"done": task.every_seconds, "more": 0.0, "failed": min(task.every_seconds, RETRY_SECONDS)}
        if turn.claimed.is_after_failure:
            # The tenant that was left out then has its turn as soon as those after it have had theirs.
            again["done"] = again["failed"]
        with self._database.tenantless_transaction() as connection:
            if error is not None:
                turn.skip(connection)
            is_ours = end_task(
                connection,
                turn.claimed,
                outcome=outcome,
                rows=turn.rows,
                again_seconds=again[outcome],
                error=None if error is None else _describe(error),
            )
        self._telemetry.housekeeping_ended(
            HousekeepingReport(task.name, outcome, turn.rows, seconds, turn.claimed.lag_seconds, error)
        )
        return Ran(task.name, outcome, turn.rows) if is_ours else None

    def _make_known(self) -> None:
        if not self._is_known:
            with self._database.tenantless_transaction() as connection:
                ensure_tasks(connection, list(self._tasks))
            self._is_known = True


def _describe(error: Exception) -> str:
    """A code or a type: messages of libraries repeat what they choked on."""
    return error.code if isinstance(error, SignetError) else type(error).__name__
