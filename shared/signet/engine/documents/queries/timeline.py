"""The life of a document for callers who may read such documents, also after its deletion."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from signet.core.errors import Rejected
from signet.core.explain.instance import write_instance
from signet.core.tenants.machine_label import MachineLabel
from signet.core.tenants.principal import Principal
from signet.engine.access.read import ReadTransaction, reading
from signet.engine.cache import ContractCache
from signet.engine.documents.read import document_not_found, may_read
from signet.engine.instances.explain import explain
from signet.engine.instances.queries import Explained
from signet.store.database import Database
from signet.store.documents.timeline import AuditRecord as AuditRecord
from signet.store.documents.timeline import Before as Before
from signet.store.documents.timeline import (
    TimelineKind,
    TimelineRow,
    find_document_type,
    find_newest_instance,
    list_audit,
    list_timeline,
)
from signet.store.tenants.machine_labels import read_machine_labels


@dataclass(frozen=True, slots=True)
class TimelineEntry:
    """An event in the life of a document.

    `what` names it by `kind`: the action of a mutation, the requested transition, the vote. Of an instance it
    is the event in its life, of an ended step the type of its node.
    """

    at: datetime
    id: UUID
    kind: TimelineKind
    what: str
    actor_id: str
    # A key or a service account, with its owner; null for a person.
    actor_label: str | None
    on_behalf_of: str | None
    reason: str | None
    # The version of the document; of a mutation, the version after it.
    version: int | None
    instance_id: UUID | None
    node_id: str | None
    outcome: str | None
    # The names of the fields that a mutation changed.
    changed: Sequence[str]


@dataclass(frozen=True, slots=True)
class DocumentLife:
    database: Database
    contracts: ContractCache

    @contextmanager
    def _reading(self, principal: Principal, document_id: UUID) -> Iterator[tuple[ReadTransaction, str]]:
        """Open a read transaction with the entity type of the document.

        Answer alike for a missing document and for one that the caller may not read.
        """
        with reading(self.database, principal) as read:
            entity_type = find_document_type(read.connection, principal.tenant_id, document_id)
            if entity_type is None or not may_read(read, entity_type):
                raise document_not_found(document_id)
            yield read, entity_type

    def list_audit(
        self, principal: Principal, document_id: UUID, after: int, limit: int
    ) -> Sequence[AuditRecord]:
        with self._reading(principal, document_id) as (read, _):
            return list_audit(read.connection, principal.tenant_id, document_id, after, limit)

    def list_timeline(
        self, principal: Principal, document_id: UUID, before: Before | None, limit: int
    ) -> Sequence[TimelineEntry]:
        with self._reading(principal, document_id) as (read, entity_type):
            tenant_id = principal.tenant_id
            rows = list_timeline(read.connection, tenant_id, entity_type, document_id, before, limit)
            labels = read_machine_labels(read.connection, tenant_id, (row.actor_id for row in rows))
        return [_parse_entry(row, labels.get(row.actor_id)) for row in rows]

    def explain(self, principal: Principal, document_id: UUID) -> Explained:
        """Explain the position of the newest instance, and the reason for it."""
        tenant_id = principal.tenant_id
        with self._reading(principal, document_id) as (read, entity_type):
            instance_id = find_newest_instance(read.connection, tenant_id, entity_type, document_id)
        if instance_id is None:
            raise Rejected("INSTANCE_NOT_FOUND", f"no workflow ever ran for the document {document_id}")
        explained = explain(self.database, self.contracts, tenant_id, instance_id)
        return Explained(write_instance(explained), explained)


def _parse_entry(row: TimelineRow, label: MachineLabel | None) -> TimelineEntry:
    content = json.loads(row.content) if row.content is not None else {}
    after, instance_id = content.get("after"), content.get("instance_id")
    return TimelineEntry(
        at=row.at,
        id=row.id,
        kind=row.kind,
        what=row.what,
        actor_id=row.actor_id,
        actor_label=None if label is None else label.describe(),
        on_behalf_of=row.on_behalf_of or content.get("on_behalf_of"),
        reason=row.reason or content.get("reason"),
        version=after["version"] if after else row.version,
        instance_id=UUID(instance_id) if instance_id else row.instance_id,
        node_id=row.node_id,
        outcome=row.outcome,
        changed=sorted(content.get("changes", ())),
    )
