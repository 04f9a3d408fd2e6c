"""Notifications: messages to people inside Signet."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.rows import class_row

from signet.store.database import Connection
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
