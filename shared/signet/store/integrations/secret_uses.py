"""Secrets of a tenant, and the one endpoint that each belongs to. Triggers of the endpoints write them."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from psycopg.rows import class_row

from signet.store.database import Connection
from signet.store.statements import Statements

_SQL = Statements(__file__)
Direction = Literal["out", "in"]


@dataclass(frozen=True, slots=True)
class SecretUse:
    """The use of a secret: to sign what goes out to an endpoint, or to verify what comes in by one."""

    secret: str
    direction: Direction
    endpoint: str


def find_secret_uses(connection: Connection, tenant_id: UUID, secrets: Collection[str]) -> list[SecretUse]:
    with connection.cursor(row_factory=class_row(SecretUse)) as cursor:
        values = {"tenant_id": tenant_id, "secrets": sorted(secrets)}
        return cursor.execute(_SQL.find_secret_uses, values).fetchall()
