"""Voiding of approvals, the one place for it: after an edit, an amendment or an end."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import orjson

from signet.core.approvals.withdrawals import Void
from signet.ids import make_id
from signet.store.database import Connection
from signet.store.statements import Statements

_SQL = Statements(__file__)


@dataclass(frozen=True, slots=True)
class Voiding:
    """One request to void, or all that an instance has left."""

    instance_id: UUID
    why: Void
    request_id: UUID | None = None


def void_requests(
    connection: Connection, tenant_id: UUID, voidings: Sequence[Voiding], now: datetime
) -> None:
    """Void requests, and notify those who were asked or have decided, in the same transaction.

    An approval that a gate has used stays.
    """
    rows = [
        {
            "instance_id": voiding.instance_id,
            "request_id": voiding.request_id,
            "code": voiding.why.code,
            "reason": voiding.why.reason,
            "notice_id": make_id(),
        }
        for voiding in voidings
    ]
    if rows:
        values = {"tenant_id": tenant_id, "rows": orjson.dumps(rows).decode(), "now": now}
        connection.execute(_SQL.void_requests, values)
