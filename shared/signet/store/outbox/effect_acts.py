"""Acts on effects: tried, withdrawn, discarded by operators; held for endpoints; noted as sent by workers."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.rows import class_row, scalar_row
from psycopg.types.json import Jsonb

from signet.core.errors import Defect
from signet.core.integrations.effect_acts import HoldingCode
from signet.ids import created_at_of
from signet.store.database import Connection
from signet.store.outbox.queue import (
    EFFECTS,
    MAX_ROWS,
    ClaimedEffect,
    Queue,
    clean_error,
    fill,
)
from signet.store.statements import Statements
from signet.store.wake_ups import add_wake_up

_SQL = Statements(__file__)


@dataclass(frozen=True, slots=True)
class EffectRow:
    """An effect without its content, which may be personal."""

    id: UUID
    instance_id: UUID
    document_id: UUID | None
    step_id: UUID
    effect_type: str
    endpoint: str | None
    status: str
    attempts: int
    max_attempts: int
    due_at: datetime
    held_at: datetime | None
    withdrawn_at: datetime | None
    withdraw_reason: str | None
    discard_reason: str | None
    error: str | None
    # Why its endpoint holds what is for it: it is switched off, or missing.
    held_by: HoldingCode | None
    has_instance: bool
    is_paused_by_person: bool
    # It was sent, or may have been.
    may_have_left: bool


@dataclass(frozen=True, slots=True)
class ChangedEffect:
    """An effect whose instance is to be woken; `is_new` says that it was not so before."""

    id: UUID
    instance_id: UUID
    trace_id: str | None
    is_new: bool


@dataclass(frozen=True, slots=True)
class PausedInstances:
    """The instances that a person has paused, at a moment."""

    now: datetime
    ids: list[UUID]


def list_effects(
    connection: Connection, tenant_id: UUID, instance_id: UUID, *, before: UUID, limit: int
) -> list[EffectRow]:
    """List the effects of an instance, the newest first."""
    values = {"tenant_id": tenant_id, "instance_id": instance_id, "before": before, "limit": limit}
    with connection.cursor(row_factory=class_row(EffectRow)) as cursor:
        return cursor.execute(_SQL.list_effects, values).fetchall()


def find_effect(connection: Connection, tenant_id: UUID, effect_id: UUID) -> EffectRow | None:
    with connection.cursor(row_factory=class_row(EffectRow)) as cursor:
        return cursor.execute(_SQL.find_effect, _key(tenant_id, effect_id)).fetchone()


def lock_effect(connection: Connection, tenant_id: UUID, effect_id: UUID) -> None:
    connection.execute(_SQL.lock_effect, _key(tenant_id, effect_id))


def try_effect_now(connection: Connection, tenant_id: UUID, effect_id: UUID, endpoint: str | None) -> None:
    """Let an effect be due now, and end the rest of its endpoint."""
    connection.execute(_SQL.try_effect_now, _key(tenant_id, effect_id))
    if endpoint is not None:
        connection.execute(_SQL.end_rest, {"tenant_id": tenant_id, "name": endpoint})
    add_wake_up(connection, tenant_id, EFFECTS.name)


def end_tries(
    connection: Connection, tenant_id: UUID, failures: Sequence[tuple[ClaimedEffect, str]], claim_id: UUID
) -> set[UUID]:
    """End those of these failed attempts that were made by hand; each goes back to its plan."""
    values = {
        **_keys(tenant_id, [effect.id for effect, _ in failures]),
        "errors": [clean_error(error) for _, error in failures],
        "claim_id": claim_id,
    }
    cursor = connection.cursor(row_factory=scalar_row)
    return set(cursor.execute(_SQL.end_tries, values).fetchall())


def withdraw_effect(connection: Connection, tenant_id: UUID, effect_id: UUID, reason: str) -> None:
    connection.execute(_SQL.withdraw_effect, {**_key(tenant_id, effect_id), "reason": reason})


def discard_dead(
    connection: Connection, queue: Queue[Any], tenant_id: UUID, ids: Sequence[UUID], reason: str
) -> set[UUID]:
    """Discard dead letters with the reason; other rows are missing in the answer."""
    if not ids:
        return set()
    values = {**_keys(tenant_id, ids), "reason": reason}
    cursor = connection.cursor(row_factory=scalar_row)
    return set(cursor.execute(fill(_SQL.discard_dead, queue), values).fetchall())


def hold_effects(
    connection: Connection,
    tenant_id: UUID,
    held: Sequence[tuple[ClaimedEffect, str]],
    claim_id: UUID,
    *,
    delay_seconds: float,
) -> list[ChangedEffect]:
    """Hold claimed effects, each with the reason; this costs no attempt."""
    if not held:
        return []
    add_wake_up(connection, tenant_id, EFFECTS.name, delay_seconds)
    values = {
        **_keys(tenant_id, [effect.id for effect, _ in held]),
        "errors": [clean_error(reason) for _, reason in held],
        "claim_id": claim_id,
        "delay_seconds": delay_seconds,
    }
    return _change(connection, _SQL.hold_effects, values)


def let_effects_go(connection: Connection, tenant_id: UUID, ids: Collection[UUID]) -> None:
    if ids:
        connection.execute(_SQL.let_effects_go, _keys(tenant_id, list(ids)))


def free_held(
    connection: Connection, tenant_id: UUID, endpoint: str, *, at_most: int = MAX_ROWS
) -> list[ChangedEffect]:
    """Free the oldest effects that an endpoint holds; the rest come by themselves when they are due."""
    values = {"tenant_id": tenant_id, "endpoint": endpoint, "at_most": at_most}
    freed = _change(connection, _SQL.free_held, values)
    if freed:
        add_wake_up(connection, tenant_id, EFFECTS.name)
    return freed


def list_withdrawn(connection: Connection, tenant_id: UUID, ids: Collection[UUID]) -> list[ChangedEffect]:
    if not ids:
        return []
    return _change(connection, _SQL.list_withdrawn, _keys(tenant_id, list(ids)))


def find_paused(connection: Connection, tenant_id: UUID, instance_ids: Collection[UUID]) -> PausedInstances:
    """Find the moment of the transaction, and those of these instances that a person has paused."""
    values = {"tenant_id": tenant_id, "ids": list(instance_ids)}
    with connection.cursor(row_factory=class_row(PausedInstances)) as cursor:
        (found,) = cursor.execute(_SQL.find_paused, values).fetchall()
    return found


def free_paused(connection: Connection, tenant_id: UUID, instance_id: UUID) -> None:
    """Free what an instance has not sent while a person had paused it."""
    connection.execute(_SQL.free_paused, {"tenant_id": tenant_id, "instance_id": instance_id})
    add_wake_up(connection, tenant_id, EFFECTS.name)


def list_left(
    connection: Connection,
    tenant_id: UUID,
    instance_id: UUID,
    steps: Sequence[UUID],
    holds: Sequence[int],
) -> list[str]:
    """List the nodes whose effect may have left: of these steps, and of those behind these holds."""
    values = {
        "tenant_id": tenant_id,
        "instance_id": instance_id,
        "steps": list(steps),
        "holds": list(holds),
    }
    return connection.cursor(row_factory=scalar_row).execute(_SQL.list_left, values).fetchall()


def keep_responses(
    connection: Connection,
    tenant_id: UUID,
    responses: Sequence[tuple[ClaimedEffect, Any]],
    claim_id: UUID,
    *,
    unsent: Collection[UUID] = (),
) -> set[UUID]:
    """Keep the answers of receivers as evidence, before the rows are completed or failed.

    What an attempt that sent nothing says about itself says nothing about the one before.
    """
    if not responses:
        return set()
    values = {
        **_keys(tenant_id, [row.id for row, _ in responses]),
        "claim_id": claim_id,
        "responses": [Jsonb(response) for _, response in responses],
        "unsent": [row.id in unsent for row, _ in responses],
    }
    return set(connection.cursor(row_factory=scalar_row).execute(_SQL.keep_responses, values).fetchall())


def note_unsent(connection: Connection, tenant_id: UUID, rows: Sequence[ClaimedEffect]) -> None:
    """Note that these claims sent nothing. What an earlier claim may have sent stays noted."""
    if rows:
        values = {
            **_keys(tenant_id, [row.id for row in rows]),
            "claimed_ats": [row.claimed_at for row in rows],
        }
        connection.execute(_SQL.note_unsent, values)


def note_lost(connection: Connection, tenant_id: UUID, ids: Sequence[UUID]) -> None:
    """Note that nobody knows how the last attempt of these effects has ended."""
    if ids:
        connection.execute(_SQL.note_lost, _keys(tenant_id, ids))


def _change(connection: Connection, statement: str, values: dict[str, Any]) -> list[ChangedEffect]:
    with connection.cursor(row_factory=class_row(ChangedEffect)) as cursor:
        return cursor.execute(statement, values).fetchall()


def _key(tenant_id: UUID, effect_id: UUID) -> dict[str, Any]:
    return {"tenant_id": tenant_id, "created_at": created_at_of(effect_id), "id": effect_id}


def _keys(tenant_id: UUID, ids: Sequence[UUID]) -> dict[str, Any]:
    if len(ids) > MAX_ROWS:
        raise Defect("QUEUE_LIMIT", f"at most {MAX_ROWS} at a time, not {len(ids)}")
    return {
        "tenant_id": tenant_id,
        "created_ats": [created_at_of(row_id) for row_id in ids],
        "ids": list(ids),
    }
