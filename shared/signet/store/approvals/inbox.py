"""Requests that wait for a person's vote, votes that they gave, and what lists show of the documents."""

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.rows import class_row

from signet.core.compiler.node_configurations import Vote
from signet.store.approvals.decisions import RequestStatus
from signet.store.database import Connection
from signet.store.statements import Statements

_SQL = Statements(__file__)


@dataclass(frozen=True, slots=True)
class InboxFilter:
    """The requests that are listed: about documents of a type, at a node, of a requester, since a moment."""

    entity_type: str | None = None
    node_id: str | None = None
    requester_id: str | None = None
    since: datetime | None = None


EVERYTHING = InboxFilter()


@dataclass(frozen=True, slots=True)
class InboxRow:
    """A request that asks a person; `on_behalf_of` is set where only their delegators have a seat."""

    request_id: UUID
    document_id: UUID
    entity_type: str
    document_version: int
    node_id: str
    stage: int
    requester_id: str
    created_at: datetime
    expire_at: datetime | None
    on_behalf_of: str | None


@dataclass(frozen=True, slots=True)
class DecidedRow:
    """A vote that a person gave, with its request as it is now."""

    id: UUID
    request_id: UUID
    document_id: UUID
    entity_type: str
    contract_version: int
    document_version: int
    snapshot_version_id: UUID
    node_id: str
    stage: int
    requester_id: str
    vote: Vote
    reason: str | None
    on_behalf_of: str | None
    decided_at: datetime
    request_status: RequestStatus
    document_status: str


def list_inbox(
    connection: Connection,
    tenant_id: UUID,
    user_id: str,
    *,
    after: UUID,
    limit: int,
    wanted: InboxFilter = EVERYTHING,
) -> list[InboxRow]:
    values = {"tenant_id": tenant_id, "user_id": user_id, "after": after, "limit": limit, **asdict(wanted)}
    with connection.cursor(row_factory=class_row(InboxRow)) as cursor:
        return cursor.execute(_SQL.list_inbox, values).fetchall()


def list_decided(
    connection: Connection,
    tenant_id: UUID,
    user_id: str,
    *,
    before: UUID,
    limit: int,
    wanted: InboxFilter = EVERYTHING,
) -> list[DecidedRow]:
    values = {"tenant_id": tenant_id, "user_id": user_id, "before": before, "limit": limit, **asdict(wanted)}
    with connection.cursor(row_factory=class_row(DecidedRow)) as cursor:
        return cursor.execute(_SQL.list_decided, values).fetchall()


def read_shown_fields(
    connection: Connection, tenant_id: UUID, document_ids: Collection[UUID], fields: Collection[str]
) -> dict[UUID, Mapping[str, Any]]:
    """Read these fields of the documents as they are now, by document."""
    values = {"tenant_id": tenant_id, "ids": list(document_ids), "fields": list(fields)}
    rows: Any = connection.execute(_SQL.read_shown_fields, values).fetchall()
    return dict(rows)


def read_decided_fields(
    connection: Connection, tenant_id: UUID, version_ids: Collection[UUID], fields: Collection[str]
) -> dict[UUID, Mapping[str, Any]]:
    """Read these fields of versions of documents, by version."""
    values = {"tenant_id": tenant_id, "ids": list(version_ids), "fields": list(fields)}
    rows: Any = connection.execute(_SQL.read_decided_fields, values).fetchall()
    return dict(rows)
