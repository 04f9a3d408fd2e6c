"""Definitions that instances still run, although a newer one is in force."""

from dataclasses import dataclass
from uuid import UUID

from psycopg.rows import class_row

from signet.store.database import Connection
from signet.store.statements import Statements

_SQL = Statements(__file__)


@dataclass(frozen=True, slots=True)
class LiveCount:
    """A definition, and how many live documents run it."""

    id: UUID
    definition_kind: str
    name: str
    version: int
    contract_version: int | None
    live_count: int


@dataclass(frozen=True, slots=True)
class PublishedBefore:
    id: UUID
    name: str
    version: int


@dataclass(frozen=True, slots=True)
class RunDefinition:
    """The definition that an instance runs; the newer one is null where new documents run the same."""

    name: str
    version: int
    newer_name: str | None
    newer_version: int | None


def count_live_under_others(
    connection: Connection,
    tenant_id: UUID,
    definition_id: UUID,
    entity_type: str,
    *,
    at_most: int,
    limit: int,
) -> list[LiveCount]:
    values = {
        "tenant_id": tenant_id,
        "definition_id": definition_id,
        "entity_type": entity_type,
        "at_most": at_most,
        "limit": limit,
    }
    with connection.cursor(row_factory=class_row(LiveCount)) as cursor:
        return cursor.execute(_SQL.count_live_under_others, values).fetchall()


def find_run_definition(connection: Connection, tenant_id: UUID, instance_id: UUID) -> RunDefinition | None:
    values = {"tenant_id": tenant_id, "instance_id": instance_id}
    with connection.cursor(row_factory=class_row(RunDefinition)) as cursor:
        return cursor.execute(_SQL.find_run_definition, values).fetchone()


def find_published_before(
    connection: Connection, tenant_id: UUID, definition_id: UUID, entity_type: str
) -> PublishedBefore | None:
    """Find the definition of the type that was published last before this one."""
    values = {"tenant_id": tenant_id, "definition_id": definition_id, "entity_type": entity_type}
    with connection.cursor(row_factory=class_row(PublishedBefore)) as cursor:
        return cursor.execute(_SQL.find_published_before, values).fetchone()
