"""Rows that have served: taken away tenant by tenant, in batches, by functions that refuse what must stay."""

from uuid import UUID

from signet.engine.housekeeping.turn import AFTER, Turn
from signet.store.database import Connection
from signet.store.housekeeping import (
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


def prune_events(turn: Turn, kept_days: int) -> None:
    def prune(connection: Connection, _: UUID, at_most: int) -> int:
        return prune_outbox(connection, "events", kept_days=kept_days, at_most=at_most)

    turn.each_batch("done_events", prune, kept_days * DAY_SECONDS)


def prune_effects(turn: Turn, kept_days: int) -> None:
    def prune(connection: Connection, _: UUID, at_most: int) -> int:
        return prune_outbox(connection, "effects", kept_days=kept_days, at_most=at_most)

    turn.each_batch("done_effects", prune, kept_days * DAY_SECONDS)


def prune_keys(turn: Turn, kept_days: int) -> None:
    def prune(connection: Connection, _: UUID, at_most: int) -> int:
        return prune_idempotency_keys(connection, kept_days=kept_days, at_most=at_most)

    turn.each_batch("idempotency_keys", prune, kept_days * DAY_SECONDS)


def prune_read_notifications(turn: Turn, kept_days: int) -> None:
    def prune(connection: Connection, _: UUID, at_most: int) -> int:
        return prune_notifications(connection, kept_days=kept_days, at_most=at_most)

    turn.each_batch("notifications", prune, kept_days * DAY_SECONDS)


def prune_expired_inbound(turn: Turn) -> None:
    def prune(connection: Connection, _: UUID, at_most: int) -> int:
        return prune_inbound_events(connection, at_most=at_most)

    turn.each_batch("inbound_events", prune)


def prune_meters(turn: Turn) -> None:
    def prune(connection: Connection, _: UUID, at_most: int) -> int:
        return prune_quota_meters(connection, at_most=at_most)

    # A day, as the function has it: a bucket that is used daily keeps its row.
    turn.each_batch("quota_meters", prune, DAY_SECONDS)


def prune_ended_receipts(turn: Turn, kept_days: int) -> None:
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
