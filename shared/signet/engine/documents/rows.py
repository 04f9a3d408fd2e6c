"""From decided changes to the rows that they are: documents, versions, audit, requests, instances, events."""

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID

from signet.core.audit.trail import SALT_BYTES, AuditEntry, Head, Transaction, VersionMark, chain, commit
from signet.core.audit.verification import AuditRow
from signet.core.canonical_json import canonical_bytes, hash_bytes
from signet.core.contracts.contract import AMENDED
from signet.core.contracts.indexed_columns import FAST_COLUMNS, read_fast_values
from signet.core.documents.personal_data import is_reference, make_reference
from signet.core.errors import Defect
from signet.core.runtime.idempotency_keys import event_key, step_key
from signet.core.runtime.projection import CONTROL
from signet.core.runtime.tokens import Position, begin
from signet.engine.documents.change import DocumentChange
from signet.engine.documents.decide import diff_data
from signet.ids import created_at_of
from signet.store.documents.write import DocumentRow, TransactionContext, WorkflowOfType, WriteBatch

MakeId = Callable[[], UUID]


class RowMaker:
    """Collects the rows of one batch of changes."""

    def __init__(
        self,
        transaction: TransactionContext,
        workflows: Mapping[tuple[str, int | None], WorkflowOfType | None],
        make_id: MakeId,
    ) -> None:
        self._transaction = transaction
        self._workflows = workflows
        self._make_id = make_id
        self.batch = WriteBatch()

    def add(self, change: DocumentChange) -> dict[UUID, DocumentRow]:
        """The documents as they are after the change, without those that it made."""
        rows = [self._add_one(one) for one in change.whole]
        return {row.id: row for row in rows if row is not None}

    def _add_one(self, change: DocumentChange) -> DocumentRow | None:
        snapshot_hash = change.row.snapshot_hash if change.row else None
        snapshot_id = change.row.snapshot_id if change.row else None
        stored = change.row.data if change.row else {}
        before = stored
        if change.writes_document:
            stored = self._store_personal(change)
            self._add_document(change, stored)
            snapshot_id, snapshot_hash = self._add_version(change, stored)
        self._add_requests(change)
        self._add_instance(change)
        self._add_events(change)
        self.batch.rule_executions.extend(change.executions)
        audit = self._add_audit(change, before, stored, snapshot_hash)
        return self._advance(change, stored, snapshot_id, snapshot_hash, audit) if change.row else None

    def _advance(
        self,
        change: DocumentChange,
        stored: dict[str, Any],
        snapshot_id: UUID | None,
        snapshot_hash: str | None,
        audit: AuditRow,
    ) -> DocumentRow | None:
        row = change.row
        if row is None:
            return None
        has_ended = bool(change.ends_requests)
        return replace(
            row,
            status=change.status,
            version=change.version,
            data=stored,
            editor_ids=self._list_editors(change),
            updated_at=self._transaction.now if change.writes_document else row.updated_at,
            deleted_at=self._transaction.now if change.is_deleted else row.deleted_at,
            instance_id=None if change.cancels_instance else row.instance_id,
            request_id=change.request_id or (None if has_ended else row.request_id),
            requested=change.opens_request or (None if has_ended else row.requested),
            audit_seq=audit.seq,
            audit_hash=audit.hash,
            snapshot_id=snapshot_id,
            snapshot_hash=snapshot_hash,
            personal={**(row.personal or {}), **self._new_personal(change)},
        )

    def _new_personal(self, change: DocumentChange) -> dict[str, Any]:
        return {
            str(value["id"]): value["value"]
            for value in self.batch.personal_values
            if value["document_id"] == change.document_id
        }

    def _list_editors(self, change: DocumentChange) -> list[str]:
        editors, subject = list(change.editors), change.caller.principal.subject
        is_edit = change.caller.instance_id is None and change.writes_document and change.status != AMENDED
        return [*editors, subject] if is_edit and subject not in editors else editors

    def _store_personal(self, change: DocumentChange) -> dict[str, Any]:
        """References in place of personal values; an unchanged value keeps the one that it has."""
        stored, previous = dict(change.data), change.row.data if change.row else {}
        known = change.row.personal or {} if change.row else {}
        for name in change.contract.personal_fields:
            value = stored.get(name)
            if value is None:
                continue
            old = previous.get(name)
            if is_reference(old) and known.get(old["$personal"]) == value:
                stored[name] = old
                continue
            value_id, salt = self._make_id(), os.urandom(SALT_BYTES)
            stored[name] = make_reference(str(value_id), commit(salt, value))
            row = {
                "id": value_id,
                "document_id": change.document_id,
                "field": name,
                "salt": salt.hex(),
                "value": value,
            }
            self.batch.personal_values.append(row)
        return stored

    def _add_document(self, change: DocumentChange, stored: Mapping[str, Any]) -> None:
        fast = dict.fromkeys(FAST_COLUMNS) | read_fast_values(change.contract.fast_columns, change.data)
        row: dict[str, Any] = {
            "id": change.document_id,
            "status": change.status,
            "version": change.version,
            "data": stored,
            **fast,
        }
        if change.row is None:
            origin = change.amended_from
            row |= {
                "entity_type": change.contract.contract.contract,
                "contract_version": change.contract.contract.version,
                "amended_from_id": origin.id if origin else None,
                "creator_id": change.caller.principal.subject,
                "editor_ids": list(change.editors),
            }
            self.batch.inserted_documents.append(row)
        else:
            earlier = self.batch.updated_documents.get(change.document_id)
            row["seen_version"] = earlier["seen_version"] if earlier else change.row.version
            row["editor_ids"] = self._list_editors(change)
            row["is_deleted"] = change.is_deleted
            self.batch.updated_documents[change.document_id] = row

    def _add_version(self, change: DocumentChange, stored: Mapping[str, Any]) -> tuple[UUID, str]:
        origin = change.row.amended_from_id if change.row else change.amended_from and change.amended_from.id
        snapshot = canonical_bytes(
            {
                "id": str(change.document_id),
                "entity_type": change.contract.contract.contract,
                "contract_version": change.contract.contract.version,
                "contract_hash": change.contract.hash,
                "status": change.status,
                "version": change.version,
                "data": dict(stored),
                "amended_from_id": str(origin) if origin else None,
                "is_deleted": change.is_deleted,
            }
        )
        snapshot_id, snapshot_hash = self._make_id(), hash_bytes(snapshot)
        self.batch.versions.append(
            {
                "document_id": change.document_id,
                "version": change.version,
                "id": snapshot_id,
                "snapshot": snapshot.decode(),
                "hash": snapshot_hash,
                "actor_id": change.caller.principal.subject,
            }
        )
        return snapshot_id, snapshot_hash

    def _add_requests(self, change: DocumentChange) -> None:
        for request_id, status, outcome in change.ends_requests:
            self.batch.ended_requests.append({"id": request_id, "status": status, "outcome": outcome})
        if change.opens_request is not None:
            change.request_id = self._make_id()
            self.batch.requests.append(
                {
                    "id": change.request_id,
                    "document_id": change.document_id,
                    "document_version": change.version,
                    "transition": change.opens_request,
                    "actor_id": change.caller.principal.subject,
                    "actor_roles": list(change.caller.principal.roles),
                    "reason": change.reason,
                    "trace_id": change.caller.trace_id,
                }
            )

    def _add_instance(self, change: DocumentChange) -> None:
        if (
            change.cancels_instance is not None
            and change.row is not None
            and change.row.instance_id is not None
        ):
            step_id, node_id = self._make_id(), f"{CONTROL}{change.cancels_instance}"
            key = step_key(change.row.instance_id, node_id, "", change.version)
            self.batch.cancelled_instances.append(
                {
                    "id": change.row.instance_id,
                    "reason": change.cancels_instance,
                    "entity_version": change.version,
                    "step_id": step_id,
                    "step_created_at": created_at_of(step_id),
                    "node_id": node_id,
                    "idempotency_key": f"\\x{key.hex()}",
                    "output": change.event_payload,
                    "actor_id": change.caller.principal.subject,
                    "trace_id": change.caller.trace_id,
                }
            )
        if change.begins_at is not None:
            self._begin_instance(change, change.begins_at)

    def _begin_instance(self, change: DocumentChange, node: str) -> None:
        contract = change.contract.contract
        workflow = self._workflows[(contract.contract, contract.version)]
        if workflow is None:
            raise Defect("WORKFLOW_ABSENT", f"an instance of '{contract.contract}' has no workflow")
        instance_id = self._make_id()
        token = begin(Position(), node, change.version)
        self.batch.instances.append(
            {
                "id": instance_id,
                "definition_id": workflow.id,
                "definition_version": workflow.version,
                "entity_type": change.contract.contract.contract,
                "entity_id": change.document_id,
                "entity_version": change.version,
                "begin_node": node,
                "birth": change.event_payload["birth"],
                "actor_id": change.caller.principal.subject,
                "actor_roles": list(change.caller.principal.roles),
                "trace_id": change.caller.trace_id,
                "active_tokens": [token.to_json()],
                "edit_window": change.contract.contract.states[change.status].edit.value,
            }
        )
        self._add_event(
            change,
            instance_id,
            change.event_type or "create_instance",
            change.event_payload,
            workflow.version,
        )
        change.event_type = None
        change.instance_id = instance_id

    def _add_events(self, change: DocumentChange) -> None:
        live = change.row.instance_id if change.row else None
        if change.event_type is not None and live is not None:
            self._add_event(change, live, change.event_type, change.event_payload, None)
        for event_type, payload in change.emits:
            self._add_event(change, live or change.document_id, event_type, dict(payload), None)

    def _add_event(
        self,
        change: DocumentChange,
        instance_id: UUID,
        event_type: str,
        payload: Mapping[str, Any],
        definition: int | None,
    ) -> None:
        event_id = self._make_id()
        # The cause keeps two equal payloads apart; a repeated write of the same cause is the same event.
        content = {**payload, "cause_id": str(event_id)}
        self.batch.events.append(
            {
                "id": event_id,
                "created_at": created_at_of(event_id),
                "instance_id": instance_id,
                "entity_version": change.version,
                "definition_version": definition,
                "event_type": event_type,
                "payload": content,
                "trace_id": change.caller.trace_id,
                "idempotency_key": f"\\x{event_key(instance_id, event_type, content, change.version).hex()}",
            }
        )

    def _add_audit(
        self,
        change: DocumentChange,
        before: Mapping[str, Any],
        after: Mapping[str, Any],
        snapshot_hash: str | None,
    ) -> AuditRow:
        row, caller = change.row, change.caller
        head = Head(row.audit_seq, row.audit_hash) if row and row.audit_seq and row.audit_hash else None
        transaction = Transaction(self._transaction.epoch, int(self._transaction.xid))
        entry = AuditEntry(
            tenant_id=caller.principal.tenant_id,
            id=self._make_id(),
            subject_type="document",
            subject_id=str(change.document_id),
            action=change.action,
            actor_id=caller.principal.subject,
            on_behalf_of=change.on_behalf_of,
            via=caller.via,
            at=self._transaction.now,
            reason=change.reason,
            before=VersionMark(row.version, row.snapshot_hash) if row and row.snapshot_hash else None,
            after=VersionMark(change.version, snapshot_hash) if snapshot_hash else None,
            changes=diff_data(before, after),
            instance_id=caller.instance_id,
            step_id=caller.step_id,
            trace_id=caller.trace_id,
            detail=_detail(change),
        )
        chained = chain(head, entry, transaction)
        self.batch.audit.append(chained)
        return chained


