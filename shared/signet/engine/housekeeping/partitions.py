"""The months of the partitioned tables: made ahead, and dropped when they are past and nothing must stay."""

from collections.abc import Callable

from signet.engine.housekeeping.task_run import TaskRun
from signet.store.operations.housekeeping import drop_empty_months, drop_history_months, make_months

# This one and three ahead: rows of a month that has none go to the default one, and must be moved out.
MONTHS_AHEAD = 4
# In one transaction, each a lock on its table.
MONTHS_AT_ONCE = 2


def make_partitions(turn: TaskRun) -> None:
    with turn.batch() as connection:
        turn.rows += make_months(connection, MONTHS_AHEAD)


def drop_outbox_months(turn: TaskRun, kept_days: int) -> None:
    _drop_months(turn, kept_days, drop_empty_months)


def drop_history(turn: TaskRun, kept_days: int) -> None:
    _drop_months(turn, kept_days, drop_history_months)


def _drop_months(turn: TaskRun, kept_days: int, drop: Callable[..., int]) -> None:
    with turn.batch() as connection:
        dropped = drop(connection, kept_days=kept_days, at_most=MONTHS_AT_ONCE)
    turn.rows += dropped
    turn.is_cut = dropped == MONTHS_AT_ONCE
