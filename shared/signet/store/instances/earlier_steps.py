"""Steps of a document since people decided about it, over all of its instances, with their effects."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.rows import class_row

from signet.store.database import Connection
from signet.store.statements import Statements

_SQL = Statements(__file__)
# Of items of lists, and of all other steps, each: as many as this say enough.
MAX_EARLIER = 200


@dataclass(frozen=True, slots=True)
class EarlierStepRow:
    id: UUID
    instance_id: UUID
    token_id: str
    status: str
    output_json: Any
    error: str | None
    # A gate has been passed since; one that ends the way of its slot has been.
    is_before_gate: bool = False
    is_finished: bool = False


@dataclass(frozen=True, slots=True)
class EffectOfStep:
    step_execution_id: UUID
    status: str
    endpoint: str | None
    payload_json: Any
    response_json: Any
    may_have_left: bool
    id: UUID
    first_id: UUID | None
    # Its last attempt is known to have failed.
    has_failed: bool


@dataclass(frozen=True, slots=True)
class Tries:
    """The tries of an effect: their number, what the last one said, and whether a person paused them."""

    attempts: int
    error: str | None
    was_paused: bool


@dataclass(frozen=True, slots=True)
class StepElsewhereRow:
    """A step of another node under another definition, with what it has said."""

    id: UUID
    node_id: str
    definition_id: UUID
    definition_version: int
    evidence: Any
    # Of its call, where it made one.
    endpoint: str | None
    payload_json: Any


def list_earlier(
    connection: Connection,
    tenant_id: UUID,
    entity_type: str,
    document_id: UUID,
    node: str,
    gates: Sequence[str],
    since: int,
) -> Sequence[EarlierStepRow]:
    """List the steps that a node has had since this version of the document, the newest first.

    `gates` end the way of its slot.
    """
    values = {
        "tenant_id": tenant_id,
        "entity_type": entity_type,
        "document_id": document_id,
        "node": node,
        "gates": list(gates),
        "since": since,
        "limit": MAX_EARLIER,
    }
    with connection.cursor(row_factory=class_row(EarlierStepRow)) as cursor:
        return cursor.execute(_SQL.list_earlier, values).fetchall()


def list_done_elsewhere(
    connection: Connection,
    tenant_id: UUID,
    entity_type: str,
    document_id: UUID,
    node: str,
    definition: tuple[UUID, int],
    since: int,
) -> Sequence[StepElsewhereRow]:
    """List what other nodes have done since this version, under other definitions, the newest first."""
    values = {
        "tenant_id": tenant_id,
        "entity_type": entity_type,
        "document_id": document_id,
        "node": node,
        "definition_id": definition[0],
        "definition_version": definition[1],
        "since": since,
        "limit": MAX_EARLIER,
    }
    with connection.cursor(row_factory=class_row(StepElsewhereRow)) as cursor:
        return cursor.execute(_SQL.list_done_elsewhere, values).fetchall()


def find_first_arrival(
    connection: Connection, tenant_id: UUID, instance_id: UUID, node: str, *, is_cut_now: bool
) -> datetime | None:
    """Find when a token came first to a wait that was only sent round again since.

    `is_cut_now` says that this transaction cuts a step of it off, whose row does not say so yet.
    """
    statuses = ["cancelled", "running"] if is_cut_now else ["cancelled"]
    values = {"tenant_id": tenant_id, "instance_id": instance_id, "node": node, "statuses": statuses}
    row: Any = connection.execute(_SQL.find_first_arrival, values).fetchone()
    return row[0] if row is not None else None


def read_tries(connection: Connection, tenant_id: UUID, step_id: UUID | None) -> Tries | None:
    with connection.cursor(row_factory=class_row(Tries)) as cursor:
        return cursor.execute(_SQL.read_tries, {"tenant_id": tenant_id, "step_id": step_id}).fetchone()


def list_acted(
    connection: Connection, tenant_id: UUID, since: Mapping[UUID, int | None]
) -> dict[UUID, dict[str, bool]]:
    """List by instance the nodes that have acted where its document is, each with whether that is certain.

    `since` has by instance the version from which on acts count for the last decision, where people decided.
    """
    acted: dict[UUID, dict[str, bool]] = {}
    values = {"tenant_id": tenant_id, "ids": list(since), "since": list(since.values())}
    for instance_id, node_id, is_certain in connection.execute(_SQL.list_acted, values).fetchall():
        acted.setdefault(UUID(str(instance_id)), {})[str(node_id)] = bool(is_certain)
    return acted


def lock_effects_of_steps(
    connection: Connection, tenant_id: UUID, steps: Sequence[UUID]
) -> Mapping[UUID, EffectOfStep]:
    """Lock the effects of these steps, and return them by step."""
    if not steps:
        return {}
    values = {"tenant_id": tenant_id, "steps": list(steps)}
    with connection.cursor(row_factory=class_row(EffectOfStep)) as cursor:
        rows = cursor.execute(_SQL.lock_effects_of_steps, values).fetchall()
    return {row.step_execution_id: row for row in rows}
