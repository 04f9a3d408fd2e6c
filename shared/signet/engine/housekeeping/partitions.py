"""The months of partitioned tables: made ahead, and dropped when they are past and nothing must stay."""

from collections.abc import Callable

from signet.engine.housekeeping.task_run import TaskRun
from signet.store.operations.housekeeping import drop_empty_months, drop_history_months, make_months

# This month and three ahead: rows without a month of their own go to the default one, and must be moved.
MONTHS_AHEAD = 4
# At most so many in one transaction: each locks its table.
MONTHS_AT_ONCE = 2


def make_partitions(task_run: TaskRun) -> None:
    with task_run.batch() as connection:
        task_run.rows += make_months(connection, MONTHS_AHEAD)


def drop_outbox_months(task_run: TaskRun, kept_days: int) -> None:
    _drop_months(task_run, kept_days, drop_empty_months)


def drop_history(task_run: TaskRun, kept_days: int) -> None:
    _drop_months(task_run, kept_days, drop_history_months)


def _drop_months(task_run: TaskRun, kept_days: int, drop: Callable[..., int]) -> None:
    with task_run.batch() as connection:
        dropped = drop(connection, kept_days=kept_days, at_most=MONTHS_AT_ONCE)
    task_run.rows += dropped
    task_run.is_cut = dropped == MONTHS_AT_ONCE
