"""The pruning of rows that have served: tenant by tenant, in batches.

The database functions that delete them refuse rows that must stay.
"""

from collections.abc import Callable
from functools import partial
from uuid import UUID

from signet.engine.housekeeping.task_run import AFTER, TaskRun
from signet.store.database import Connection
from signet.store.operations.housekeeping import (
    About,
    prune_eligibility_changes,
    prune_idempotency_keys,
    prune_inbound_events,
    prune_incidents,
    prune_notifications,
    prune_outbox,
    prune_quota_meters,
    prune_receipts,
)

DAY_SECONDS = 86_400.0
# Keys of the cursor of receipts: the tenant and the instance where the last run was cut.
TENANT, INSTANCE = "tenant", "instance"


def prune_events(task_run: TaskRun, kept_days: int) -> None:
    _prune_old(task_run, "done_events", kept_days, partial(prune_outbox, queue="events"))


def prune_effects(task_run: TaskRun, kept_days: int) -> None:
    _prune_old(task_run, "done_effects", kept_days, partial(prune_outbox, queue="effects"))


def prune_keys(task_run: TaskRun, kept_days: int) -> None:
    _prune_old(task_run, "idempotency_keys", kept_days, prune_idempotency_keys)


def prune_read_notifications(task_run: TaskRun, kept_days: int) -> None:
    _prune_old(task_run, "notifications", kept_days, prune_notifications)


def prune_closed_incidents(task_run: TaskRun, kept_days: int) -> None:
    _prune_old(task_run, "closed_incidents", kept_days, prune_incidents)


def prune_eligibility(task_run: TaskRun, kept_days: int) -> None:
    _prune_old(task_run, "eligibility_changes", kept_days, prune_eligibility_changes)


def _prune_old(task_run: TaskRun, about: About, kept_days: int, prune: Callable[..., int]) -> None:
    def prune_batch(connection: Connection, _: UUID, at_most: int) -> int:
        return prune(connection, kept_days=kept_days, at_most=at_most)

    task_run.each_batch(about, prune_batch, kept_days * DAY_SECONDS)


def prune_expired_inbound(task_run: TaskRun) -> None:
    def prune(connection: Connection, _: UUID, at_most: int) -> int:
        return prune_inbound_events(connection, at_most=at_most)

    # A week more, as in the database function: people see what expired.
    task_run.each_batch("inbound_events", prune, 7 * DAY_SECONDS)


def prune_meters(task_run: TaskRun) -> None:
    def prune(connection: Connection, _: UUID, at_most: int) -> int:
        return prune_quota_meters(connection, at_most=at_most)

    # A day, as in the database function: a bucket that is used daily keeps its row.
    task_run.each_batch("quota_meters", prune, DAY_SECONDS)


def prune_ended_receipts(task_run: TaskRun, kept_days: int) -> None:
    """Prune instance by instance. Live ones keep their receipts, so that the cursor names an instance too."""
    for tenant_id in task_run.walk_tenants("receipts"):
        is_resumed = task_run.cursor.get(TENANT) == str(tenant_id)
        looked_to = UUID(task_run.cursor[INSTANCE]) if is_resumed else None
        # The walk goes on from the tenant before this one.
        before = {AFTER: task_run.cursor[AFTER]} if AFTER in task_run.cursor else {}
        while not task_run.is_cut:
            with task_run.batch(tenant_id) as connection:
                pruned = prune_receipts(
                    connection, kept_days=kept_days, after=looked_to, at_most=task_run.limits.batch_rows
                )
                looked_to = pruned.looked_to
                if looked_to is None:
                    task_run.finish(connection, tenant_id)
                else:
                    task_run.keep(connection, {**before, TENANT: str(tenant_id), INSTANCE: str(looked_to)})
            task_run.rows += pruned.pruned
            if looked_to is None:
                break
            task_run.is_cut = task_run.is_over
