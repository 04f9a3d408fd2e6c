"""A housekeeping task: a line in the table of `tasks.py`."""

from collections.abc import Callable
from dataclasses import dataclass, field

from signet.engine.housekeeping.task_run import TaskLimits, TaskRun


@dataclass(frozen=True, slots=True)
class Task:
    """One duty of the janitor, and how often it is due."""

    # The name of its row and its metrics: it never changes.
    name: str
    every_seconds: float
    run: Callable[[TaskRun], None]
    limits: TaskLimits = field(default_factory=TaskLimits)
