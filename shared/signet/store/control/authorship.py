"""Authors of drafts, and the authors and publishers of what is in force."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from psycopg.rows import class_row, scalar_row

from signet.core.control.authorship import Authorship, ChangedAlone
from signet.store.database import Connection
from signet.store.statements import Statements

_SQL = Statements(__file__)


@dataclass(frozen=True, slots=True)
class DraftName:
    """The name that all drafts and versions of one thing share; `entity_type` is '' where it has none."""

    kind: str
    entity_type: str
    name: str


@dataclass(frozen=True, slots=True)
class _ChainRow:
    name: str
    authors: list[str] | None
    published_by: str | None
    publishers: list[str] | None


def add_draft_authors(
    connection: Connection, tenant_id: UUID, draft: DraftName, persons: Collection[str]
) -> list[str]:
    """Note the persons who saved a draft now; return all who did since the name was last published."""
    values = _name_values(tenant_id, draft, persons)
    connection.execute(_SQL.add_draft_author, values)
    with connection.cursor(row_factory=scalar_row) as cursor:
        return cursor.execute(_SQL.list_draft_authors, values).fetchall()


def put_forward(
    connection: Connection, tenant_id: UUID, draft: DraftName, digest: str, persons: Collection[str]
) -> None:
    connection.execute(_SQL.put_forward, {**_name_values(tenant_id, draft, persons), "hash": digest})


def take_back(connection: Connection, tenant_id: UUID, draft: DraftName) -> None:
    connection.execute(_SQL.take_back, _name_values(tenant_id, draft, ()))


def is_put_forward(
    connection: Connection, tenant_id: UUID, draft: DraftName, digest: str, persons: Collection[str]
) -> bool:
    """Return whether one of the persons has put the text with this hash forward."""
    values = {**_name_values(tenant_id, draft, persons), "hash": digest}
    with connection.cursor(row_factory=scalar_row) as cursor:
        return bool(cursor.execute(_SQL.is_put_forward, values).fetchone())


def find_definition_authorship(
    connection: Connection, tenant_id: UUID, definition_id: UUID
) -> Authorship | None:
    return _find(connection, _SQL.find_definition_authorship, {"tenant_id": tenant_id, "id": definition_id})


def find_hashed_authorship(
    connection: Connection, tenant_id: UUID, entity_type: str, compiled_hash: str, instance_id: UUID
) -> Authorship | None:
    values = {
        "tenant_id": tenant_id,
        "entity_type": entity_type,
        "hash": compiled_hash,
        "instance_id": instance_id,
    }
    return _find(connection, _SQL.find_hashed_authorship, values)


def find_contract_authorship(
    connection: Connection, tenant_id: UUID, entity_type: str, version: int
) -> Authorship | None:
    values = {"tenant_id": tenant_id, "entity_type": entity_type, "version": version}
    return _find(connection, _SQL.find_contract_authorship, values)


def list_chain_authorships(
    connection: Connection, tenant_id: UUID, versions: Mapping[str, int | None]
) -> dict[str, Authorship]:
    """List the authorship of chains by name; None asks for the newest published version."""
    if not versions:
        return {}
    values = {"tenant_id": tenant_id, "names": list(versions), "versions": list(versions.values())}
    with connection.cursor(row_factory=class_row(_ChainRow)) as cursor:
        rows = cursor.execute(_SQL.list_chain_authorships, values).fetchall()
    return {row.name: Authorship(row.authors, row.published_by, row.publishers) for row in rows}


def list_movers(connection: Connection, tenant_id: UUID, instance_id: UUID) -> list[str]:
    """List the persons who moved an instance to a definition with other approvals."""
    with connection.cursor(row_factory=scalar_row) as cursor:
        return cursor.execute(_SQL.list_movers, {"tenant_id": tenant_id, "id": instance_id}).fetchall()


def list_changed_alone(
    connection: Connection, tenant_id: UUID, entity_type: str, compiled_hash: str
) -> list[ChangedAlone]:
    """List the settings, the type's rules, and what the definition names, that one side changed last."""
    values = {"tenant_id": tenant_id, "entity_type": entity_type, "hash": compiled_hash}
    with connection.cursor(row_factory=class_row(ChangedAlone)) as cursor:
        return cursor.execute(_SQL.list_changed_alone, values).fetchall()


def _name_values(tenant_id: UUID, draft: DraftName, persons: Collection[str]) -> dict[str, Any]:
    return {
        "tenant_id": tenant_id,
        "kind": draft.kind,
        "entity_type": draft.entity_type,
        "name": draft.name,
        "persons": sorted(persons),
    }


def _find(connection: Connection, statement: str, values: Mapping[str, Any]) -> Authorship | None:
    with connection.cursor(row_factory=class_row(Authorship)) as cursor:
        return cursor.execute(statement, values).fetchone()
