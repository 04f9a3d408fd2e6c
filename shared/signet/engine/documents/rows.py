"""The rows of decided changes: a batch of them, and one function for each table."""

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID

from signet.core.audit.trail import (
    SALT_BYTES,
    AuditEntry,
    Head,
    Transaction,
    VersionMark,
    chain,
    commit,
    make_entry,
)
from signet.core.audit.verification import AuditRow
from signet.core.canonical_json import canonical_bytes, hash_bytes
from signet.core.contracts.indexed_columns import INDEXED_COLUMN_NAMES, make_column_values
from signet.core.documents.personal_data import is_reference, make_reference
from signet.core.errors import Defect
from signet.core.runtime.idempotency_keys import step_key
from signet.core.runtime.position import Position
from signet.core.runtime.projection import CONTROL, Actor
from signet.core.runtime.tokens import begin
from signet.core.tenants.responsible import ResponsiblePersons, find_overflow, join_responsible
from signet.engine.documents.added_change import AddedChange, StoredVersion
from signet.engine.documents.amendments import is_edit_of_amendment
from signet.engine.documents.change import DocumentChange, InstanceEnd, InstanceStart, diff_data
from signet.engine.documents.firings import add_chain, list_signs, make_firing_row
from signet.engine.documents.persons.authorship import (
    join_editors,
    list_changed_fields,
    list_editors,
    persons_of_version,
)
from signet.engine.documents.rules import KeepResponsible
from signet.ids import created_at_of, make_id
from signet.store.database import Connection
from signet.store.documents.write import DocumentRow, TransactionContext, WriteBatch, widen_editors
from signet.store.outbox.queue import make_trigger

Row = dict[str, Any]


class RowMaker:
    """The rows of one transaction, added change by change."""

    def __init__(self, transaction: TransactionContext, keep: KeepResponsible) -> None:
        self._transaction = transaction
        self._keep = keep
        self.batch = WriteBatch()

    def add(self, change: DocumentChange) -> list[AddedChange]:
        """Add a change and its further ones."""
        return [self._add_part(part) for part in change.parts]

    def widen_editors(
        self, connection: Connection, row: DocumentRow, persons: ResponsiblePersons
    ) -> DocumentRow:
        """Count persons as editors of a document at once, and in the update that is made of it already."""
        editors = join_responsible(row.editor_responsible, persons)
        if editors == row.editor_responsible:
            return row
        digest, updated = self._keep(editors), self.batch.updated_documents
        widen_editors(connection, row.id, digest)
        if row.id in updated:
            updated[row.id] = {**updated[row.id], "editor_responsible": digest}
        return replace(row, editor_responsible=editors)

    def _add_part(self, change: DocumentChange) -> AddedChange:
        before = change.before
        if before is not None and not change.writes_document:
            version = StoredVersion(
                before.data,
                before.field_versions,
                before.editor_responsible,
                before.snapshot_id,
                before.snapshot_hash,
                {},
            )
        else:
            version = self._add_document(change)
        self._add_request(change)
        self._add_instance(change)
        self._add_amendment(change)
        self._add_events(change)
        if (signs := list_signs(change, version)) is not None:
            self.batch.firings.append(make_firing_row(change, signs) | self._responsible_of(change))
        self.batch.rule_executions.extend(change.executions)
        return AddedChange(change, version, self._add_audit(change, version))

    def _add_document(self, change: DocumentChange) -> StoredVersion:
        data, personal = self._add_personal(change)
        changed, editors = list_changed_fields(change, data), join_editors(change, data)
        people = {"editor_responsible": self._keep(editors), "field_versions": changed}
        if change.before is None:
            people["creator_responsible"] = self._keep(change.caller.principal.responsible)
            self.batch.inserted_documents.append(make_document_row(change, data) | people)
        else:
            # A document that is written twice must still be at its version before the first change.
            earlier = self.batch.updated_documents.get(change.document_id)
            seen_version = earlier["seen_version"] if earlier else change.before.version
            if earlier:
                people["field_versions"] = {**earlier["field_versions"], **changed}
            update = make_document_update(change, data, seen_version) | people
            self.batch.updated_documents[change.document_id] = update
        row, persons = make_version_row(change, data, make_id()), persons_of_version(change)
        # Of a version without a set, all who wrote the document count.
        row["responsible"] = self._keep(persons) if find_overflow(persons) is None else None
        self.batch.versions.append(row)
        known = change.before.field_versions if change.before is not None else {}
        return StoredVersion(data, {**known, **changed}, editors, row["id"], row["hash"], personal)

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
            ended = request.ends
            row = {"id": ended.id, "status": ended.status, "outcome": ended.outcome}
            self.batch.ended_requests.append(row)
        if request.opens is not None:
            request.id = make_id()
            row = make_request_row(change, request.opens, request.id)
            self.batch.requests.append(row | self._responsible_of(change))

    def _add_instance(self, change: DocumentChange) -> None:
        match change.instance:
            case InstanceEnd() as end:
                row = make_cancellation_row(change, end, make_id())
                self.batch.cancelled_instances.append(row | self._responsible_of(change))
            case None if _needs_none_any_more(change):
                closed_by = change.caller.principal.subject
                self.batch.settled_documents.append({"entity_id": change.document_id, "closed_by": closed_by})
            case InstanceStart() as start:
                start.id = make_id()
                row = make_new_instance_row(change, start, start.id) | self._responsible_of(change)
                if start.actor is not None:
                    row["responsible"] = self._keep(start.actor.responsible)
                self.batch.instances.append(row)
                payload, version = {"birth": start.birth}, row["definition_version"]
                event = make_event_row(change, start.id, "create_instance", payload, version)
                self.batch.events.append(event | self._responsible_of(change))

    def _add_amendment(self, change: DocumentChange) -> None:
        """Add what the change opens, hands on, edits or settles; most changes do none of it."""
        origin, before, batch = change.amended_from, change.before, self.batch
        own = {"document_id": change.document_id}
        if origin is not None and change.original_stays:
            made_of = {"original_version": origin.version, "original_status": origin.status}
            batch.opened_amendments.append({**own, "original_id": origin.id, **made_of})
        elif origin is not None and origin.amended_from_id is not None:
            batch.handed_amendments.append({"document_id": origin.id, "heir_id": change.document_id})
        if change.replaces is not None:
            batch.settled_amendments.append(own)
        elif before is not None and before.amended_from_id is not None and is_edit_of_amendment(change):
            batch.edited_amendments.append(own)

    def _add_events(self, change: DocumentChange) -> None:
        live = change.before.instance_id if change.before else None
        if change.trigger is not None and live is not None:
            trigger = change.trigger
            event = make_event_row(change, live, trigger.event_type, trigger.payload)
            self.batch.events.append(event | self._responsible_of(change))
        for event_type, payload in change.emits:
            event = make_event_row(change, live or change.document_id, event_type, payload)
            self.batch.events.append(event | self._responsible_of(change))

    def _responsible_of(self, change: DocumentChange) -> Row:
        return {"responsible": self._keep(change.caller.principal.responsible)}

    def _add_audit(self, change: DocumentChange, version: StoredVersion) -> AuditRow:
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


