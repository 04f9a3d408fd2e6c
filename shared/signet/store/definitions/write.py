"""Contracts and workflow definitions as they are saved, published and archived."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from signet.core.control.authorship import UNKNOWN, Authorship
from signet.core.errors import Defect
from signet.store.database import Connection
from signet.store.statements import Statements

_SQL = Statements(__file__)


@dataclass(frozen=True, slots=True)
class ContractRow:
    entity_type: str
    version: int
    status: Literal["draft", "published", "archived"]
    body: str
    hash: str
    created_by: str
    created_at: datetime
    published_at: datetime | None
    revision: int
    # None: older than the record of authors.
    authors: list[str] | None

    def list_known_authors(self) -> list[str]:
        """List the authors on record; of an older row that is its first author."""
        return [self.created_by] if self.authors is None else self.authors


@dataclass(frozen=True, slots=True)
class DefinitionRow:
    id: UUID
    definition_kind: str
    entity_type: str
    name: str
    version: int
    status: str
    is_default: bool
    contract_version: int | None
    base_ref: dict[str, Any] | None
    # The author's document as JSON, which is parsed where it is needed.
    body_text: str | None
    canvas_json: dict[str, Any]
    compiled_hash: str | None
    compiler_version: str | None
    source_id: UUID | None
    created_by: str
    created_at: datetime
    published_at: datetime | None
    revision: int
    # None: older than the record of authors.
    authors: list[str] | None

    def list_known_authors(self) -> list[str]:
        """List the authors on record; of an older row that is its first author."""
        return [self.created_by] if self.authors is None else self.authors

    def parse_document(self) -> Any:
        """Parse what its author wrote; None of one that has no author's text."""
        return None if self.body_text is None else json.loads(self.body_text)


@dataclass(frozen=True, slots=True)
class NewDefinition:
    id: UUID
    definition_kind: str
    entity_type: str
    name: str
    version: int
    status: str = "draft"
    is_default: bool = False
    contract_version: int | None = None
    nodes: Any = None
    edges: Any = None
    slots: Any = None
    base_ref: Mapping[str, Any] | None = None
    body_patches: Mapping[str, Any] | None = None
    compiled: str | None = None
    compiled_hash: str | None = None
    compiler_version: str | None = None
    source_id: UUID | None = None
    canvas: Mapping[str, Any] | None = None
    authorship: Authorship = UNKNOWN


def read_contract_row(
    connection: Connection, tenant_id: UUID, entity_type: str, version: int
) -> ContractRow | None:
    with connection.cursor(row_factory=class_row(ContractRow)) as cursor:
        values = {"tenant_id": tenant_id, "entity_type": entity_type, "version": version}
        return cursor.execute(_SQL.read_contract, values).fetchone()


def read_newest_contract(connection: Connection, tenant_id: UUID, entity_type: str) -> ContractRow | None:
    with connection.cursor(row_factory=class_row(ContractRow)) as cursor:
        values = {"tenant_id": tenant_id, "entity_type": entity_type}
        return cursor.execute(_SQL.read_newest_contract, values).fetchone()


def next_contract_version(connection: Connection, tenant_id: UUID, entity_type: str) -> int:
    values = {"tenant_id": tenant_id, "entity_type": entity_type}
    row = connection.execute(_SQL.next_contract_version, values).fetchone()
    return _require_int(None if row is None else row[0])


def lock_contracts_of_type(connection: Connection, tenant_id: UUID, entity_type: str) -> None:
    connection.execute(_SQL.lock_contracts_of_type, {"tenant_id": tenant_id, "entity_type": entity_type})


def save_contract_draft(
    connection: Connection,
    tenant_id: UUID,
    entity_type: str,
    version: int,
    body: str,
    content_hash: str,
    actor_id: str,
    authors: Sequence[str],
) -> int | None:
    """Save a draft and return its revision; None if this version is frozen already."""
    values = {
        "tenant_id": tenant_id,
        "entity_type": entity_type,
        "version": version,
        "body": body,
        "hash": content_hash,
        "actor_id": actor_id,
        "authors": list(authors),
    }
    row = connection.execute(_SQL.save_contract_draft, values).fetchone()
    return None if row is None else _require_int(row[0])


def delete_contract_draft(connection: Connection, tenant_id: UUID, entity_type: str, version: int) -> None:
    values = {"tenant_id": tenant_id, "entity_type": entity_type, "version": version}
    connection.execute(_SQL.delete_contract_draft, values)


def publish_contract(
    connection: Connection, tenant_id: UUID, entity_type: str, version: int, authorship: Authorship
) -> None:
    values = {"tenant_id": tenant_id, "entity_type": entity_type, "version": version}
    connection.execute(_SQL.publish_contract, values | _write_authorship(authorship))


