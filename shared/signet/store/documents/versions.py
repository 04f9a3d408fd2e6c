"""Versions of a document, and the transition requests for it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.rows import class_row

from signet.store.database import Connection
from signet.store.statements import Statements

_SQL = Statements(__file__)


@dataclass(frozen=True, slots=True)
class VersionSummary:
    version: int
    snapshot_id: UUID
    hash: str
    actor_id: str
    created_at: datetime
    status: str


@dataclass(frozen=True, slots=True)
class VersionRecord:
    """A version; `data` still has references to personal values, and `hash` is the SHA-256 of `snapshot`."""

    version: int
    snapshot_id: UUID
    hash: str
    actor_id: str
    created_at: datetime
    status: str
    data: dict[str, Any]
    snapshot: str


@dataclass(frozen=True, slots=True)
class RequestSummary:
    id: UUID
    document_version: int
    transition: str
    actor_id: str
    reason: str | None
    status: str
    outcome: str | None
    created_at: datetime
    ended_at: datetime | None


def list_versions(
    connection: Connection, tenant_id: UUID, document_id: UUID, *, before: int, limit: int
) -> list[VersionSummary]:
    values = {"tenant_id": tenant_id, "document_id": document_id, "before": before, "limit": limit}
    with connection.cursor(row_factory=class_row(VersionSummary)) as cursor:
        return cursor.execute(_SQL.list_versions, values).fetchall()


def read_version(
    connection: Connection, tenant_id: UUID, document_id: UUID, version: int
) -> VersionRecord | None:
    values = {"tenant_id": tenant_id, "document_id": document_id, "version": version}
    with connection.cursor(row_factory=class_row(VersionRecord)) as cursor:
        return cursor.execute(_SQL.read_version, values).fetchone()


def list_requests(
    connection: Connection,
    tenant_id: UUID,
    document_id: UUID,
    *,
    before_at: datetime | str,
    before_id: UUID,
    limit: int,
) -> list[RequestSummary]:
    values = {
        "tenant_id": tenant_id,
        "document_id": document_id,
        "before_at": before_at,
        "before_id": before_id,
        "limit": limit,
    }
    with connection.cursor(row_factory=class_row(RequestSummary)) as cursor:
        return cursor.execute(_SQL.list_requests, values).fetchall()
