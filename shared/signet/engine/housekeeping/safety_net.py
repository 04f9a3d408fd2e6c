"""The safety net: expired leases, missed deadlines, instances that are stuck or asleep, open incidents."""

from uuid import UUID

from signet.engine.execution.failed_triggers import release_expired_effects, release_expired_triggers
from signet.engine.housekeeping.task_run import TaskRun
from signet.engine.incidents.counts import count_open
from signet.engine.instances.lists import list_stuck
from signet.engine.telemetry import StuckInstance
from signet.store.database import Connection
from signet.store.operations.housekeeping import list_overdue, list_unpinned
from signet.store.outbox.queue import insert_triggers, make_trigger

# A deadline has a trigger of its own, which has this long to be served.
LATE_SECONDS = 120.0
# The time until an instance is woken for the same reason again.
AGAIN_SECONDS = 600.0
OVERDUE = "overdue"
UNPINNED = "unpinned"
# A wave that asks again leaves nothing unpinned. Where it fails, the instance pauses.
UNPINNED_AGAIN_SECONDS = 18_000.0
# At most so many stuck instances are named in the log.
MAX_NAMED = 10


def release_events(task_run: TaskRun) -> None:
    since = task_run.looks_since

    def release(connection: Connection, tenant_id: UUID, at_most: int) -> int:
        expired = release_expired_triggers(
            connection, tenant_id, task_run.telemetry, at_most=at_most, since=since
        )
        return len(expired.again) + len(expired.dead)

    task_run.each_expired("events", release)


def release_effects(task_run: TaskRun) -> None:
    since = task_run.looks_since

    def release(connection: Connection, tenant_id: UUID, at_most: int) -> int:
        expired = release_expired_effects(connection, tenant_id, at_most=at_most, since=since)
        return len(expired.again) + len(expired.dead)

    task_run.each_expired("effects", release)


def wake_overdue(task_run: TaskRun) -> None:
    def wake(connection: Connection, tenant_id: UUID, at_most: int) -> int:
        overdue = list_overdue(
            connection,
            tenant_id,
            event_type=OVERDUE,
            late_seconds=LATE_SECONDS,
            again_seconds=AGAIN_SECONDS,
            limit=at_most,
        )
        triggers = [make_trigger(late.id, OVERDUE, {}, late.trace_id) for late in overdue]
        insert_triggers(connection, tenant_id, triggers)
        return len(overdue)

    task_run.each_batch("overdue", wake, LATE_SECONDS)


def wake_unpinned(task_run: TaskRun) -> None:
    """Wake instances whose people are still asked by an older release; their waves ask again, and pin."""

    def wake(connection: Connection, tenant_id: UUID, at_most: int) -> int:
        left = list_unpinned(
            connection,
            tenant_id,
            event_type=UNPINNED,
            again_seconds=UNPINNED_AGAIN_SECONDS,
            limit=at_most,
        )
        triggers = [make_trigger(instance.id, UNPINNED, {}, instance.trace_id) for instance in left]
        insert_triggers(connection, tenant_id, triggers)
        return len(left)

    task_run.each_batch("running", wake)


def find_stuck(task_run: TaskRun) -> None:
    """Report stuck instances, each with the likeliest remedy; an operator decides."""
    for tenant_id in task_run.walk_tenants("running"):
        stuck = list_stuck(task_run.database, tenant_id)
        if stuck:
            named = [StuckInstance(row.id, row.why, row.remedies[0]) for row in stuck[:MAX_NAMED]]
            task_run.telemetry.stuck_found(tenant_id, len(stuck), named)
        task_run.rows += len(stuck)


def count_incidents(task_run: TaskRun) -> None:
    """Report how many incidents are open by code, and how many of them nobody looks after."""
    with task_run.batch() as connection:
        counts = count_open(connection)
    open_by_code = {count.code: count.open_count for count in counts}
    task_run.telemetry.incidents_counted(open_by_code, sum(count.unattended_count for count in counts))
    task_run.rows += sum(open_by_code.values())
