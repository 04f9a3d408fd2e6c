"""Changes since the last approval or the last asking, so that nobody need read everything again."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from signet.core.approvals.eligibility import list_counted
from signet.core.approvals.pins import Pins, read_pinned
from signet.engine.documents.change import diff_data
from signet.engine.documents.read import resolve
from signet.store.approvals.comparison import find_last_approved, find_last_asked
from signet.store.approvals.decisions import read_represented_people, read_seats
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
class LastAsked:
    """The request that asked the reader before: its end, and what changed since.

    `document_id` is another one where the edit of it made a new document.
    """

    request_id: UUID
    document_id: UUID
    document_version: int
    asked_at: datetime
    status: str
    outcome: str | None
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
    changes = _list_changes(before, last.pins, shown)
    return LastApproved(last.request_id, last.document_id, last.document_version, last.approved_at, changes)


def compare_with_last_asked(
    database: Database,
    tenant_id: UUID,
    request_id: UUID,
    shown: ShownContent,
    person: str,
    entity_type: str,
) -> LastAsked | None:
    """Compare it with what the same people were asked about before; None where the person was not asked."""
    with database.transaction(tenant_id) as connection:
        last = find_last_asked(connection, tenant_id, request_id)
        if last is None:
            return None
        seats = read_seats(connection, tenant_id, last.request_id)
        voices = read_represented_people(connection, tenant_id, person, entity_type)
        was_asked = any(seat.belongs_to(voice, roles) for seat in seats for voice, roles in voices.items())
        if not was_asked and person not in list_counted(seats):
            return None
        before = resolve(connection, tenant_id, json.loads(last.snapshot)["data"])
    changes = _list_changes(before, last.pins, shown)
    end = last.status, last.outcome
    return LastAsked(last.request_id, last.document_id, last.document_version, last.asked_at, *end, changes)


def _list_changes(before: Mapping[str, Any], pins: Pins | None, shown: ShownContent) -> list[FieldChange]:
    changed = diff_data(before, shown.data)
    if pins is not None:
        changed |= diff_data(_name_by_path(read_pinned(pins)), _name_by_path(shown.pinned))
    return [FieldChange(name, **change) for name, change in changed.items()]


def _name_by_path(pinned: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    return {f"{ref}.{name}": value for ref, values in pinned.items() for name, value in values.items()}
