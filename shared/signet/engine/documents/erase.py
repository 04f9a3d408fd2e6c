"""Erasure of personal values: they leave the database, and every hash still holds."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from signet.core.audit.trail import AuditEntry, chain_all
from signet.core.audit.verification import DOCUMENT
from signet.core.errors import Rejected
from signet.core.tenants.caller import Caller, CallOrigin
from signet.core.tenants.principal import KeyOfPrincipal, responsible_of
from signet.core.tenants.responsible import NOBODY, ResponsiblePersons
from signet.engine.access.read import reading
from signet.engine.documents.command_checks import check_reason
from signet.engine.documents.paused_requests import REQUEST_WITHDRAWN
from signet.engine.documents.persons.authorship import add_editors
from signet.engine.documents.read import document_not_found, may_read
from signet.ids import make_id
from signet.store.approvals.given_decisions import find_deciding
from signet.store.audit.write import append_rows, read_heads, read_transaction
from signet.store.database import Connection, Database
from signet.store.documents.personal_values import (
    erase_values,
    find_live_instance,
    lock_document,
)
from signet.store.documents.timeline import find_document_type
from signet.store.documents.write import WriteBatch, write_batch
from signet.store.outbox.queue import insert_triggers, make_trigger

# How the request of a person ends who has decided by it.
VALUES_ERASED = "personal values were erased"


@dataclass(frozen=True)
class Erasure:
    """The values that were erased; none when they had been erased before."""

    ids: tuple[str, ...]
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _EntryTerms:
    """The actor, the channel and the reason of an erasure, for its audit entry."""

    actor_id: str
    responsible: ResponsiblePersons
    via: str
    reason: str
    trace_id: str | None = None
    key: KeyOfPrincipal | None = None
    claimed: str | None = None
    origin: CallOrigin | None = None

    def list_claimed(self) -> ResponsiblePersons:
        """List the person that a caller of the command line says to be: they count beside the user."""
        return NOBODY if self.claimed is None else frozenset((self.claimed,))

    def describe_caller(self) -> dict[str, Any]:
        key = {} if self.key is None else {"key": self.key.to_json()}
        return key if self.claimed is None else {**key, "claimed": self.claimed}


@dataclass(frozen=True, slots=True)
class Erasures:
    """The use case for callers who may erase the personal values of such documents."""

    database: Database

    def erase(
        self, caller: Caller, document_id: UUID, fields: Collection[str] | None, reason: str
    ) -> Erasure:
        """Erase personal values of a document, also of a deleted one.

        Answer alike for a missing document and for one that the caller may not read.
        """
        principal = caller.principal
        refused = check_reason(reason)
        if refused is not None:
            raise refused
        with reading(self.database, principal) as read:
            entity_type = find_document_type(read.connection, principal.tenant_id, document_id)
            permission = f"{entity_type}:erase"
            if entity_type is None or not (read.may(permission) or may_read(read, entity_type)):
                raise document_not_found(document_id)
            read.require(permission)
        terms = _EntryTerms(
            principal.subject,
            principal.responsible,
            caller.via,
            reason,
            caller.trace_id,
            principal.key,
            caller.claimed,
            caller.origin,
        )
        return _erase(self.database, principal.tenant_id, document_id, fields, terms)


def erase_personal(
    database: Database,
    tenant_id: UUID,
    document_id: UUID,
    *,
    fields: Collection[str] | None = None,
    actor_id: str,
    responsible: ResponsiblePersons = NOBODY,
    via: str,
    reason: str,
    trace_id: str | None = None,
    claimed: str | None = None,
) -> Erasure:
    """Erase the personal values of all versions of a document, or those of some of its fields.

    Values and salts become NULL; snapshots, audit and evidence keep reference and commitment. Amendments are
    documents of their own. Disk pages and backups forget with vacuum and their own retention.
    """
    entry = _EntryTerms(actor_id, responsible, via, reason, trace_id, claimed=claimed)
    return _erase(database, tenant_id, document_id, fields, entry)


def _erase(
    database: Database,
    tenant_id: UUID,
    document_id: UUID,
    fields: Collection[str] | None,
    terms: _EntryTerms,
) -> Erasure:
    with database.transaction(tenant_id) as connection:
        if not lock_document(connection, tenant_id, document_id):
            raise Rejected("DOCUMENT_NOT_FOUND", f"There is no document {document_id}.")
        erased = erase_values(connection, tenant_id, document_id, fields)
        erasure = Erasure(
            tuple(value.id for value in erased), tuple(sorted({value.field for value in erased}))
        )
        if not erased:
            return erasure
        # To take content away is to change it: who erases does not decide about what is left.
        persons = responsible_of(terms.actor_id, terms.responsible) | terms.list_claimed()
        add_editors(connection, tenant_id, document_id, persons)
        detail: dict[str, Any] = {"erased": [{"personal": v.id, "field": v.field} for v in erased]}
        entry = AuditEntry(
            id=make_id(),
            tenant_id=tenant_id,
            subject_type=DOCUMENT,
            subject_id=str(document_id),
            action="erase_personal",
            actor_id=terms.actor_id,
            responsible=terms.responsible,
            via=terms.via,
            at=erased[0].erased_at,
            reason=terms.reason,
            trace_id=terms.trace_id,
            detail=detail | terms.describe_caller(),
            origin=terms.origin,
        )
        heads = read_heads(connection, tenant_id, [entry.subject])
        append_rows(connection, chain_all(heads, [entry], read_transaction(connection)))
        _ask_again(connection, tenant_id, document_id, erased[0].erased_at)
    return erasure


def _ask_again(connection: Connection, tenant_id: UUID, document_id: UUID, now: datetime) -> None:
    """Have people decide without the value: those who are asked, and who has decided by a request."""
    instance_id = find_live_instance(connection, tenant_id, document_id)
    if instance_id is None:
        return
    trigger = make_trigger(instance_id, "continue", {})
    request_id = find_deciding(connection, tenant_id, document_id)
    if request_id is not None:
        ended = {"id": str(request_id), "status": "superseded", "outcome": VALUES_ERASED}
        write_batch(connection, tenant_id, WriteBatch(ended_requests=[ended]), now=now)
        trigger = make_trigger(instance_id, REQUEST_WITHDRAWN, {"request": str(request_id)})
    insert_triggers(connection, tenant_id, [trigger])
