"""Notifications: messages to people inside Signet."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from signet.ids import make_id
from signet.store.database import Connection
from signet.store.json_values import to_json
from signet.store.statements import Statements

_SQL = Statements(__file__)


@dataclass(frozen=True, slots=True)
class NotificationRecord:
    """A notification for a person, or for all holders of `role`; one of these reads it for all."""

    id: UUID
    role: str | None
    kind: str
    request_id: UUID | None
    data: dict[str, Any]
    created_at: datetime
    read_at: datetime | None


def list_notifications(
    connection: Connection, tenant_id: UUID, user_id: str, *, is_unread: bool, before: UUID, limit: int
) -> list[NotificationRecord]:
    values = {
        "tenant_id": tenant_id,
        "user_id": user_id,
        "is_unread": is_unread,
        "before": before,
        "limit": limit,
    }
    with connection.cursor(row_factory=class_row(NotificationRecord)) as cursor:
        return cursor.execute(_SQL.list_notifications, values).fetchall()


def mark_read(connection: Connection, tenant_id: UUID, user_id: str, ids: Sequence[UUID]) -> int:
    """Mark notifications as read; return how many were the person's and unread."""
    values = {"tenant_id": tenant_id, "user_id": user_id, "ids": list(ids)}
    return connection.execute(_SQL.mark_read, values).rowcount


def notify_people(
    connection: Connection,
    tenant_id: UUID,
    user_ids: Collection[str],
    kind: str,
    data: Mapping[str, Any],
    *,
    now: datetime,
    request_id: UUID | None = None,
) -> None:
    """Write a notification to each of these people."""
    values = {
        "tenant_id": tenant_id,
        "id": make_id(),
        "user_ids": sorted(set(user_ids)),
        "kind": kind,
        "request_id": request_id,
        "data": Jsonb(dict(data)),
        "now": now,
    }
    connection.execute(_SQL.insert_notification, values)


def tell_requesters(
    connection: Connection, tenant_id: UUID, told: Sequence[Mapping[str, Any]], now: datetime
) -> None:
    """Tell those that instances act for what other people did; for a key its owners are told."""
    connection.execute(_SQL.tell_requesters, {"tenant_id": tenant_id, "rows": to_json(told), "now": now})
