"""The document as it is after a change whose rows are made, for what the same transaction decides next."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from operator import attrgetter
from typing import Any
from uuid import UUID

from signet.core.audit.verification import AuditRow
from signet.core.tenants.responsible import ResponsiblePersons
from signet.engine.documents.change import DocumentChange, InstanceEnd
from signet.engine.documents.persons.authorship import list_editors
from signet.store.documents.write import DocumentRow

_COLUMNS = tuple(column.name for column in fields(DocumentRow))
_read_columns = attrgetter(*_COLUMNS)


@dataclass(frozen=True, slots=True)
class StoredVersion:
    """The version of a document after a change, as it is stored."""

    data: dict[str, Any]
    field_versions: dict[str, int]
    editor_responsible: ResponsiblePersons
    snapshot_id: UUID | None
    snapshot_hash: str | None
    # The personal values that are new with it, by their reference.
    personal: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class AddedChange:
    """A change whose rows are made, with what its document is after it."""

    change: DocumentChange
    version: StoredVersion
    audit: AuditRow


def advance(added: Iterable[AddedChange], now: datetime) -> dict[UUID, DocumentRow]:
    """Return the documents that were there before, as they are after their changes."""
    return {
        one.change.document_id: _advance(one, one.change.before, now)
        for one in added
        if one.change.before is not None
    }


def _advance(added: AddedChange, before: DocumentRow, now: datetime) -> DocumentRow:
    change, version = added.change, added.version
    request_id, requested = before.request_id, before.requested
    if change.request is not None:
        request_id, requested = change.request.id, change.request.opens
    # `replace` would look at each of the many columns by itself.
    columns = dict(zip(_COLUMNS, _read_columns(before), strict=True))
    columns.update(
        status=change.after.status,
        version=change.after.version,
        data=version.data,
        field_versions=version.field_versions,
        editor_ids=list_editors(change),
        editor_responsible=version.editor_responsible,
        updated_at=now if change.writes_document else before.updated_at,
        deleted_at=now if change.after.is_deleted else before.deleted_at,
        instance_id=None if isinstance(change.instance, InstanceEnd) else before.instance_id,
        request_id=request_id,
        requested=requested,
        audit_seq=added.audit.seq,
        audit_hash=added.audit.hash,
        snapshot_id=version.snapshot_id,
        snapshot_hash=version.snapshot_hash,
        personal={**(before.personal or {}), **version.personal},
    )
    return DocumentRow(**columns)
