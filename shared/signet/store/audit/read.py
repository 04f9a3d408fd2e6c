"""The audit trail and what it is about, page by page, for verification and export."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar
from uuid import UUID

from signet.core.audit.verification import AuditRow, DocumentVersion, Seal
from signet.store.audit.write import parse_seal_row
from signet.store.database import Connection
from signet.store.statements import Statements

_SQL = Statements(__file__)
# A row may have a megabyte.
PAGE_ROWS = 100
_NO_ID = UUID(int=0)
_LOWEST_EPOCH = -(2**31)
_DEFINITION_KEYS = (
    "id",
    "definition_kind",
    "entity_type",
    "name",
    "version",
    "status",
    "compiler_version",
    "compiled_hash",
    "compiled_json",
)
T = TypeVar("T")


def walk_rows(connection: Connection, tenant_id: UUID) -> Iterator[AuditRow]:
    """Yield all rows by (epoch, xid, id)."""

    def page(last: AuditRow | None) -> list[AuditRow]:
        epoch, xid, identifier = (last.epoch, last.xid, last.id) if last else (_LOWEST_EPOCH, 0, str(_NO_ID))
        values = {"epoch": epoch, "xid": str(xid), "id": UUID(identifier)}
        return [_parse_row(row) for row in _fetch(connection, _SQL.list_rows, tenant_id, values)]

    return _walk(page)


def walk_chains(connection: Connection, tenant_id: UUID) -> Iterator[AuditRow]:
    """Yield all chained rows by subject and seq."""

    def page(last: AuditRow | None) -> list[AuditRow]:
        subject_type, subject_id, seq = (*last.subject, last.seq) if last else ("", "", 0)
        values = {"subject_type": subject_type, "subject_id": subject_id, "seq": seq}
        return [_parse_row(row) for row in _fetch(connection, _SQL.list_chained_rows, tenant_id, values)]

    return _walk(page)


def walk_subject(connection: Connection, tenant_id: UUID, subject: tuple[str, str]) -> Iterator[AuditRow]:
    """Yield one subject's chain."""

    def page(last: AuditRow | None) -> list[AuditRow]:
        seq = last.seq if last else 0
        values = {"subject_type": subject[0], "subject_id": subject[1], "seq": seq}
        return [_parse_row(row) for row in _fetch(connection, _SQL.list_subject_rows, tenant_id, values)]

    return _walk(page)


def walk_seals(connection: Connection, tenant_id: UUID, after: int = 0) -> Iterator[Seal]:
    def page(last: Seal | None) -> list[Seal]:
        values = {"sequence": last.sequence if last else after}
        return [parse_seal_row(row) for row in _fetch(connection, _SQL.list_seals, tenant_id, values)]

    return _walk(page)


def find_seal_over(connection: Connection, row: AuditRow) -> Seal | None:
    values = {"epoch": row.epoch, "xid": str(row.xid)}
    rows = _fetch(connection, _SQL.find_seal_over, UUID(row.tenant_id), values)
    return parse_seal_row(rows[0]) if rows else None


def walk_versions(
    connection: Connection, tenant_id: UUID, only: UUID | None = None
) -> Iterator[DocumentVersion]:
    """Yield all document versions by document and version, or those of one document."""

    def page(last: DocumentVersion | None) -> list[DocumentVersion]:
        document_id, version = (UUID(last.document_id), last.version) if last else (_NO_ID, -1)
        values = {"document_id": document_id, "version": version, "only": only}
        return [DocumentVersion(*row) for row in _fetch(connection, _SQL.list_versions, tenant_id, values)]

    return _walk(page)


def list_documents_without_version(connection: Connection, tenant_id: UUID) -> list[tuple[str, int]]:
    """List the first documents that are at a version without a snapshot."""
    rows = _fetch(connection, _SQL.list_documents_without_version, tenant_id, {})
    return [(row[0], row[1]) for row in rows]


def walk_definitions(
    connection: Connection, tenant_id: UUID, entity_id: UUID | None = None
) -> Iterator[dict[str, Any]]:
    """Yield all compiled definitions, or those that one document ran under."""

    def page(last: dict[str, Any] | None) -> list[dict[str, Any]]:
        values = {"id": UUID(last["id"]) if last else _NO_ID, "entity_id": entity_id}
        rows = _fetch(connection, _SQL.list_definitions, tenant_id, values)
        return [dict(zip(_DEFINITION_KEYS, row, strict=True)) for row in rows]

    return _walk(page)


def _walk(page: Callable[[T | None], list[T]]) -> Iterator[T]:
    """Yield the items of page after page; each page begins behind the last item of the one before."""
    last: T | None = None
    while items := page(last):
        yield from items
        last = items[-1]


def _fetch(
    connection: Connection, statement: str, tenant_id: UUID, values: Mapping[str, object]
) -> list[Any]:
    return connection.execute(statement, {"tenant_id": tenant_id, "limit": PAGE_ROWS, **values}).fetchall()


def _parse_row(row: Any) -> AuditRow:
    columns: list[Any] = [*row[:-1], int(row[-1])]
    return AuditRow(*columns)
