"""The runner of housekeeping tasks: those that are due, one after another, until none is or the time is up.

Any number of runners may run. The task's row gives it to one of them, by a lease and no session lock. A task
that raises is reported and tried again; the others go on.
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

# A failed task is tried again after this, or at its next turn where that comes first.
RETRY_SECONDS = 300.0
# A bound for a clock that stands still; no call has so much to do.
MAX_RUNS = 1_000


@dataclass(frozen=True, slots=True)
class Ran:
    """The outcome of one task."""

    task: str
    outcome: Outcome
    rows: int


class Housekeeping:
    """The use case with its tasks; one a process."""

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
        """Run the tasks that are due; none begins after so many seconds."""
        self._make_known()
        until, ran = self._clock() + seconds, list[Ran]()
        while len(ran) < MAX_RUNS and self._clock() < until:
            claimed = self.claim()
            if claimed is None:
                break
            outcome = self.work(claimed)
            if outcome is not None:
                ran.append(outcome)
        return ran

    def claim(self) -> ClaimedTask | None:
        """Claim the task that has been due for longest; None where each has a runner or none is due."""
        with self._database.tenantless_transaction() as connection:
            return claim_task(connection, list(self._tasks), claim_id=make_id(), lease_seconds=LEASE_SECONDS)

    def work(self, claimed: ClaimedTask) -> Ran | None:
        """Run a task. Return None where another runner has taken it over, and reports it."""
        task = self._tasks[claimed.task]
        task_run = TaskRun(self._database, self._telemetry, claimed, task.limits, self._clock)
        began, error = self._clock(), None
        try:
            task.run(task_run)
        except Superseded:
            return None
        except Exception as caught:
            error = caught  # reported below, and kept on the task's row
        return self._end(task, task_run, self._clock() - began, error)

    def _end(self, task: Task, task_run: TaskRun, seconds: float, error: Exception | None) -> Ran | None:
        outcome: Outcome = "failed" if error is not None else "more" if task_run.is_cut else "done"
        again = {"done": task.every_seconds, "more": 0.0, "failed": min(task.every_seconds, RETRY_SECONDS)}
        if task_run.claimed.is_after_failure:
            # The tenant that was left out has its turn as soon as those after it have had theirs.
            again["done"] = again["failed"]
        with self._database.tenantless_transaction() as connection:
            if error is not None:
                task_run.skip(connection)
            is_ours = end_task(
                connection,
                task_run.claimed,
                outcome=outcome,
                rows=task_run.rows,
                again_seconds=again[outcome],
                error=None if error is None else _describe(error),
            )
        self._telemetry.housekeeping_ended(
            HousekeepingReport(
                task.name, outcome, task_run.rows, seconds, task_run.claimed.lag_seconds, error
            )
        )
        return Ran(task.name, outcome, task_run.rows) if is_ours else None

    def _make_known(self) -> None:
        if not self._is_known:
            with self._database.tenantless_transaction() as connection:
                ensure_tasks(connection, list(self._tasks))
            self._is_known = True


def _describe(error: Exception) -> str:
    """Return a code or a type: messages of libraries repeat the data that they failed on."""
    return error.code if isinstance(error, SignetError) else type(error).__name__
