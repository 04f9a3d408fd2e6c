"""Changes since the last approval, so that people who decide again need not read everything again."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from signet.engine.documents.decide import diff_data
from signet.engine.documents.read import resolve
from signet.store.approvals.comparison import find_last_approved
from signet.store.database import Database


@dataclass(frozen=True, slots=True)
class FieldChange:
    field: str
    before: Any
    after: Any


@dataclass(frozen=True, slots=True)
class LastApproved:
    """The last approval and what changed since; `document_id` is the original of an amendment."""

    request_id: UUID
    document_id: UUID
    document_version: int
    approved_at: datetime | None
    changes: list[FieldChange]


def compare_with_last_approved(
    database: Database, tenant_id: UUID, document_id: UUID, request_id: UUID, data: Mapping[str, Any]
) -> LastApproved | None:
    """Compare `data` with the version approved last, or return None if none was approved yet.

    The caller has checked that the person may read the request.
    """
    with database.transaction(tenant_id) as connection:
        last = find_last_approved(connection, tenant_id, document_id, request_id)
        if last is None:
            return None
        before = resolve(connection, tenant_id, json.loads(last.snapshot)["data"])
    changes = [FieldChange(name, **change) for name, change in diff_data(before, data).items()]
    return LastApproved(last.request_id, last.document_id, last.document_version, last.approved_at, changes)
