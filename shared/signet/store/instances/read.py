"""One instance as it is shown; nothing is locked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypeVar
from uuid import UUID

from psycopg.rows import class_row

from signet.core.diagrams.instance_graph import Visit
from signet.core.explain.instance_record import ExplainedInstance, ExplainedStep, InstanceStatus
from signet.store.database import Connection
from signet.store.statements import Statements

_SQL = Statements(__file__)
_Row = TypeVar("_Row")


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceRecord(ExplainedInstance):
    kind: Literal["envelope", "automation"]
    status: InstanceStatus
    workflow: str
    definition_hash: str
    entity_version: int
    subject_id: str
    current_nodes: list[str]
    active_tokens: list[dict[str, Any]]
    edit_window: Literal["editable", "amend_only", "locked"] | None
    edit_window_node: str | None
    context_json: dict[str, Any]
    depth: int
    trace_id: str | None
    timeout_at: datetime | None
    completed_at: datetime | None


@dataclass(frozen=True, slots=True)
class WaitRow:
    token_id: str
    node_id: str
    node_type: str
    since: datetime
    resume_at: datetime | None
    waiting_for_event_key: str | None
    approval_request_id: UUID | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRecord(ExplainedStep):
    status: Literal["pending", "running", "completed", "failed", "skipped", "cancelled"]
    run_as: Literal["actor", "system", "service_account"]
    version_after: int
    input_json: dict[str, Any] | None
    output_json: dict[str, Any] | None
    duration_ms: int | None
    approval_request_id: UUID | None
    applied: bool | None
    trace_id: str | None


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """A line in the life of an instance."""

    id: UUID
    at: datetime
    entry: str
    actor_id: str
    step_id: UUID | None
    data: Mapping[str, Any]
    trace_id: str | None


@dataclass(frozen=True, slots=True)
class CompiledRow:
    compiled_json: str
    compiled_hash: str
    canvas: dict[str, Any]
    active_tokens: list[dict[str, Any]]
    version: int


@dataclass(frozen=True, slots=True)
class TakenEdge:
    id: str
    count: int


def find_instance(connection: Connection, tenant_id: UUID, instance_id: UUID) -> InstanceRecord | None:
    records = _read(
        connection, InstanceRecord, _SQL.find_instance, {"tenant_id": tenant_id, "id": instance_id}
    )
    return records[0] if records else None


def list_waits(connection: Connection, tenant_id: UUID, instance_id: UUID) -> Sequence[WaitRow]:
    return _read(connection, WaitRow, _SQL.list_waits, {"tenant_id": tenant_id, "id": instance_id})


def list_steps(
    connection: Connection, tenant_id: UUID, instance_id: UUID, *, after: int, limit: int
) -> Sequence[StepRecord]:
    values = {"tenant_id": tenant_id, "id": instance_id, "after": after, "limit": limit}
    return _read(connection, StepRecord, _SQL.list_steps, values)


def list_history(
    connection: Connection, tenant_id: UUID, instance_id: UUID, *, after: tuple[datetime, UUID], limit: int
) -> Sequence[HistoryEntry]:
    values = {
        "tenant_id": tenant_id,
        "id": instance_id,
        "after_at": after[0],
        "after": after[1],
        "limit": limit,
    }
    return _read(connection, HistoryEntry, _SQL.list_history, values)


def read_compiled_of_instance(
    connection: Connection, tenant_id: UUID, instance_id: UUID
) -> CompiledRow | None:
    key = {"tenant_id": tenant_id, "id": instance_id}
    rows = _read(connection, CompiledRow, _SQL.read_compiled_of_instance, key)
    return rows[0] if rows else None


def list_visits(connection: Connection, tenant_id: UUID, instance_id: UUID) -> Sequence[Visit]:
    return _read(connection, Visit, _SQL.list_visits, {"tenant_id": tenant_id, "id": instance_id})


def count_taken_edges(connection: Connection, tenant_id: UUID, instance_id: UUID) -> dict[str, int]:
    key = {"tenant_id": tenant_id, "id": instance_id}
    return {edge.id: edge.count for edge in _read(connection, TakenEdge, _SQL.count_taken_edges, key)}


def _read(connection: Connection, row: type[_Row], statement: str, values: Mapping[str, Any]) -> list[_Row]:
    with connection.cursor(row_factory=class_row(row)) as cursor:
        return cursor.execute(statement, values).fetchall()
