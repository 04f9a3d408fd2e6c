"""Reads at the opening of a wave, and writes in its rounds and at its end."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from operator import itemgetter
from typing import Any
from uuid import UUID

from signet.core.runtime.document_changes import CORRECTED
from signet.ids import parse_id
from signet.store.automations.starts import NO_CAUSE as NO_CAUSE
from signet.store.automations.starts import InstanceCause as InstanceCause
from signet.store.database import Connection
from signet.store.documents.write import DocumentRow, TransactionContext, parse_locked_documents
from signet.store.json_values import to_id_array, to_json, to_time_array
from signet.store.outbox.queue import ClaimedRow, ClaimedTrigger
from signet.store.pipeline import DeferredStatement, PipelinedTransaction
from signet.store.statements import Statements
from signet.store.wake_ups import add_wake_up

_SQL = Statements(__file__)
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class InstanceRow:
    id: UUID
    kind: str
    definition_id: UUID
    definition_version: int
    entity_type: str | None
    entity_id: UUID | None
    entity_version: int
    status: str
    reason: str | None
    version: int
    birth: str
    actor_id: str
    actor_roles: list[str]
    # The persons behind the actor.
    responsible: list[str] | None
    # What a gate has used last of other documents.
    pins: dict[str, Any]
    # The actor as a member now: status and roles; None if they are no member.
    actor_member: dict[str, Any] | None
    request_id: str | None
    active_tokens: list[dict[str, Any]]
    context_json: dict[str, Any]
    depth: int
    trace_id: str | None


@dataclass(frozen=True, slots=True)
class OpenStepRow:
    id: UUID
    instance_id: UUID
    seq: int
    node_id: str
    token_id: str
    entity_version: int
    version_after: int
    started_at: datetime
    resume_at: datetime | None
    waiting_for_event_key: str | None


@dataclass(frozen=True, slots=True)
class EffectOutcome:
    step_execution_id: UUID
    status: str
    response_json: Any
    error: str | None


@dataclass(frozen=True, slots=True)
class OpenedWave:
    """The rows of a wave, locked first and then read."""

    transaction: TransactionContext
    documents: Mapping[UUID, DocumentRow]
    # Claimed triggers that this worker still holds, and those of their instances that exist.
    triggers: frozenset[UUID]
    known: frozenset[UUID]
    instances: Sequence[InstanceRow]
    steps: Sequence[OpenStepRow]
    effects: Mapping[UUID, EffectOutcome]
    # Of the instances that an automation has brought about.
    causes: Mapping[UUID, InstanceCause]


@dataclass(slots=True)
class WaveRows:
    """Rows that a wave writes after its last round."""

    steps: list[Row] = field(default_factory=list)
    instances: list[Row] = field(default_factory=list)
    effects: list[Row] = field(default_factory=list)
    history: list[Row] = field(default_factory=list)
    done: list[ClaimedTrigger] = field(default_factory=list)
    # Effects that may repeat earlier ones: of retries, of ways that begin again, of restarts.
    # Each has the token that its step goes on for.
    repeating: list[Row] = field(default_factory=list)
    # Instances that took no step, and wait for another moment.
    deadlines: list[Row] = field(default_factory=list)


def open_wave(claimed: Sequence[ClaimedRow], claim_id: UUID) -> DeferredStatement:
    return DeferredStatement(_SQL.open_wave, {**_name_rows(claimed), "claim_id": claim_id})


def parse_opened_wave(row: tuple[Any, ...] | None) -> OpenedWave | None:
    """Parse the answer of `open_wave`; None if the tenant is not active."""
    documents, transaction = parse_locked_documents(row[:7] if row else None)
    if row is None or transaction is None:
        return None
    triggers, known, instances, steps, effects, causes = row[7:]
    return OpenedWave(
        transaction,
        documents,
        frozenset(triggers or ()),
        frozenset(known),
        [_parse_instance(columns) for columns in instances or ()],
        [_parse_step(columns) for columns in steps or ()],
        {effect.step_execution_id: effect for effect in map(_parse_effect, effects or ())},
        {parse_id(name): InstanceCause(**found) for name, found in (causes or {}).items()},
    )


def count_lagging(connection: Connection, tenant_id: UUID, instance_ids: Sequence[UUID]) -> int:
    values = {"tenant_id": tenant_id, "ids": to_id_array(instance_ids)}
    return _parse_count(connection.execute(_SQL.count_lagging, values).fetchone())


def write_steps(connection: Connection, rows: Sequence[dict[str, Any]], now: datetime) -> int:
    """Write steps with their receipts, and return how many of them were new.

    The set of persons that the first names is taken out of all that name it.
    """
    usual = rows[0].get("responsible") if rows else None
    for row in rows:
        if row.get("responsible") == usual:
            row.pop("responsible", None)
    cursor = connection.execute(_SQL.write_steps, {"steps": to_json(rows), "usual": usual, "now": now})
    return _parse_count(cursor.fetchone())


def end_wave(pipeline: PipelinedTransaction, tenant_id: UUID, rows: WaveRows, now: datetime) -> None:
    """Add the last statement of the transaction; a short one is sent with its COMMIT."""
    values = {
        "steps": to_json(rows.steps),
        "instances": to_json(rows.instances),
        "effects": to_json(rows.effects) if rows.effects else None,
        "history": to_json(rows.history),
        **_name_rows(rows.done),
        "now": now,
    }
    pipeline.closing.append(DeferredStatement(_SQL.end_wave, values))
    if rows.deadlines:
        values = {"tenant_id": tenant_id, "rows": to_json(rows.deadlines), "now": now}
        pipeline.closing.append(DeferredStatement(_SQL.move_deadlines, values))
    if rows.repeating:
        pipeline.closing.append(_name_first_effects(tenant_id, rows.repeating))
    limited = [effect for effect in rows.effects if effect["max_attempts"] is not None]
    if limited:
        closing = {"tenant_id": tenant_id, "rows": to_json(limited)}
        pipeline.closing.append(DeferredStatement(_SQL.limit_attempts, closing))
    if rows.effects:
        add_wake_up(pipeline.connection, tenant_id, "effects")


def _name_first_effects(tenant_id: UUID, repeating: Sequence[Row]) -> DeferredStatement:
    """Let effects that repeat an earlier one name it, so that receivers recognise it."""
    values = {"tenant_id": tenant_id, "rows": to_json(repeating), "corrected": CORRECTED}
    return DeferredStatement(_SQL.name_first_effects, values)


def _parse_count(row: tuple[object, ...] | None) -> int:
    assert row is not None
    return int(str(row[0]))


def _name_rows(rows: Sequence[ClaimedRow]) -> dict[str, Any]:
    times, ids = (row.created_at for row in rows), (row.id for row in rows)
    return {"trigger_times": to_time_array(times), "trigger_ids": to_id_array(ids)}


# As of documents: by position, and without what a newer release reads besides.
_read_columns = itemgetter(*(column.name for column in fields(InstanceRow)))


def _parse_instance(columns: dict[str, Any]) -> InstanceRow:
    for name in ("id", "definition_id", "entity_id"):
        columns[name] = columns[name] and parse_id(columns[name])
    return InstanceRow(*_read_columns(columns))


def _parse_step(columns: dict[str, Any]) -> OpenStepRow:
    for name in ("id", "instance_id"):
        columns[name] = parse_id(columns[name])
    for name in ("started_at", "resume_at"):
        columns[name] = columns[name] and datetime.fromisoformat(columns[name])
    return OpenStepRow(**columns)


def _parse_effect(columns: dict[str, Any]) -> EffectOutcome:
    return EffectOutcome(**{**columns, "step_execution_id": parse_id(columns["step_execution_id"])})
