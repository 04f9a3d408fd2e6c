"""The published policies of a tenant, for the roles that they name."""

from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from psycopg.rows import class_row

from signet.store.database import Connection
from signet.store.statements import Statements

_SQL = Statements(__file__)
# Of each kind: definitions, chains and contracts.
MAX_POLICIES = 1_000


@dataclass(frozen=True, slots=True)
class PolicyRow:
    kind: Literal["definition", "chain", "contract"]
    name: str
    version: int
    entity_type: str | None
    # Of a definition and a chain a list of approvals, of a contract an object.
    body: Any


def read_policies(connection: Connection, tenant_id: UUID) -> list[PolicyRow]:
    with connection.cursor(row_factory=class_row(PolicyRow)) as cursor:
        return cursor.execute(_SQL.read_policies, {"tenant_id": tenant_id, "limit": MAX_POLICIES}).fetchall()
