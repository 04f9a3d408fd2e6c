"""Rows whose worker did not come back: tried again, or answered for where that was the last attempt."""

from collections.abc import Sequence
from uuid import UUID

from signet.engine.telemetry import Telemetry
from signet.engine.triggers import make_trigger
from signet.engine.waves.dead_letters import pause_for
from signet.store.database import Connection
from signet.store.queue import (
    EFFECTS,
    EVENTS,
    ClaimedEffect,
    ClaimedEvent,
    Returned,
    insert_triggers,
    release_expired,
)

EFFECT_ENDED = "effect_ended"


def free_events(
    connection: Connection, tenant_id: UUID, telemetry: Telemetry, *, at_most: int
) -> Returned[ClaimedEvent]:
    """An instance whose trigger is dead by now is paused."""
    expired = release_expired(connection, EVENTS, tenant_id, at_most=at_most)
    pause_for(connection, tenant_id, expired.dead)
    if expired.again or expired.dead:
        telemetry.leases_expired(tenant_id, len(expired.again), len(expired.dead))
    return expired


def free_effects(connection: Connection, tenant_id: UUID, *, at_most: int) -> Returned[ClaimedEffect]:
    """Of what is dead by now the workflows are told."""
    expired = release_expired(connection, EFFECTS, tenant_id, at_most=at_most)
    wake_for(connection, tenant_id, expired.dead)
    return expired


def wake_for(connection: Connection, tenant_id: UUID, ended: Sequence[ClaimedEffect]) -> None:
    """Each instance once; what it waited for it finds by itself."""
    woken = {effect.instance_id: effect for effect in ended}.values()
    insert_triggers(
        connection,
        tenant_id,
        [make_trigger(effect.instance_id, EFFECT_ENDED, {}, effect.trace_id) for effect in woken],
    )
