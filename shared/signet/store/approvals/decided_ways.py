"""The ways of documents through their statuses, with what people have decided on them."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from signet.core.approvals.decided_way import StatusRun
from signet.store.database import Connection
from signet.store.statements import Statements

_SQL = Statements(__file__)


def list_status_runs(
    connection: Connection, tenant_id: UUID, document_ids: Sequence[UUID]
) -> Mapping[UUID, Sequence[StatusRun]]:
    """List by document the statuses that it had, in order."""
    values = {"tenant_id": tenant_id, "ids": list(document_ids)}
    found: dict[UUID, list[StatusRun]] = {}
    rows: Any = connection.execute(_SQL.list_status_runs, values)
    for document_id, *run in rows:
        found.setdefault(document_id, []).append(StatusRun(*run))
    return found
