"""Contracts and definitions as they are shown; nothing is locked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from psycopg.rows import class_row, scalar_row

from signet.store.database import Connection
from signet.store.statements import Statements

_SQL = Statements(__file__)
Status = Literal["draft", "published", "archived"]
DefinitionKind = Literal["envelope", "org_patch", "effective", "automation"]


@dataclass(frozen=True, slots=True)
class ContractSummary:
    """A contract without its body; `revision` counts changes of the draft and of the status."""

    entity_type: str
    version: int
    status: Status
    label: str
    hash: str
    revision: int
    created_by: str
    created_at: datetime
    published_at: datetime | None


@dataclass(frozen=True, slots=True)
class DefinitionSummary:
    """A definition without its body; an effective workflow was compiled from the patch `source_id`."""

    id: UUID
    kind: DefinitionKind
    entity_type: str | None
    name: str
    version: int
    status: Status
    is_default: bool
    contract_version: int | None
    compiled_hash: str | None
    compiler_version: str | None
    source_id: UUID | None
    revision: int
    created_by: str
    created_at: datetime
    updated_at: datetime
    published_at: datetime | None


@dataclass(frozen=True, slots=True)
class DefinitionRecord(DefinitionSummary):
    """A definition with what its author wrote; null for what is only compiled."""

    document: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class DefinitionFilters:
    kind: str | None = None
    entity_type: str | None = None
    status: str | None = None
    name: str | None = None
    source_id: UUID | None = None


def list_makers(connection: Connection, tenant_id: UUID, entity_type: str, limit: int) -> list[str]:
    """List the types whose actions make documents of this type, at most so many."""
    values = {"tenant_id": tenant_id, "entity_type": entity_type, "limit": limit}
    with connection.cursor(row_factory=scalar_row) as cursor:
        return list(cursor.execute(_SQL.list_makers, values).fetchall())


def list_readers(connection: Connection, tenant_id: UUID, entity_type: str, limit: int) -> list[str]:
    """List the types whose documents may read those of this type, at most so many."""
    values = {"tenant_id": tenant_id, "entity_type": entity_type, "limit": limit}
    with connection.cursor(row_factory=scalar_row) as cursor:
        return list(cursor.execute(_SQL.list_readers, values).fetchall())


def list_contracts(
    connection: Connection,
    tenant_id: UUID,
    *,
    status: str,
    entity_types: Sequence[str] | None,
    after: str | None,
    limit: int,
) -> list[ContractSummary]:
    """List contracts by entity type; with `entity_types` None, all of them."""
    values = {
        "tenant_id": tenant_id,
        "status": status,
        "entity_types": None if entity_types is None else list(entity_types),
        "after": after,
        "limit": limit,
    }
    with connection.cursor(row_factory=class_row(ContractSummary)) as cursor:
        return cursor.execute(_SQL.list_contracts, values).fetchall()


def list_contract_versions(
    connection: Connection,
    tenant_id: UUID,
    entity_type: str,
    *,
    with_drafts: bool,
    before: int | None,
    limit: int,
) -> list[ContractSummary]:
    values = {
        "tenant_id": tenant_id,
        "entity_type": entity_type,
        "with_drafts": with_drafts,
        "before": before,
        "limit": limit,
    }
    with connection.cursor(row_factory=class_row(ContractSummary)) as cursor:
        return cursor.execute(_SQL.list_contract_versions, values).fetchall()


def list_definitions(
    connection: Connection, tenant_id: UUID, filters: DefinitionFilters, *, before: UUID | None, limit: int
) -> list[DefinitionSummary]:
    """List definitions, the newest first."""
    values = {
        "tenant_id": tenant_id,
        "kind": filters.kind,
        "entity_type": filters.entity_type,
        "status": filters.status,
        "name": filters.name,
        "source_id": filters.source_id,
        "before": before,
        "limit": limit,
    }
    with connection.cursor(row_factory=class_row(DefinitionSummary)) as cursor:
        return cursor.execute(_SQL.list_definitions, values).fetchall()


def list_definition_versions(
    connection: Connection, tenant_id: UUID, definition_id: UUID, *, before: int | None, limit: int
) -> list[DefinitionSummary]:
    """List all definitions with the same kind, entity type and name."""
    values = {"tenant_id": tenant_id, "id": definition_id, "before": before, "limit": limit}
    with connection.cursor(row_factory=class_row(DefinitionSummary)) as cursor:
        return cursor.execute(_SQL.list_definition_versions, values).fetchall()


def find_definition(connection: Connection, tenant_id: UUID, definition_id: UUID) -> DefinitionRecord | None:
    with connection.cursor(row_factory=class_row(DefinitionRecord)) as cursor:
        return cursor.execute(_SQL.find_definition, {"tenant_id": tenant_id, "id": definition_id}).fetchone()


def read_canvas(connection: Connection, tenant_id: UUID, definition_id: UUID) -> Mapping[str, Any] | None:
    row: Any = connection.execute(_SQL.read_canvas, {"tenant_id": tenant_id, "id": definition_id}).fetchone()
    return None if row is None else row[0]
