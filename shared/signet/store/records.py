"""What is on record of one instance, read as of one moment."""

from typing import Any, TypeVar
from uuid import UUID

from psycopg.rows import class_row

from signet.core.instance_record import (
    DocumentRecord,
    EffectRecord,
    InstanceRecord,
    Record,
    RequestRecord,
    StepRecord,
    TriggerRecord,
    TurnRecord,
)
from signet.store.database import Connection
from signet.store.statements import Statements

MAX_STEPS = 100
MAX_OTHERS = 20
_SQL = Statements("records")
_Row = TypeVar("_Row")


def read_record(connection: Connection, tenant_id: UUID, instance_id: UUID) -> Record | None:
    """In a snapshot: so that steps and row, request and document belong together."""
    key = {"tenant_id": tenant_id, "id": instance_id, "limit": MAX_OTHERS}
    found = _read(connection, InstanceRecord, _SQL.read_instance, key)
    if not found:
        return None
    (instance,) = found
    key |= {"after": instance.version - MAX_STEPS, "document_id": instance.entity_id}
    documents = _read(connection, DocumentRecord, _SQL.read_document, key)
    requests = _read(connection, RequestRecord, _SQL.read_open_request, key)
    return Record(
        instance,
        documents[0] if documents else None,
        _read(connection, StepRecord, _SQL.read_steps, key),
        requests[0] if requests else None,
        _read(connection, TriggerRecord, _SQL.list_triggers, key),
        _read(connection, EffectRecord, _SQL.list_effects, key),
        _read(connection, TurnRecord, _SQL.list_turns, key),
    )


def _read(connection: Connection, row: type[_Row], statement: str, values: dict[str, Any]) -> list[_Row]:
    with connection.cursor(row_factory=class_row(row)) as cursor:
        return cursor.execute(statement, values).fetchall()
