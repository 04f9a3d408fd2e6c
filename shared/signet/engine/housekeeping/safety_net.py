"""The safety net: rows nobody came back for, deadlines nobody was woken for, instances that are stuck."""

from uuid import UUID

from signet.engine.execution.failed_triggers import free_effects, release_expired_triggers
from signet.engine.housekeeping.task_run import TaskRun
from signet.engine.instances.lists import list_stuck
from signet.engine.telemetry import StuckInstance
from signet.engine.triggers import make_trigger
from signet.store.database import Connection
from signet.store.operations.housekeeping import list_overdue
from signet.store.outbox.queue import insert_triggers

# A deadline has a trigger of its own, which gets this long to be at work.
LATE_SECONDS = 120.0
# And so long until an instance is woken for the same reason again.
AGAIN_SECONDS = 600.0
OVERDUE = "overdue"
# Named in the log, of those that are stuck.
MAX_NAMED = 10


def free_expired_events(turn: TaskRun) -> None:
    def free(connection: Connection, tenant_id: UUID, at_most: int) -> int:
        freed = release_expired_triggers(connection, tenant_id, turn.telemetry, at_most=at_most)
        return len(freed.again) + len(freed.dead)

    turn.each_batch("expired_events", free)


def free_expired_effects(turn: TaskRun) -> None:
    def free(connection: Connection, tenant_id: UUID, at_most: int) -> int:
        freed = free_effects(connection, tenant_id, at_most=at_most)
        return len(freed.again) + len(freed.dead)

    turn.each_batch("expired_effects", free)


def wake_overdue(turn: TaskRun) -> None:
    def wake(connection: Connection, tenant_id: UUID, at_most: int) -> int:
        overdue = list_overdue(
            connection,
            tenant_id,
            event_type=OVERDUE,
            late_seconds=LATE_SECONDS,
            again_seconds=AGAIN_SECONDS,
            limit=at_most,
        )
        triggers = [make_trigger(one.id, OVERDUE, {}, one.trace_id) for one in overdue]
        insert_triggers(connection, tenant_id, triggers)
        return len(overdue)

    turn.each_batch("overdue", wake, LATE_SECONDS)


def find_stuck(turn: TaskRun) -> None:
    """Told, each with what helps most likely; an operator decides."""
    for tenant_id in turn.walk_tenants("running"):
        stuck = list_stuck(turn.database, tenant_id)
        if stuck:
            named = [StuckInstance(one.id, one.why, one.remedies[0]) for one in stuck[:MAX_NAMED]]
            turn.telemetry.stuck_found(tenant_id, len(stuck), named)
        turn.rows += len(stuck)
