"""Documents as people read them, with their personal values, for callers who may read such documents."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any
from uuid import UUID

from signet.core.approvals.decided_pins import SeenReference, list_seen
from signet.core.contracts.compiled_contract import CompiledContract
from signet.core.documents.personal_data import REFERENCE, is_reference, resolve_personal
from signet.core.errors import Rejected
from signet.core.runtime.position import parse_position
from signet.core.tenants.principal import Principal
from signet.engine.access.read import ReadTransaction, reading
from signet.engine.cache import CompiledCache, ContractCache
from signet.engine.documents.references import RefQuery, Refs
from signet.store.approvals.failed_calls import FailedCall, list_failed_calls
from signet.store.database import Connection, Database
from signet.store.documents.personal_values import read_values
from signet.store.documents.read import DocumentInLine, find_document, find_transition_request
from signet.store.documents.read import DocumentRecord as DocumentRecord
from signet.store.documents.read import TransitionRequestRecord as TransitionRequestRecord
from signet.store.incidents.incidents import read_held_instances


@dataclass(frozen=True, slots=True)
class DocumentAtWork(DocumentInLine):
    """A document, with the nodes behind its last passed gate that its workflow has not finished yet.

    Where the reader may ask for what decides, `references` is what they decide about of other documents. And
    `failed_calls` are those that failed, so that the document went on by an edge for errors.
    """

    unfinished: Sequence[str] = ()
    references: Sequence[SeenReference] = ()
    failed_calls: Sequence[FailedCall] = ()


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
            deciding = self._find_deciding(read, document)
            columns = {column.name: getattr(document, column.name) for column in fields(document)}
            columns["data"] = resolve(read.connection, principal.tenant_id, document.data)
            unfinished = self._list_unfinished(read.connection, principal.tenant_id, document.instance_id)
            found = DocumentAtWork(**columns, unfinished=unfinished)
            return found if deciding is None else _show_deciding(read, found, document, deciding)

    def _find_deciding(self, read: ReadTransaction, document: DocumentRecord) -> CompiledContract | None:
        """Return the contract, where the reader may ask for what decides about the document."""
        tenant_id = read.principal.tenant_id
        loaded = self.contracts.read(
            read.connection, tenant_id, document.entity_type, document.contract_version
        )
        if loaded is None:
            return None
        contract = loaded.contract
        asked = (
            name
            for name in contract.separation_of_duties.deciding
            if document.status in contract.transitions[name].from_states
        )
        return loaded if any(read.may(loaded.permission_of_transition(name)) for name in asked) else None

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


def _show_deciding(
    read: ReadTransaction, shown: DocumentAtWork, document: DocumentRecord, contract: CompiledContract
) -> DocumentAtWork:
    """Add what a request of the reader would decide about, and the calls that failed on the way to it."""
    connection, tenant_id = read.connection, read.principal.tenant_id
    references: Sequence[SeenReference] = ()
    if contract.has_readable_refs:
        query = RefQuery(contract, contract.readable_refs, document.data)
        references = list_seen(Refs(connection, tenant_id, {}).pins_of(query))
    failed_calls = list_failed_calls(connection, tenant_id, document.id, until=None)
    return replace(shown, references=references, failed_calls=failed_calls)


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
