"""What a housekeeping task is: a line in the table of `tasks.py`."""

from collections.abc import Callable
from dataclasses import dataclass, field

from signet.engine.housekeeping.task_run import TaskLimits, TaskRun


@dataclass(frozen=True, slots=True)
class Task:
    # Its row's name, and its metrics': a name stays what it is.
    name: str
    every_seconds: float
    run: Callable[[TaskRun], None]
    limits: TaskLimits = field(default_factory=TaskLimits)