def _needs_none_any_more(change: DocumentChange) -> bool:
    """Return whether a document without an instance is deleted, or gets its last status."""
    before, after = change.before, change.after
    if before is None or before.instance_id is not None:
        return False
    return after.is_deleted or after.status != before.status


def make_document_row(change: DocumentChange, stored: Mapping[str, Any]) -> Row:
    """Make the row of a new document; `stored` is its data with references in place of personal values."""
    origin, contract = change.amended_from, change.contract.contract
    return _content_row(change, stored) | {
        "entity_type": contract.contract,
        "contract_version": contract.version,
        "amended_from_id": origin.id if origin else None,
        "creator_id": change.caller.principal.subject,
        "editor_ids": list(change.editors),
    }


def make_document_update(change: DocumentChange, stored: Mapping[str, Any], seen_version: int) -> Row:
    """Make the update of a document, which must still be at `seen_version`."""
    return _content_row(change, stored) | {
        "seen_version": seen_version,
        "editor_ids": list_editors(change),
        "is_deleted": change.after.is_deleted,
    }


def _content_row(change: DocumentChange, stored: Mapping[str, Any]) -> Row:
    after = change.after
    return {
        "id": change.document_id,
        "status": after.status,
        "version": after.version,
        "data": stored,
        **dict.fromkeys(INDEXED_COLUMN_NAMES),
        **make_column_values(change.contract.indexed_columns, after.data),
    }


def make_version_row(change: DocumentChange, stored: Mapping[str, Any], version_id: UUID) -> Row:
    after, contract = change.after, change.contract
    before, original = change.before, change.amended_from
    origin = before.amended_from_id if before else original and original.id
    snapshot = canonical_bytes(
        {
            "id": str(change.document_id),
            "entity_type": contract.contract.contract,
            "contract_version": contract.contract.version,
            "contract_hash": contract.hash,
            "status": after.status,
            "version": after.version,
            "data": dict(stored),
            "amended_from_id": str(origin) if origin else None,
            "is_deleted": after.is_deleted,
        }
    )
    return {
        "document_id": change.document_id,
        "version": after.version,
        "id": version_id,
        "snapshot": snapshot.decode(),
        "hash": hash_bytes(snapshot),
        "actor_id": change.caller.principal.subject,
    }


