"""Audit rows about the tenant itself, as people read them."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from psycopg.rows import class_row

from signet.store.database import Connection
from signet.store.statements import Statements

_SQL = Statements(__file__)


@dataclass(frozen=True, slots=True)
class TenantAuditRecord:
    """A row of the chain of one subject, as a member or a role is one.

    `hash` is the SHA-256 of `content`, which names the row before, the persons who are responsible, and the
    detail.
    """

    id: UUID
    subject_type: str
    subject_id: str
    # None in a row that is only sealed.
    seq: int | None
    action: str
    actor_id: str
    created_at: datetime
    previous_hash: str | None
    hash: str
    content: str


def list_of_tenant(
    connection: Connection, tenant_id: UUID, before: UUID, limit: int
) -> list[TenantAuditRecord]:
    values = {"tenant_id": tenant_id, "before": before, "limit": limit}
    with connection.cursor(row_factory=class_row(TenantAuditRecord)) as cursor:
        return cursor.execute(_SQL.list_of_tenant, values).fetchall()
