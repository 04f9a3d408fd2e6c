"""Triggers and effects that failed, or whose worker did not come back.

An instance is paused when one of its triggers is a dead letter: an incident says so, and operators retry it.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from signet.core.errors import SignetError
from signet.core.incidents.given_back import describe_given_back
from signet.core.incidents.incident import GIVEN_BACK, code_of, kind_of
from signet.core.runtime.idempotency_keys import step_key
from signet.core.runtime.position import find_code
from signet.core.runtime.projection import CONTROL
from signet.engine.execution.claim import Claim
from signet.engine.telemetry import Telemetry
from signet.ids import created_at_of, make_id
from signet.store.database import Connection
from signet.store.instances.write import pause_instances
from signet.store.outbox.effect_acts import ChangedEffect, list_withdrawn, note_lost
from signet.store.outbox.given_back import take_stranded
from signet.store.outbox.queue import (
    EFFECTS,
    EVENTS,
    EVER,
    ClaimedEffect,
    ClaimedTrigger,
    ReturnedRows,
    fail,
    insert_triggers,
    make_trigger,
    release_expired,
)

EFFECT_ENDED = "effect_ended"


def pause_for(connection: Connection, tenant_id: UUID, dead: Iterable[ClaimedTrigger]) -> None:
    """Pause instances by their rows: where no workflow can be loaded, or no worker came back."""
    rows = {trigger.instance_id: _make_row(trigger) for trigger in dead}
    if rows:
        pause_instances(connection, tenant_id, list(rows.values()))


def _make_row(trigger: ClaimedTrigger) -> dict[str, Any]:
    step_id, history_id = make_id(), make_id()
    code = code_of(find_code(trigger.error or "", {}), None)
    # A key of this death: a trigger that is sent again may die again.
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
        "incident_id": make_id(),
        "code": code,
        "kind": kind_of(code),
    }


def hold_stranded(connection: Connection, claimed: Claim, code: str, telemetry: Telemetry) -> bool:
    """Pause the instances of triggers that were given back for too long. Return whether there was any."""
    stranded = {
        one.id: f"{GIVEN_BACK}: {describe_given_back(one.count + 1, one.since, code)}"
        for one in take_stranded(connection, claimed.tenant_id, claimed.triggers, claimed.id)
    }
    failures = [(row, stranded[row.id]) for row in claimed.triggers if row.id in stranded]
    dead = fail(connection, EVENTS, claimed.tenant_id, failures, claimed.id, final=stranded.keys()).dead
    pause_for(connection, claimed.tenant_id, dead)
    for trigger in dead:
        telemetry.stranded(claimed.tenant_id, trigger.instance_id, code)
    return bool(dead)


def release_expired_triggers(
    connection: Connection, tenant_id: UUID, telemetry: Telemetry, *, at_most: int, since: datetime = EVER
) -> ReturnedRows[ClaimedTrigger]:
    """Release triggers whose lease has expired. Pause the instances of those that are dead letters now."""
    expired = release_expired(connection, EVENTS, tenant_id, at_most=at_most, since=since)
    pause_for(connection, tenant_id, expired.dead)
    if expired.again or expired.dead:
        telemetry.leases_expired(tenant_id, len(expired.again), len(expired.dead))
    return expired


def release_expired_effects(
    connection: Connection, tenant_id: UUID, *, at_most: int, since: datetime = EVER
) -> ReturnedRows[ClaimedEffect]:
    """Release effects whose lease has expired. Wake the workflows of those that are dead letters now."""
    expired = release_expired(connection, EFFECTS, tenant_id, at_most=at_most, since=since)
    note_lost(connection, tenant_id, [*expired.again, *(effect.id for effect in expired.dead)])
    withdrawn = list_withdrawn(connection, tenant_id, expired.again)
    wake_instances(connection, tenant_id, [*expired.dead, *withdrawn])
    return expired


def wake_instances(
    connection: Connection, tenant_id: UUID, ended: Sequence[ClaimedEffect | ChangedEffect]
) -> None:
    """Wake each instance once; it finds by itself what it waited for."""
    woken = {effect.instance_id: effect for effect in ended}.values()
    insert_triggers(
        connection,
        tenant_id,
        [make_trigger(effect.instance_id, EFFECT_ENDED, {}, effect.trace_id) for effect in woken],
    )


def describe_error(error: BaseException) -> str:
    """Describe an error to an operator: its code, or else no more of it than its first line."""
    if isinstance(error, SignetError):
        return f"{error.code}: {error.message}"
    return f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
