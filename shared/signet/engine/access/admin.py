"""What people do to the tenant itself: allowed by a permission, and noted in the audit trail."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any
from uuid import UUID

from signet.core.audit.trail import AuditEntry
from signet.core.errors import Rejected
from signet.core.tenants.caller import Caller
from signet.core.tenants.permissions import grants
from signet.engine.audit.trail import append_administration
from signet.ids import make_id
from signet.store.database import Connection, Database
from signet.store.documents.write import TransactionContext, lock_documents, parse_locked_documents


class AdminTransaction:
    """One transaction of one author."""

    def __init__(self, connection: Connection, caller: Caller, transaction: TransactionContext) -> None:
        self.connection = connection
        self.caller = caller
        self.now = transaction.now
        self.transaction = transaction
        self._permissions = transaction.permissions_of(caller.principal.roles)
        self._entries: list[AuditEntry] = []

    def may(self, permission: str) -> bool:
        return grants(self._permissions, permission)

    def require(self, permission: str) -> None:
        if not self.may(permission):
            raise Rejected("PERMISSION_DENIED", f"needs the permission '{permission}'")

    def note(
        self,
        subject: tuple[str, str],
        action: str,
        detail: Mapping[str, Any],
        *,
        reason: str | None = None,
        on_behalf_of: str | None = None,
    ) -> None:
        tenant_id = self.caller.principal.tenant_id
        self._entries.append(
            make_entry(
                self.caller,
                tenant_id,
                self.now,
                subject,
                action,
                detail,
                reason=reason,
                on_behalf_of=on_behalf_of,
            )
        )

    def write(self) -> None:
        append_administration(self.connection, self.caller.principal.tenant_id, self._entries)


def make_entry(
    caller: Caller,
    tenant_id: UUID,
    now: datetime,
    subject: tuple[str, str],
    action: str,
    detail: Mapping[str, Any],
    *,
    reason: str | None = None,
    on_behalf_of: str | None = None,
) -> AuditEntry:
    return AuditEntry(
        id=make_id(),
        tenant_id=tenant_id,
        subject_type=subject[0],
        subject_id=subject[1],
        action=action,
        actor_id=caller.principal.subject,
        on_behalf_of=on_behalf_of,
        via=caller.via,
        at=now,
        reason=reason,
        trace_id=caller.trace_id,
        detail=detail,
    )


@contextmanager
def administering(database: Database, caller: Caller) -> Iterator[AdminTransaction]:
    """What is noted in the block is written at its end."""
    opening = lock_documents([], caller.principal.roles)
    with database.pipelined(caller.principal.tenant_id, opening) as pipeline:
        _, transaction = parse_locked_documents(pipeline.first_row)
        if transaction is None:
            raise Rejected("TENANT_INACTIVE", "this tenant does not exist or is suspended")
        act = AdminTransaction(pipeline.connection, caller, transaction)
        yield act
        act.write()
