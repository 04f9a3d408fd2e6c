"""Decisions that people have given about documents, by votes and by requests that decide."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any
from uuid import UUID

from psycopg.rows import scalar_row

from signet.core.approvals.given_decision import GivenDecision
from signet.store.database import Connection
from signet.store.statements import Statements

# Documents of which one was made of the other, or amends it.
MAX_LINE = 1_000
_SQL = Statements(__file__)


def list_given_decisions(
    connection: Connection, tenant_id: UUID, document_ids: Sequence[UUID]
) -> Mapping[UUID, Sequence[GivenDecision]]:
    """List by document what people have decided about it, and about what actions made it of."""
    values = {"tenant_id": tenant_id, "ids": list(document_ids), "limit": MAX_LINE}
    found: dict[UUID, list[GivenDecision]] = {}
    rows: Any = connection.execute(_SQL.list_given_decisions, values)
    for document_id, *given in rows:
        found.setdefault(document_id, []).append(GivenDecision(*given))
    return found


def list_approvers(connection: Connection, tenant_id: UUID, document_id: UUID) -> frozenset[str] | None:
    """List who has approved the document, or one that it comes from, and the persons they voted for.

    There is no answer for a document that comes from more others than the limit.
    """
    values = {"tenant_id": tenant_id, "ids": [document_id], "limit": MAX_LINE}
    row: Any = connection.execute(_SQL.list_approvers, values).fetchone()
    length, approvers = row
    return frozenset(approvers) if length <= MAX_LINE else None


def list_requesters(
    connection: Connection, tenant_id: UUID, document_id: UUID, persons: Collection[str]
) -> Mapping[str, bool]:
    """List who of these persons asked for anything of the document, and whether such a request decides."""
    values = {"tenant_id": tenant_id, "document_id": document_id, "persons": sorted(persons)}
    rows: Any = connection.execute(_SQL.list_requesters, values)
    return dict(rows.fetchall())


def find_deciding(connection: Connection, tenant_id: UUID, document_id: UUID) -> UUID | None:
    """Find the open request of a document where it decides."""
    values = {"tenant_id": tenant_id, "document_id": document_id}
    with connection.cursor(row_factory=scalar_row) as cursor:
        return cursor.execute(_SQL.find_deciding, values).fetchone()
