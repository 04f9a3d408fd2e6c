"""Rows whose worker did not come back: released for another try, or answered for after the last one.

An instance is paused when one of its triggers is a dead letter: it is shown, and it can be resumed.
"""

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from signet.core.runtime.idempotency_keys import step_key
from signet.core.runtime.projection import CONTROL
from signet.engine.telemetry import Telemetry
from signet.engine.triggers import make_trigger
from signet.ids import created_at_of, make_id
from signet.store.database import Connection
from signet.store.instances.write import pause_instances
from signet.store.outbox.queue import (
    EFFECTS,
    EVENTS,
    ClaimedEffect,
    ClaimedEvent,
    ReturnedRows,
    insert_triggers,
    release_expired,
)


def pause_for(connection: Connection, tenant_id: UUID, dead: Iterable[ClaimedEvent]) -> None:
    """Also where its workflow cannot be loaded, and where nobody came back to say what went wrong."""
    rows = {trigger.instance_id: _make_row(trigger) for trigger in dead}
    if rows:
        pause_instances(connection, tenant_id, list(rows.values()))


def _make_row(trigger: ClaimedEvent) -> dict[str, Any]:
    step_id, history_id = make_id(), make_id()
    # Of this death: a trigger that is sent again may die again.
    key = step_key(trigger.instance_id, CONTROL, f"step:{step_id}", 0)
    return {
        "id": trigger.instance_id,
        "reason": trigger.error or "",
        "step_id": step_id,
        "step_created_at": created_at_of(step_id),
        "idempotency_key": f"\\x{key.hex()}",
        "output": {"reason": trigger.error or "", "trigger": str(trigger.id)},
        "history_id": history_id,
        "history_created_at": created_at_of(history_id),
        "trace_id": trigger.trace_id,
    }


EFFECT_ENDED = "effect_ended"


def release_expired_triggers(
    connection: Connection, tenant_id: UUID, telemetry: Telemetry, *, at_most: int
) -> ReturnedRows[ClaimedEvent]:
    """An instance whose trigger is dead by now is paused."""
    expired = release_expired(connection, EVENTS, tenant_id, at_most=at_most)
    pause_for(connection, tenant_id, expired.dead)
    if expired.again or expired.dead:
        telemetry.leases_expired(tenant_id, len(expired.again), len(expired.dead))
    return expired


def free_effects(connection: Connection, tenant_id: UUID, *, at_most: int) -> ReturnedRows[ClaimedEffect]:
    """Of what is dead by now the workflows are told."""
    expired = release_expired(connection, EFFECTS, tenant_id, at_most=at_most)
    wake_instances(connection, tenant_id, expired.dead)
    return expired


def wake_instances(connection: Connection, tenant_id: UUID, ended: Sequence[ClaimedEffect]) -> None:
    """Each instance once; what it waited for it finds by itself."""
    woken = {effect.instance_id: effect for effect in ended}.values()
    insert_triggers(
        connection,
        tenant_id,
        [make_trigger(effect.instance_id, EFFECT_ENDED, {}, effect.trace_id) for effect in woken],
    )
