"""Versions of approval chains, by name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from signet.core.control.authorship import Authorship
from signet.store.database import Connection
from signet.store.statements import Statements

_SQL = Statements(__file__)


@dataclass(frozen=True, slots=True)
class ChainRecord:
    name: str
    version: int
    status: str
    label: str
    hash: str
    same_person: str | None
    permission: str | None
    created_by: str
    created_at: datetime
    published_at: datetime | None
    # The persons who wrote it; null where it is older than the record of authors.
    authors: list[str] | None
    published_by: str | None
    steps: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class ChainSummary:
    """A version of a chain, without its steps."""

    name: str
    version: int
    status: str
    label: str
    hash: str
    created_by: str
    created_at: datetime
    published_at: datetime | None


def list_published(connection: Connection, tenant_id: UUID, *, after: str, limit: int) -> list[ChainSummary]:
    values = {"tenant_id": tenant_id, "after": after, "limit": limit}
    with connection.cursor(row_factory=class_row(ChainSummary)) as cursor:
        return cursor.execute(_SQL.list_published, values).fetchall()


def list_versions(
    connection: Connection, tenant_id: UUID, name: str, *, before: int, limit: int
) -> list[ChainSummary]:
    values = {"tenant_id": tenant_id, "name": name, "before": before, "limit": limit}
    with connection.cursor(row_factory=class_row(ChainSummary)) as cursor:
        return cursor.execute(_SQL.list_versions, values).fetchall()


def find_published(connection: Connection, tenant_id: UUID, name: str) -> int | None:
    """Return the newest published version, which new requests take."""
    row: Any = connection.execute(_SQL.find_published, {"tenant_id": tenant_id, "name": name}).fetchone()
    return None if row is None else row[0]


def find_newest(connection: Connection, tenant_id: UUID, name: str) -> tuple[int, str] | None:
    """Return the newest version, and its hash."""
    row: Any = connection.execute(_SQL.find_newest, {"tenant_id": tenant_id, "name": name}).fetchone()
    return None if row is None else (row[0], row[1])


def insert_chain(
    connection: Connection,
    tenant_id: UUID,
    *,
    name: str,
    version: int,
    label: str,
    digest: str,
    steps: Sequence[Mapping[str, Any]],
    same_person: str | None,
    permission: str | None,
    created_by: str,
    authors: Sequence[str],
    now: datetime,
) -> None:
    values = {
        "tenant_id": tenant_id,
        "name": name,
        "version": version,
        "label": label,
        "hash": digest,
        "steps": Jsonb(list(steps)),
        "same_person": same_person,
        "permission": permission,
        "created_by": created_by,
        "authors": list(authors),
        "now": now,
    }
    connection.execute(_SQL.insert_chain, values)
    connection.execute(_SQL.insert_steps, values)


def read_chain(connection: Connection, tenant_id: UUID, name: str, version: int) -> ChainRecord | None:
    values = {"tenant_id": tenant_id, "name": name, "version": version}
    with connection.cursor(row_factory=class_row(ChainRecord)) as cursor:
        return cursor.execute(_SQL.read_chain, values).fetchone()


def publish_chain(
    connection: Connection,
    tenant_id: UUID,
    name: str,
    version: int,
    authorship: Authorship,
    now: datetime,
) -> bool:
    values = {
        "tenant_id": tenant_id,
        "name": name,
        "version": version,
        "published_by": authorship.published_by,
        "publishers": list(authorship.publishers or ()),
        "now": now,
    }
    return connection.execute(_SQL.publish_chain, values).rowcount == 1


def archive_chain(connection: Connection, tenant_id: UUID, name: str, version: int) -> bool:
    values = {"tenant_id": tenant_id, "name": name, "version": version}
    return connection.execute(_SQL.archive_chain, values).rowcount == 1
