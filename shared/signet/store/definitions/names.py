"""Names that a definition mentions, looked up among what the tenant has."""

from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from psycopg.rows import class_row

from signet.store.database import Connection
from signet.store.statements import Statements

_SQL = Statements(__file__)


@dataclass(frozen=True, slots=True)
class KnownNames:
    """The names asked for that exist."""

    roles: list[str]
    members: list[str]
    chains: list[str]
    endpoints: list[str]
    rules: list[str]
    calendars: list[str]


@dataclass(frozen=True, slots=True)
class PatchInForce:
    id: UUID
    name: str
    version: int


def find_named(
    connection: Connection,
    tenant_id: UUID,
    *,
    roles: Collection[str] = (),
    members: Collection[str] = (),
    chains: Collection[str] = (),
    endpoints: Collection[str] = (),
    rules: Collection[str] = (),
    calendars: Collection[str] = (),
    entity_type: str | None = None,
) -> KnownNames:
    values = {
        "tenant_id": tenant_id,
        "roles": list(roles),
        "members": list(members),
        "chains": list(chains),
        "endpoints": list(endpoints),
        "rules": list(rules),
        "calendars": list(calendars),
        "entity_type": entity_type,
    }
    with connection.cursor(row_factory=class_row(KnownNames)) as cursor:
        found = cursor.execute(_SQL.find_named, values).fetchone()
    return found or KnownNames([], [], [], [], [], [])


def find_patch_in_force(connection: Connection, tenant_id: UUID, entity_type: str) -> PatchInForce | None:
    values = {"tenant_id": tenant_id, "entity_type": entity_type}
    with connection.cursor(row_factory=class_row(PatchInForce)) as cursor:
        return cursor.execute(_SQL.find_patch_in_force, values).fetchone()
