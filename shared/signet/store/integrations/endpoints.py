"""Endpoints of a tenant, and the recipients of messages."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from signet.store.database import Connection
from signet.store.statements import Statements

_SQL = Statements(__file__)
MAX_RECIPIENTS = 100
MAX_LEVELS = 10


@dataclass(frozen=True, slots=True)
class EndpointRecord:
    """An endpoint: `failures` count since the last success, and nothing is sent before `rests_until`.

    `secrets` are the names of its secrets, as they are written; `secret_refs` is the older name of the same.
    """

    name: str
    url: str
    secrets: list[str]
    secret_refs: list[str]
    status: Literal["active", "disabled"]
    disabled_reason: str | None
    version: int
    failures: int
    rests_until: datetime | None
    created_by: str
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class RecipientRow:
    user_id: str
    display_name: str
    email: str | None
    phone: str | None


def find_endpoints(
    connection: Connection, tenant_id: UUID, names: Collection[str]
) -> dict[str, EndpointRecord]:
    if not names:
        return {}
    with connection.cursor(row_factory=class_row(EndpointRecord)) as cursor:
        values = {"tenant_id": tenant_id, "names": sorted(names)}
        return {row.name: row for row in cursor.execute(_SQL.find_endpoints, values).fetchall()}


def read_webhook_hosts(connection: Connection, tenant_id: UUID) -> list[str]:
    """Read the only hosts that may be called; an empty list allows all."""
    row = connection.execute(_SQL.read_webhook_hosts, {"tenant_id": tenant_id}).fetchone()
    return list(row[0]) if row and isinstance(row[0], list) else []


def list_endpoints(
    connection: Connection, tenant_id: UUID, *, after: str, limit: int
) -> list[EndpointRecord]:
    with connection.cursor(row_factory=class_row(EndpointRecord)) as cursor:
        values = {"tenant_id": tenant_id, "after": after, "limit": limit}
        return cursor.execute(_SQL.list_endpoints, values).fetchall()


def insert_endpoint(
    connection: Connection,
    tenant_id: UUID,
    *,
    name: str,
    url: str,
    secret_refs: Sequence[str],
    status: str,
    created_by: str,
    now: datetime,
) -> bool:
    """Insert an endpoint; return whether the name was free."""
    values = {
        "tenant_id": tenant_id,
        "name": name,
        "url": url,
        "secret_refs": list(secret_refs),
        "status": status,
        "created_by": created_by,
        "now": now,
    }
    return connection.execute(_SQL.insert_endpoint, values).rowcount == 1


def change_endpoint(
    connection: Connection, tenant_id: UUID, version: int, row: EndpointRecord, now: datetime
) -> bool:
    """Change an endpoint; return whether it was still at that version."""
    values = {
        "tenant_id": tenant_id,
        "name": row.name,
        "version": version,
        "url": row.url,
        "secret_refs": list(row.secrets),
        "status": row.status,
        "disabled_reason": row.disabled_reason,
        "now": now,
    }
    return connection.execute(_SQL.change_endpoint, values).rowcount == 1


def delete_endpoint(connection: Connection, tenant_id: UUID, name: str, version: int) -> bool:
    values = {"tenant_id": tenant_id, "name": name, "version": version}
    return connection.execute(_SQL.delete_endpoint, values).rowcount == 1


def note_successes(connection: Connection, tenant_id: UUID, names: Collection[str]) -> None:
    if names:
        connection.execute(_SQL.note_successes, {"tenant_id": tenant_id, "names": sorted(names)})


def note_failures(
    connection: Connection,
    tenant_id: UUID,
    counts: Mapping[str, int],
    *,
    limit: int,
    first_seconds: float,
    cap_seconds: float,
) -> None:
    if not counts:
        return
    values = {
        "tenant_id": tenant_id,
        "names": list(counts),
        "counts": list(counts.values()),
        "limit": limit,
        "first_seconds": first_seconds,
        "cap_seconds": cap_seconds,
    }
    connection.execute(_SQL.note_failures, values)


def disable_endpoint(connection: Connection, tenant_id: UUID, name: str, reason: str) -> None:
    connection.execute(_SQL.disable_endpoint, {"tenant_id": tenant_id, "name": name, "reason": reason})


def read_recipients(connection: Connection, tenant_id: UUID, named: Sequence[Any]) -> list[RecipientRow]:
    values = {
        "tenant_id": tenant_id,
        "named": Jsonb(list(named)),
        "limit": MAX_RECIPIENTS,
        "max_levels": MAX_LEVELS,
    }
    with connection.cursor(row_factory=class_row(RecipientRow)) as cursor:
        return cursor.execute(_SQL.read_recipients, values).fetchall()


def tell_people(
    connection: Connection, tenant_id: UUID, notices: Mapping[UUID, str], data: Mapping[str, Any]
) -> None:
    """Write notices to people: `notices` maps the id of a notice to its recipient."""
    values = {
        "tenant_id": tenant_id,
        "ids": list(notices),
        "user_ids": list(notices.values()),
        "data": Jsonb(dict(data)),
    }
    connection.execute(_SQL.tell_people, values)
