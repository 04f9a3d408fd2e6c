"""Changes since the last approval, so that people who decide again need not read everything again."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from signet.core.approvals.pins import read_pinned
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


@dataclass(frozen=True, slots=True)
class ShownContent:
    """The content that a request asks about: the document's data, and what was pinned of others, by ref."""

    data: Mapping[str, Any]
    pinned: Mapping[str, Mapping[str, Any]]


def compare_with_last_approved(
    database: Database, tenant_id: UUID, document_id: UUID, request_id: UUID, shown: ShownContent
) -> LastApproved | None:
    """Compare it with the version approved last, or return None if none was approved yet.

    A value of another document is named by its path, such as `vendor.iban`. The caller has checked that the
    person may read the request.
    """
    with database.transaction(tenant_id) as connection:
        last = find_last_approved(connection, tenant_id, document_id, request_id)
        if last is None:
            return None
        before = resolve(connection, tenant_id, json.loads(last.snapshot)["data"])
    changed = diff_data(before, shown.data)
    if last.pins is not None:
        changed |= diff_data(_name_by_path(read_pinned(last.pins)), _name_by_path(shown.pinned))
    changes = [FieldChange(name, **change) for name, change in changed.items()]
    return LastApproved(last.request_id, last.document_id, last.document_version, last.approved_at, changes)


def _name_by_path(pinned: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    return {f"{ref}.{name}": value for ref, values in pinned.items() for name, value in values.items()}
