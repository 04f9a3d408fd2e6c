"""Evaluations of rules: what each read of a change, and what came of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.rows import class_row

from signet.store.database import Connection
from signet.store.json_values import to_json
from signet.store.statements import Statements

_SQL = Statements(__file__)
INSERT = _SQL.insert_executions
LAST = UUID(int=2**128 - 1)


@dataclass(frozen=True, slots=True)
class RuleExecution:
    """One evaluation of a rule.

    Of a rejection it says who asked for the change and from where. A rejected new document does not exist.
    """

    id: UUID
    document_id: UUID
    document_version: int
    entity_type: str
    rule: str
    rule_version: int
    phase: str
    matched: bool
    rejected: bool
    evidence: Mapping[str, Any]
    operation: str | None
    actor: str | None
    responsible: Sequence[str] | None
    origin: Mapping[str, Any] | None
    instance_id: UUID | None
    step_id: UUID | None
    trace_id: str | None
    created_at: datetime


def write_executions(
    connection: Connection, tenant_id: UUID, rows: Sequence[Mapping[str, Any]], *, now: datetime
) -> None:
    connection.execute(INSERT, {"tenant_id": tenant_id, "now": now, "rows": to_json(rows)})


def list_executions(
    connection: Connection, tenant_id: UUID, document_id: UUID, *, before: UUID | None, limit: int
) -> list[RuleExecution]:
    """List what rules were run with on a document, the newest first."""
    values = {"tenant_id": tenant_id, "document_id": document_id, "before": before or LAST, "limit": limit}
    return _list(connection, _SQL.list_of_document, values)


def list_rejections(
    connection: Connection,
    tenant_id: UUID,
    entity_type: str | None,
    rule: str | None,
    *,
    before: UUID | None,
    limit: int,
) -> list[RuleExecution]:
    """List what rules have rejected, the newest first."""
    wanted = {"entity_type": entity_type, "rule": rule}
    values = {"tenant_id": tenant_id, **wanted, "before": before or LAST, "limit": limit}
    return _list(connection, _SQL.list_rejections, values)


def _list(connection: Connection, statement: str, values: Mapping[str, Any]) -> list[RuleExecution]:
    with connection.cursor(row_factory=class_row(RuleExecution)) as cursor:
        return cursor.execute(statement, values).fetchall()