def insert_definition(connection: Connection, tenant_id: UUID, new: NewDefinition, actor_id: str) -> None:
    connection.execute(
        _SQL.insert_definition,
        {
            "tenant_id": tenant_id,
            "id": new.id,
            "definition_kind": new.definition_kind,
            "entity_type": new.entity_type,
            "name": new.name,
            "version": new.version,
            "status": new.status,
            "is_default": new.is_default,
            "contract_version": new.contract_version,
            "nodes_json": _jsonb(new.nodes),
            "edges_json": _jsonb(new.edges),
            "slots_json": _jsonb(new.slots),
            "base_ref": _jsonb(new.base_ref),
            "body_patches_json": _jsonb(new.body_patches),
            "compiled_json": new.compiled,
            "compiled_hash": new.compiled_hash,
            "compiler_version": new.compiler_version,
            "source_id": new.source_id,
            "canvas_json": Jsonb(dict(new.canvas or {})),
            "actor_id": actor_id,
            **_write_authorship(new.authorship),
        },
    )


def update_definition_draft(
    connection: Connection,
    tenant_id: UUID,
    definition_id: UUID,
    base_ref: Mapping[str, Any] | None,
    body_patches: Mapping[str, Any],
    authors: Sequence[str],
) -> int:
    """Update a draft that the caller holds, and return its new revision."""
    values = {
        "tenant_id": tenant_id,
        "id": definition_id,
        "base_ref": _jsonb(base_ref),
        "body_patches_json": _jsonb(body_patches),
        "authors": list(authors),
    }
    row = connection.execute(_SQL.update_definition_draft, values).fetchone()
    return _require_int(None if row is None else row[0])


def delete_definition_draft(connection: Connection, tenant_id: UUID, definition_id: UUID) -> None:
    connection.execute(_SQL.delete_definition_draft, {"tenant_id": tenant_id, "id": definition_id})


def set_canvas(
    connection: Connection, tenant_id: UUID, definition_id: UUID, canvas: Mapping[str, Any]
) -> bool:
    values = {"tenant_id": tenant_id, "id": definition_id, "canvas_json": Jsonb(dict(canvas))}
    return connection.execute(_SQL.set_canvas, values).rowcount == 1


def publish_definition(
    connection: Connection,
    tenant_id: UUID,
    definition_id: UUID,
    authorship: Authorship,
    compiled: str | None = None,
    compiled_hash: str | None = None,
    compiler_version: str | None = None,
) -> bool:
    values = {
        "tenant_id": tenant_id,
        "id": definition_id,
        "compiled_json": compiled,
        "compiled_hash": compiled_hash,
        "compiler_version": compiler_version,
        **_write_authorship(authorship),
    }
    return connection.execute(_SQL.publish_definition, values).rowcount == 1


def archive_definition(connection: Connection, tenant_id: UUID, definition_id: UUID) -> bool:
    values = {"tenant_id": tenant_id, "id": definition_id}
    return connection.execute(_SQL.archive_definition, values).rowcount == 1


def archive_effective_of_name(
    connection: Connection, tenant_id: UUID, entity_type: str, name: str, contract_version: int
) -> None:
    values = {
        "tenant_id": tenant_id,
        "entity_type": entity_type,
        "name": name,
        "contract_version": contract_version,
    }
    connection.execute(_SQL.archive_effective_of_name, values)


def find_definition(connection: Connection, tenant_id: UUID, definition_id: UUID) -> DefinitionRow | None:
    with connection.cursor(row_factory=class_row(DefinitionRow)) as cursor:
        return cursor.execute(_SQL.find_definition, {"tenant_id": tenant_id, "id": definition_id}).fetchone()


def find_newest_published(
    connection: Connection, tenant_id: UUID, definition: DefinitionRow
) -> DefinitionRow | None:
    """Find the newest published version of the definition's name."""
    values = {
        "tenant_id": tenant_id,
        "definition_kind": definition.definition_kind,
        "entity_type": definition.entity_type,
        "name": definition.name,
    }
    with connection.cursor(row_factory=class_row(DefinitionRow)) as cursor:
        return cursor.execute(_SQL.find_newest_published, values).fetchone()


def next_definition_version(
    connection: Connection, tenant_id: UUID, kind: str, entity_type: str, name: str
) -> int:
    values = {"tenant_id": tenant_id, "definition_kind": kind, "entity_type": entity_type, "name": name}
    row = connection.execute(_SQL.next_definition_version, values).fetchone()
    return _require_int(None if row is None else row[0])


def read_compiled(
    connection: Connection, tenant_id: UUID, definition_id: UUID, version: int
) -> tuple[str, str] | None:
    """Return the stored text, and the hash that it must have."""
    values = {"tenant_id": tenant_id, "id": definition_id, "version": version}
    row = connection.execute(_SQL.read_compiled, values).fetchone()
    return None if row is None else (str(row[1]), str(row[2]))


def list_effective_of_patch(connection: Connection, tenant_id: UUID, patch_id: UUID) -> list[UUID]:
    values = {"tenant_id": tenant_id, "id": patch_id}
    return [
        row[0]
        for row in connection.execute(_SQL.list_effective_of_patch, values).fetchall()
        if isinstance(row[0], UUID)
    ]


def _require_int(value: object) -> int:
    if not isinstance(value, int):
        raise Defect("NO_NUMBER", "a statement that gives a number gave none")
    return value


def _write_authorship(authorship: Authorship) -> dict[str, Any]:
    return {
        "authors": None if authorship.authors is None else list(authorship.authors),
        "published_by": authorship.published_by,
        "publishers": None if authorship.publishers is None else list(authorship.publishers),
    }


def _jsonb(value: Any) -> Jsonb | None:
    return None if value is None else Jsonb(value)
