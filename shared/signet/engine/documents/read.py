"""Documents as people read them, with their personal values, for callers who may read such documents."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from signet.core.documents.personal_data import REFERENCE, is_reference, resolve_personal
from signet.core.errors import Rejected
from signet.core.tenants.principal import Principal
from signet.engine.access.read import ReadTransaction, reading
from signet.store.database import Connection, Database
from signet.store.documents.personal_values import read_values
from signet.store.documents.read import DocumentInLine as DocumentInLine
from signet.store.documents.read import DocumentRecord as DocumentRecord
from signet.store.documents.read import TransitionRequestRecord as TransitionRequestRecord
from signet.store.documents.read import find_document, find_transition_request


@dataclass(frozen=True, slots=True)
class DocumentsRead:
    database: Database

    def read(self, principal: Principal, document_id: UUID) -> DocumentInLine:
        """Read a document. Answer alike for a missing one and for one that the caller may not read."""
        with reading(self.database, principal) as read:
            document = find_document(read.connection, principal.tenant_id, document_id)
            if document is None or not may_read(read, document.entity_type):
                raise document_not_found(document_id)
            data = resolve(read.connection, principal.tenant_id, document.data)
            return replace(document, data=data)

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
