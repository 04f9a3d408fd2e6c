"""Amendments of settled documents: which one is open, and what it was made of."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from psycopg.rows import class_row

from signet.store.database import Connection
from signet.store.json_values import to_json
from signet.store.statements import Statements

_SQL = Statements(__file__)
# Sent with the other rows of a mutation, in this order.
HAND_ON, OPEN = _SQL.hand_on_amendments, _SQL.insert_amendments
COMPARE_AGAIN, SETTLE = _SQL.compare_amendments_again, _SQL.settle_amendments


@dataclass(frozen=True, slots=True)
class AmendmentRow:
    """An amendment with the version and the status of its original when it was made, or edited last."""

    original_id: UUID
    original_version: int
    original_status: str
    closing: str | None
    # Another amendment of the original is open, or has taken its place.
    has_other: bool


@dataclass(frozen=True, slots=True)
class StandingRow:
    """An amendment that has not settled: the original as it was made of, and as it is at this moment."""

    original_id: UUID
    original_version: int
    original_status: str
    entity_type: str
    contract_version: int
    version: int
    status: str
    is_deleted: bool
    # Another amendment of the original is open, or has taken its place.
    has_other: bool


def list_open_amendments(
    connection: Connection, tenant_id: UUID, original_ids: Collection[UUID]
) -> dict[UUID, UUID]:
    """List the open amendment of each of these documents that has one."""
    values = {"tenant_id": tenant_id, "ids": sorted(original_ids)}
    rows: list[Any] = connection.execute(_SQL.list_open_amendments, values).fetchall()
    return dict(rows)


def find_amendment(connection: Connection, tenant_id: UUID, document_id: UUID) -> AmendmentRow | None:
    """Find what a document amends; None where its original ended with the edit, or where it has none."""
    values = {"tenant_id": tenant_id, "document_id": document_id}
    with connection.cursor(row_factory=class_row(AmendmentRow)) as cursor:
        return cursor.execute(_SQL.find_amendment, values).fetchone()


def find_standing(connection: Connection, tenant_id: UUID, document_id: UUID) -> StandingRow | None:
    """Find an amendment with its original as it is; None for what amends nothing, or has settled."""
    values = {"tenant_id": tenant_id, "document_id": document_id}
    with connection.cursor(row_factory=class_row(StandingRow)) as cursor:
        return cursor.execute(_SQL.find_standing, values).fetchone()


def hold_original(connection: Connection, tenant_id: UUID, original_id: UUID) -> bool:
    """Lock an original until the end of the transaction; return False where another transaction holds it."""
    values = {"tenant_id": tenant_id, "original_id": original_id}
    return connection.execute(_SQL.hold_original, values).fetchone() is not None


def list_keys_of_line(
    connection: Connection, tenant_id: UUID, wanted: Sequence[Mapping[str, Any]]
) -> set[tuple[UUID, str]]:
    """List which of these business keys the document's own line of amendments has already."""
    rows: list[Any] = connection.execute(
        _SQL.list_keys_of_line, {"tenant_id": tenant_id, "rows": to_json(wanted)}
    ).fetchall()
    return set(rows)


def list_foreign_keys(
    connection: Connection, tenant_id: UUID, wanted: Sequence[Mapping[str, Any]]
) -> dict[UUID, str]:
    """List the documents that want a business key of a document outside their line, with its field."""
    rows: list[Any] = connection.execute(
        _SQL.list_foreign_keys, {"tenant_id": tenant_id, "rows": to_json(wanted)}
    ).fetchall()
    return dict(rows)
