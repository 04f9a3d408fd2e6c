"""Documents as people read them, with their personal values, for callers who may read such documents."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any
from uuid import UUID

from signet.core.approvals.decided_pins import SeenReference, list_seen
from signet.core.documents.personal_data import REFERENCE, is_reference, resolve_personal
from signet.core.errors import Rejected
from signet.core.runtime.position import parse_position
from signet.core.tenants.principal import Principal
from signet.engine.access.read import ReadTransaction, reading
from signet.engine.cache import CompiledCache, ContractCache
from signet.engine.documents.references import RefQuery, Refs
from signet.store.database import Connection, Database
from signet.store.documents.personal_values import read_values
from signet.store.documents.read import DocumentInLine, find_document, find_transition_request
from signet.store.documents.read import DocumentRecord as DocumentRecord
from signet.store.documents.read import TransitionRequestRecord as TransitionRequestRecord
from signet.store.incidents.incidents import read_held_instances


@dataclass(frozen=True, slots=True)
class DocumentAtWork(DocumentInLine):
    """A document, with the nodes behind its last passed gate that its workflow has not finished yet.

    Where the reader may ask for what decides, `references` is what they decide about of other documents.
    """

    unfinished: Sequence[str] = ()
    references: Sequence[SeenReference] = ()


@dataclass(frozen=True, slots=True)
class DocumentsRead:
    database: Database
    compiled: CompiledCache = field(default_factory=CompiledCache)
    contracts: ContractCache = field(default_factory=ContractCache)

    def read(self, principal: Principal, document_id: UUID) -> DocumentAtWork:
        """Read a document. Answer alike for a missing one and for one that the caller may not read."""
        with reading(self.database, principal) as read:
            document = find_document(read.connection, principal.tenant_id, document_id)
            if document is None or not may_read(read, document.entity_type):
                raise document_not_found(document_id)
            references = self._list_references(read, document)
            columns = {column.name: getattr(document, column.name) for column in fields(document)}
            columns["data"] = resolve(read.connection, principal.tenant_id, document.data)
            unfinished = self._list_unfinished(read.connection, principal.tenant_id, document.instance_id)
            return DocumentAtWork(**columns, unfinished=unfinished, references=references)

    def _list_references(self, read: ReadTransaction, document: DocumentRecord) -> Sequence[SeenReference]:
        """List what a request of the reader would decide about; for most documents nothing is read."""
        tenant_id = read.principal.tenant_id
        loaded = self.contracts.read(
            read.connection, tenant_id, document.entity_type, document.contract_version
        )
        if loaded is None or not loaded.has_readable_refs:
            return ()
        contract = loaded.contract
        asked = (
            name
            for name in contract.separation_of_duties.deciding
            if document.status in contract.transitions[name].from_states
        )
        if not any(read.may(loaded.permission_of_transition(name)) for name in asked):
            return ()
        query = RefQuery(loaded, loaded.readable_refs, document.data)
        return list_seen(Refs(read.connection, tenant_id, {}).pins_of(query))

    def _list_unfinished(
        self, connection: Connection, tenant_id: UUID, instance_id: UUID | None
    ) -> Sequence[str]:
        """List what a live instance has not finished behind a passed gate."""
        live = read_held_instances(connection, tenant_id, [instance_id]) if instance_id is not None else []
        if not live:
            return ()
        (row,) = live
        workflow = self.compiled.read(connection, tenant_id, row.definition_id, row.definition_version)
        return workflow.list_behind_gates(parse_position(row.active_tokens).current_nodes())

    def read_request(self, principal: Principal, request_id: UUID) -> TransitionRequestRecord:
        """Read a request for a transition, for its requester and for readers of such documents."""
        with reading(self.database, principal) as read:
            request = find_transition_request(read.connection, principal.tenant_id, request_id)
            if request is None or not (
                request.actor_id == principal.subject or may_read(read, request.entity_type)
            ):
                raise Rejected("REQUEST_NOT_FOUND", f"there is no request {request_id}")
            return request


def may_read(read: ReadTransaction, entity_type: str) -> bool:
    return read.may(f"{entity_type}:read")


def resolve(connection: Connection, tenant_id: UUID, data: Mapping[str, Any]) -> dict[str, Any]:
    """Put back the personal values that have not been erased."""
    return resolve_all(connection, tenant_id, [data])[0]


def resolve_all(
    connection: Connection, tenant_id: UUID, many: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    ids = [value[REFERENCE] for data in many for value in data.values() if is_reference(value)]
    if not ids:
        return [dict(data) for data in many]
    stored = read_values(connection, tenant_id, ids)
    values = {key: json.loads(value.value) for key, value in stored.items() if value.value is not None}
    return [resolve_personal(data, values) for data in many]


def document_not_found(document_id: UUID) -> Rejected:
    return Rejected("DOCUMENT_NOT_FOUND", f"there is no document {document_id}")
