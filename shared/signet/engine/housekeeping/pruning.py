"""Rows that have served: taken away tenant by tenant, in batches, by functions that refuse what must stay."""

from collections.abc import Callable
from functools import partial
from uuid import UUID

from signet.engine.housekeeping.task_run import AFTER, TaskRun
from signet.store.database import Connection
from signet.store.operations.housekeeping import (
    About,
    prune_idempotency_keys,
    prune_inbound_events,
    prune_notifications,
    prune_outbox,
    prune_quota_meters,
    prune_receipts,
)

DAY_SECONDS = 86_400.0
# Of receipts: where in a tenant the run before was cut.
TENANT, INSTANCE = "tenant", "instance"


def prune_events(turn: TaskRun, kept_days: int) -> None:
    _prune_old(turn, "done_events", kept_days, partial(prune_outbox, queue="events"))


def prune_effects(turn: TaskRun, kept_days: int) -> None:
    _prune_old(turn, "done_effects", kept_days, partial(prune_outbox, queue="effects"))


def prune_keys(turn: TaskRun, kept_days: int) -> None:
    _prune_old(turn, "idempotency_keys", kept_days, prune_idempotency_keys)


def prune_read_notifications(turn: TaskRun, kept_days: int) -> None:
    _prune_old(turn, "notifications", kept_days, prune_notifications)


def _prune_old(turn: TaskRun, about: About, kept_days: int, prune: Callable[..., int]) -> None:
    def prune_batch(connection: Connection, _: UUID, at_most: int) -> int:
        return prune(connection, kept_days=kept_days, at_most=at_most)

    turn.each_batch(about, prune_batch, kept_days * DAY_SECONDS)


def prune_expired_inbound(turn: TaskRun) -> None:
    def prune(connection: Connection, _: UUID, at_most: int) -> int:
        return prune_inbound_events(connection, at_most=at_most)

    turn.each_batch("inbound_events", prune)


def prune_meters(turn: TaskRun) -> None:
    def prune(connection: Connection, _: UUID, at_most: int) -> int:
        return prune_quota_meters(connection, at_most=at_most)

    # A day, as the function has it: a bucket that is used daily keeps its row.
    turn.each_batch("quota_meters", prune, DAY_SECONDS)


def prune_ended_receipts(turn: TaskRun, kept_days: int) -> None:
    """Instance by instance: those that live keep theirs, so that the cursor also says where in a tenant."""
    for tenant_id in turn.walk_tenants("receipts"):
        is_resumed = turn.cursor.get(TENANT) == str(tenant_id)
        looked_to = UUID(turn.cursor[INSTANCE]) if is_resumed else None
        # The tenant before this one, from which the walk goes on.
        before = {AFTER: turn.cursor[AFTER]} if AFTER in turn.cursor else {}
        while not turn.is_cut:
            with turn.batch(tenant_id) as connection:
                found = prune_receipts(
                    connection, kept_days=kept_days, after=looked_to, at_most=turn.limits.batch_rows
                )
                looked_to = found.looked_to
                if looked_to is None:
                    turn.finish(connection, tenant_id)
                else:
                    turn.keep(connection, {**before, TENANT: str(tenant_id), INSTANCE: str(looked_to)})
            turn.rows += found.pruned
            if looked_to is None:
                break
            turn.is_cut = turn.is_over