def make_personal_row(document_id: UUID, field: str, value: Any, value_id: UUID, salt: bytes) -> Row:
    return {"id": value_id, "document_id": document_id, "field": field, "salt": salt.hex(), "value": value}


def make_request_row(change: DocumentChange, transition: str, request_id: UUID) -> Row:
    principal = change.caller.principal
    return {
        "id": request_id,
        "document_id": change.document_id,
        "document_version": change.after.version,
        "transition": transition,
        "actor_id": principal.subject,
        "actor_roles": list(principal.roles),
        "reason": change.note.reason,
        "trace_id": change.caller.trace_id,
        "pins": change.request.pins if change.request is not None else None,
    }


def make_cancellation_row(change: DocumentChange, end: InstanceEnd, step_id: UUID) -> Row:
    """Make the row that cancels the document's instance, with the step that puts it on record."""
    node_id, version = f"{CONTROL}{end.reason}", change.after.version
    return {
        "id": end.instance_id,
        "reason": end.reason,
        "entity_version": version,
        "step_id": step_id,
        "step_created_at": created_at_of(step_id),
        "node_id": node_id,
        "idempotency_key": f"\\x{step_key(end.instance_id, node_id, '', version).hex()}",
        "output": end.output,
        "actor_id": change.caller.principal.subject,
        "trace_id": change.caller.trace_id,
    }


def make_new_instance_row(change: DocumentChange, start: InstanceStart, instance_id: UUID) -> Row:
    contract, principal, version = change.contract.contract, change.caller.principal, change.after.version
    actor = start.actor or Actor(principal.subject, tuple(principal.roles))
    if start.workflow is None:
        raise Defect("WORKFLOW_ABSENT", f"an instance of '{contract.contract}' has no workflow")
    return {
        "id": instance_id,
        "definition_id": start.workflow.id,
        "definition_version": start.workflow.version,
        "entity_type": contract.contract,
        "entity_id": change.document_id,
        "entity_version": version,
        "begin_node": start.node,
        "birth": start.birth,
        "begin_pins": start.pins or None,
        "origin_id": change.amended_from.id if change.amended_from is not None else change.document_id,
        "is_begun": change.after.status != contract.initial_state,
        "actor_id": actor.id,
        "actor_roles": list(actor.roles),
        "trace_id": change.caller.trace_id,
        "active_tokens": [begin(Position(), start.node, version).to_json()],
        "edit_window": start.window or contract.states[change.after.status].edit.value,
        # Who brings a document on that had no workflow: its incident closes by that.
        "closed_by": principal.subject,
    }


def make_event_row(
    change: DocumentChange,
    subject_id: UUID,
    event_type: str,
    payload: Mapping[str, Any],
    definition_version: int | None = None,
) -> Row:
    return make_trigger(
        subject_id,
        event_type,
        add_chain(payload, change.caller),
        change.caller.trace_id,
        entity_version=change.after.version,
        definition_version=definition_version,
    )


def make_document_entry(
    change: DocumentChange,
    transaction: TransactionContext,
    stored: Mapping[str, Any],
    snapshot_hash: str | None,
) -> AuditEntry:
    """Make the audit entry of a change; `snapshot_hash` is that of the version after it."""
    before, note, caller = change.before, change.note, change.caller
    return make_entry(
        make_id(),
        caller,
        caller.principal.tenant_id,
        transaction.now,
        ("document", str(change.document_id)),
        note.action,
        _describe_change(change),
        reason=note.reason,
        on_behalf_of=note.on_behalf_of,
        before=VersionMark(before.version, before.snapshot_hash) if before and before.snapshot_hash else None,
        after=VersionMark(change.after.version, snapshot_hash) if snapshot_hash else None,
        changes=diff_data(before.data if before else {}, stored),
        instance_id=caller.instance_id,
        step_id=caller.step_id,
    )


def _describe_change(change: DocumentChange) -> Row:
    detail: Row = {"status": change.after.status, **change.note.detail}
    if change.amended_from is not None:
        detail["amended_from"] = str(change.amended_from.id)
    if change.creates:
        detail["created"] = [
            {"entity_type": new.entity_type, "document_id": str(new.id)} for new in change.creates
        ]
    if change.note.made_by is not None:
        detail["made_by"] = dict(change.note.made_by)
    if change.request is not None and change.request.opens is not None:
        detail["transition"] = change.request.opens
    if isinstance(change.instance, InstanceEnd):
        detail["workflow_ended"] = change.instance.reason
    return detail
