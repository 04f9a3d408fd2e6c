"""Transactions that change the tenant itself: each act needs a permission and leaves an audit entry."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from signet.core.audit.trail import AuditEntry, Subject, make_entry
from signet.core.errors import Rejected
from signet.core.tenants.caller import Caller
from signet.core.tenants.permissions import grants
from signet.core.tenants.responsible import join_responsible
from signet.engine.audit.trail import append_administration
from signet.ids import make_id
from signet.store.database import Connection, Database
from signet.store.documents.write import TransactionContext, lock_statement, require_locked


class AdminTransaction:
    """A transaction of one caller."""

    def __init__(self, connection: Connection, caller: Caller, transaction: TransactionContext) -> None:
        self.connection = connection
        self.caller = caller
        self.now = transaction.now
        self.transaction = transaction
        principal = caller.principal
        self._permissions = [*transaction.permissions_of(principal.roles), *principal.own_permissions]
        self._entries: list[AuditEntry] = []
        # The caller with everybody who is responsible for the act.
        self.noted_as = caller
        self._noted_detail: Mapping[str, Any] = {}

    def may(self, permission: str) -> bool:
        return grants(self._permissions, permission)

    def require(self, permission: str) -> None:
        if not self.may(permission):
            raise Rejected("PERMISSION_DENIED", f"needs the permission '{permission}'")

    def answer_for(self, persons: Iterable[str], detail: Mapping[str, Any]) -> None:
        """Note from now on that these persons are responsible beside the caller, with this detail."""
        principal = self.caller.principal
        joined = replace(principal, behind=join_responsible(principal.behind, persons))
        self.noted_as, self._noted_detail = replace(self.caller, principal=joined), detail

    def note(
        self,
        subject: Subject,
        action: str,
        detail: Mapping[str, Any],
        *,
        reason: str | None = None,
        on_behalf_of: str | None = None,
    ) -> None:
        tenant_id = self.caller.principal.tenant_id
        self._entries.append(
            make_entry(
                make_id(),
                self.noted_as,
                tenant_id,
                self.now,
                subject,
                action,
                {**detail, **self._noted_detail},
                reason=reason,
                on_behalf_of=on_behalf_of,
            )
        )

    def write(self) -> None:
        append_administration(self.connection, self.caller.principal.tenant_id, self._entries)


def require_revision(revision: int, expected: int) -> None:
    """Refuse to act on a record that has changed since it was seen."""
    if revision != expected:
        raise Rejected(
            "DRAFT_VERSION_CONFLICT",
            f"it is at revision {revision}, not {expected}",
            remedy="Read it again, and send the ETag that it has now.",
            details={"current_version": revision},
        )


@contextmanager
def administering(database: Database, caller: Caller) -> Iterator[AdminTransaction]:
    """Open a transaction, and write its audit entries when the block ends."""
    opening = lock_statement([], caller.principal.roles)
    with database.pipelined(caller.principal.tenant_id, opening) as pipeline:
        transaction = require_locked(pipeline.first_row).transaction
        act = AdminTransaction(pipeline.connection, caller, transaction)
        yield act
        act.write()
