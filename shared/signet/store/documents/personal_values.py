"""Personal values: the one table from which they can be erased."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from signet.core.audit.trail import PersonalValue
from signet.store.database import Connection
from signet.store.statements import Statements

_SQL = Statements(__file__)


@dataclass(frozen=True, slots=True)
class ErasedValue:
    id: str
    field: str
    erased_at: datetime


def lock_document(connection: Connection, tenant_id: UUID, document_id: UUID) -> bool:
    """Lock the document's row until the end of the transaction; return whether there is one."""
    values = {"tenant_id": tenant_id, "document_id": document_id}
    return connection.execute(_SQL.lock_document, values).rowcount == 1


def erase_values(
    connection: Connection, tenant_id: UUID, document_id: UUID, fields: Collection[str] | None
) -> list[ErasedValue]:
    """Erase values in every version of the document; without names, those of all fields."""
    values = {
        "tenant_id": tenant_id,
        "document_id": document_id,
        "fields": None if fields is None else sorted(fields),
    }
    rows: list[Any] = connection.execute(_SQL.erase_values, values).fetchall()
    return sorted((ErasedValue(*row) for row in rows), key=lambda erased: erased.id)


def read_values(connection: Connection, tenant_id: UUID, ids: Collection[str]) -> dict[str, PersonalValue]:
    rows: list[Any] = connection.execute(
        _SQL.read_values, {"tenant_id": tenant_id, "ids": sorted(ids)}
    ).fetchall()
    return {
        identifier: PersonalValue(identifier, None if salt is None else bytes(salt), value)
        for identifier, salt, value in rows
    }


def list_erased_since(
    connection: Connection, tenant_id: UUID, document_id: UUID, fields: Collection[str], version: int
) -> frozenset[str]:
    """List which of these fields have lost a value since the document had this version."""
    values = {
        "tenant_id": tenant_id,
        "document_id": document_id,
        "fields": sorted(fields),
        "version": version,
    }
    rows: list[Any] = connection.execute(_SQL.list_erased_since, values).fetchall()
    return frozenset(row[0] for row in rows)


def list_erased_since_asked(
    connection: Connection, tenant_id: UUID, document_id: UUID, fields: Collection[str], version: int
) -> frozenset[str]:
    """List which of these fields have lost a value since people were asked about this version or later."""
    values = {
        "tenant_id": tenant_id,
        "document_id": document_id,
        "fields": sorted(fields),
        "version": version,
    }
    rows: list[Any] = connection.execute(_SQL.list_erased_since_asked, values).fetchall()
    return frozenset(row[0] for row in rows)


def list_erased_fields(connection: Connection, tenant_id: UUID, document_id: UUID) -> list[str]:
    """List all fields of a document that have lost a value."""
    values = {"tenant_id": tenant_id, "document_id": document_id}
    rows: list[Any] = connection.execute(_SQL.list_erased_fields, values).fetchall()
    return [row[0] for row in rows]


def find_live_instance(connection: Connection, tenant_id: UUID, document_id: UUID) -> UUID | None:
    values = {"tenant_id": tenant_id, "document_id": document_id}
    row: Any = connection.execute(_SQL.find_live_instance, values).fetchone()
    return None if row is None else UUID(str(row[0]))
