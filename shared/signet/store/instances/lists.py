"""Lists of instances, the newest first; each follows an index that is in this order.

A greater id is newer: ids begin with the time at which they were made.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal
from uuid import UUID

from psycopg.rows import class_row

from signet.core.explain.instance_record import InstanceStatus
from signet.store.database import Connection
from signet.store.statements import Statements

_SQL = Statements(__file__)
END = UUID(int=2**128 - 1)
# Filters by time use this one if the caller names none.
NEVER = datetime(9999, 12, 31, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class ListedInstance:
    id: UUID
    kind: Literal["envelope", "automation"]
    status: InstanceStatus
    reason: str | None
    version: int
    definition_id: UUID
    definition_version: int
    entity_type: str | None
    document_id: UUID | None
    current_nodes: list[str]
    started_at: datetime
    completed_at: datetime | None
    updated_at: datetime
    workflow: str


@dataclass(frozen=True, slots=True)
class InstanceFilter:
    """A filter of instances; all that it names must be true."""

    statuses: Sequence[str]
    subject_id: str | None = None
    workflow: str | None = None
    definition_id: UUID | None = None
    entity_type: str | None = None
    # Only instances with a token at this node.
    node: str | None = None
    started_before: datetime | None = None
    updated_before: datetime | None = None


def list_instances(
    connection: Connection, tenant_id: UUID, filters: InstanceFilter, *, before: UUID = END, limit: int
) -> list[ListedInstance]:
    values = {
        "tenant_id": tenant_id,
        "statuses": list(filters.statuses),
        "subject_id": filters.subject_id,
        "workflow": filters.workflow,
        "definition_id": filters.definition_id,
        "entity_type": filters.entity_type,
        "node": filters.node,
        "started_before": filters.started_before or NEVER,
        "updated_before": filters.updated_before or NEVER,
        "before": before,
        "limit": limit,
    }
    return _read(connection, _choose(filters), values)


def _choose(filters: InstanceFilter) -> str:
    """Choose the statement whose index narrows most."""
    if filters.subject_id is not None:
        return _SQL.list_by_subject
    if filters.workflow is None and filters.definition_id is None and filters.entity_type is None:
        return _SQL.list_by_status
    return _SQL.list_by_definition


def _read(connection: Connection, statement: str, values: dict[str, Any]) -> list[ListedInstance]:
    with connection.cursor(row_factory=class_row(ListedInstance)) as cursor:
        return cursor.execute(statement, values).fetchall()
