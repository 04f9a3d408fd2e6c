"""Voiding approvals: the one place for it, whatever overtook them: an edit, an amendment, an end."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import orjson

from signet.ids import make_id
from signet.store.database import Connection
from signet.store.statements import Statements

_SQL = Statements(__file__)


@dataclass(frozen=True, slots=True)
class Voiding:
    """Of an instance one request, or all that is left."""

    instance_id: UUID
    reason: str
    request_id: UUID | None = None


def void_requests(
    connection: Connection, tenant_id: UUID, voidings: Sequence[Voiding], now: datetime
) -> None:
    """Whoever was asked, or has decided, is told in the same transaction. What a gate has used stays."""
    rows = [
        {
            "instance_id": each.instance_id,
            "request_id": each.request_id,
            "reason": each.reason,
            "notice_id": make_id(),
        }
        for each in voidings
    ]
    if rows:
        values = {"tenant_id": tenant_id, "rows": orjson.dumps(rows).decode(), "now": now}
        connection.execute(_SQL.void_requests, values)