def _detail(change: DocumentChange) -> dict[str, Any]:
    detail: dict[str, Any] = {"status": change.status, **change.audit_detail}
    if change.amended_from is not None:
        detail["amended_from"] = str(change.amended_from.id)
    if change.creates:
        detail["created"] = [
            {"entity_type": new.entity_type, "document_id": str(new.id)} for new in change.creates
        ]
    if change.made_by is not None:
        detail["made_by"] = dict(change.made_by)
    if change.opens_request is not None:
        detail["transition"] = change.opens_request
    if change.cancels_instance is not None:
        detail["workflow_ended"] = change.cancels_instance
    return detail


def list_keys(changes: Iterable[DocumentChange]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Business keys to release and to take; an amendment takes over those of its original."""
    released: list[dict[str, Any]] = []
    wanted: list[dict[str, Any]] = []
    for change in changes:
        holder = change.row or change.amended_from
        old = holder.data if holder else {}
        for field in change.contract.unique_fields:
            before, after = old.get(field), None if change.is_deleted else change.data.get(field)
            is_same_holder = change.amended_from is None
            if before == after and is_same_holder:
                continue
            entity_type = change.contract.contract.contract
            if before is not None and holder is not None:
                released.append(_key(entity_type, field, before, holder.id))
            if after is not None:
                wanted.append(_key(entity_type, field, after, change.document_id))
    return released, wanted


def _key(entity_type: str, field: str, value: Any, document_id: UUID) -> dict[str, Any]:
    return {"entity_type": entity_type, "field": field, "value": str(value), "document_id": document_id}
