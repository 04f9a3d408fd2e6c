"""The batch of rows that one transaction writes."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from signet.core.audit.trail import SALT_BYTES, Head, Transaction, chain, commit
from signet.core.audit.verification import AuditRow
from signet.core.documents.personal_data import is_reference, make_reference
from signet.engine.documents.change import DocumentChange, InstanceEnd, InstanceStart
from signet.engine.documents.rows import (
    list_editors,
    make_cancellation_row,
    make_document_entry,
    make_document_row,
    make_document_update,
    make_ended_request_row,
    make_new_instance_row,
    make_personal_row,
    make_request_row,
    make_version_row,
)
from signet.engine.triggers import make_trigger
from signet.ids import make_id
from signet.store.documents.write import DocumentRow, TransactionContext, WriteBatch


class RowMaker:
    """The rows of one transaction, added change by change."""

    def __init__(self, transaction: TransactionContext) -> None:
        self._transaction = transaction
        self.batch = WriteBatch()

    def add(self, change: DocumentChange) -> dict[UUID, DocumentRow]:
        """Add a change and its further ones; return the existing documents as they are after it."""
        rows = [self._add_part(part) for part in change.parts]
        return {row.id: row for row in rows if row is not None}

    def _add_part(self, change: DocumentChange) -> DocumentRow | None:
        before = change.before
        if before is not None and not change.writes_document:
            version = _StoredVersion(before.data, before.snapshot_id, before.snapshot_hash, {})
        else:
            version = self._add_document(change)
        self._add_request(change)
        self._add_instance(change)
        self._add_events(change)
        self.batch.rule_executions.extend(change.executions)
        audit = self._add_audit(change, version)
        return None if before is None else self._advance(change, before, version, audit)

    def _advance(
        self, change: DocumentChange, before: DocumentRow, version: "_StoredVersion", audit: AuditRow
    ) -> DocumentRow:
        after, now = change.after, self._transaction.now
        request_id, requested = before.request_id, before.requested
        if change.request is not None:
            request_id, requested = change.request.id, change.request.opens
        return replace(
            before,
            status=after.status,
            version=after.version,
            data=version.data,
            editor_ids=list_editors(change),
            updated_at=now if change.writes_document else before.updated_at,
            deleted_at=now if after.is_deleted else before.deleted_at,
            instance_id=None if isinstance(change.instance, InstanceEnd) else before.instance_id,
            request_id=request_id,
            requested=requested,
            audit_seq=audit.seq,
            audit_hash=audit.hash,
            snapshot_id=version.snapshot_id,
            snapshot_hash=version.snapshot_hash,
            personal={**(before.personal or {}), **version.personal},
        )

    def _add_document(self, change: DocumentChange) -> "_StoredVersion":
        data, personal = self._add_personal(change)
        if change.before is None:
            self.batch.inserted_documents.append(make_document_row(change, data))
        else:
            # Of a document that is written twice, the row is as it was before the first change.
            earlier = self.batch.updated_documents.get(change.document_id)
            seen_version = earlier["seen_version"] if earlier else change.before.version
            self.batch.updated_documents[change.document_id] = make_document_update(
                change, data, seen_version
            )
        row = make_version_row(change, data, make_id())
        self.batch.versions.append(row)
        return _StoredVersion(data, row["id"], row["hash"], personal)

    def _add_personal(self, change: DocumentChange) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the data with references for personal values, and the new values by reference.

        An unchanged value keeps the reference that it has.
        """
        stored, new = dict(change.after.data), {}
        previous = change.before.data if change.before else {}
        known = change.before.personal or {} if change.before else {}
        for name in change.contract.personal_fields:
            value, old = stored.get(name), previous.get(name)
            if value is None:
                continue
            if is_reference(old) and known.get(old["$personal"]) == value:
                stored[name] = old
                continue
            value_id, salt = make_id(), os.urandom(SALT_BYTES)
            stored[name] = make_reference(str(value_id), commit(salt, value))
            new[str(value_id)] = value
            self.batch.personal_values.append(
                make_personal_row(change.document_id, name, value, value_id, salt)
            )
        return stored, new

    def _add_request(self, change: DocumentChange) -> None:
        request = change.request
        if request is None:
            return
        if request.ends is not None:
            self.batch.ended_requests.append(make_ended_request_row(request.ends))
        if request.opens is not None:
            request.id = make_id()
            self.batch.requests.append(make_request_row(change, request.opens, request.id))

    def _add_instance(self, change: DocumentChange) -> None:
        match change.instance:
            case InstanceEnd() as end:
                self.batch.cancelled_instances.append(make_cancellation_row(change, end, make_id()))
            case InstanceStart() as start:
                start.id = make_id()
                row = make_new_instance_row(change, start, start.id)
                self.batch.instances.append(row)
                self._add_event(
                    change, start.id, "create_instance", {"birth": start.birth}, row["definition_version"]
                )

    def _add_events(self, change: DocumentChange) -> None:
        live = change.before.instance_id if change.before else None
        if change.trigger is not None and live is not None:
            self._add_event(change, live, change.trigger.event_type, change.trigger.payload)
        for event_type, payload in change.emits:
            self._add_event(change, live or change.document_id, event_type, payload)

    def _add_event(
        self,
        change: DocumentChange,
        subject_id: UUID,
        event_type: str,
        payload: Mapping[str, Any],
        definition_version: int | None = None,
    ) -> None:
        version, trace_id = change.after.version, change.caller.trace_id
        event = make_trigger(subject_id, event_type, payload, trace_id, entity_version=version)
        if definition_version is not None:
            event["definition_version"] = definition_version
        self.batch.events.append(event)

    def _add_audit(self, change: DocumentChange, version: "_StoredVersion") -> AuditRow:
        before, transaction = change.before, self._transaction
        head = (
            Head(before.audit_seq, before.audit_hash)
            if before and before.audit_seq and before.audit_hash
            else None
        )
        entry = make_document_entry(change, transaction, version.data, version.snapshot_hash)
        row = chain(head, entry, Transaction(transaction.epoch, int(transaction.xid)))
        self.batch.audit.append(row)
        return row


@dataclass(frozen=True, slots=True)
class _StoredVersion:
    """The version of a document after a change, as it is stored."""

    data: dict[str, Any]
    snapshot_id: UUID | None
    snapshot_hash: str | None
    # The personal values that are new with it, by their reference.
    personal: Mapping[str, Any]
