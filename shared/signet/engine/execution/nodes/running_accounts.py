"""The service accounts that the steps of a transaction run as, read once and only when a step needs one.

So are the keys that have asked for what the steps do.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from signet.core.runtime.projection import Actor
from signet.core.tenants.api_key import list_counting_roles
from signet.core.tenants.principal import KEY_PREFIX, SERVICE_PREFIX
from signet.core.tenants.service_accounts import UNUSABLE
from signet.engine.documents.unit_of_work import DocumentUnitOfWork
from signet.store.database import Connection
from signet.store.tenants.api_keys import read_running_key
from signet.store.tenants.service_accounts import (
    RunningAccountRow,
    find_running_problem,
    read_running_accounts,
)


@dataclass(frozen=True, slots=True)
class RunningAccount:
    """An account as an actor, with its roles of this moment, and the reason why it cannot act."""

    actor: Actor
    problem: str | None


@dataclass(slots=True)
class RunningAccounts:
    connection: Connection
    tenant_id: UUID
    documents: DocumentUnitOfWork
    _expected: set[str] = field(default_factory=set)
    _known: dict[str, RunningAccount] = field(default_factory=dict)
    _known_keys: dict[str, dict[str, Any] | None] = field(default_factory=dict)

    def expect(self, account_ids: Iterable[str]) -> None:
        """Note accounts that a step may need, so that one statement reads all of them."""
        self._expected.update(account_ids)

    def find(self, account_id: str) -> RunningAccount:
        known = self._known.get(account_id)
        if known is None:
            self._read(account_id)
            known = self._known[account_id]
        return known

    def find_key(self, subject: str) -> dict[str, Any] | None:
        """Return what a key may still do, in the form of a membership: that of its owner bounds it.

        A revoked key may have been replaced, and what it asked for goes on. None is answered where no key
        has this name, as for one that an older release knew by another.
        """
        if subject not in self._known_keys:
            self._known_keys[subject] = _read_key(self.connection, self.tenant_id, subject)
        return self._known_keys[subject]

    def _read(self, account_id: str) -> None:
        wanted = (self._expected | {account_id}) - self._known.keys()
        rows = read_running_accounts(self.connection, self.tenant_id, wanted)
        for name in wanted:
            self._known[name] = _make_account(name, rows.get(name))
        transaction = self.documents.transaction
        permissions = dict(transaction.permissions or {})
        for row in rows.values():
            permissions |= row.permissions
        self.documents.transaction = replace(transaction, permissions=permissions)


def _make_account(account_id: str, row: RunningAccountRow | None) -> RunningAccount:
    problem = find_running_problem(account_id, row)
    roles = tuple(row.roles) if row is not None and problem is None else ()
    actor = Actor(f"{SERVICE_PREFIX}{account_id}", roles)
    return RunningAccount(actor, None if problem is None else f"{UNUSABLE}: {problem}")


def _read_key(connection: Connection, tenant_id: UUID, subject: str) -> dict[str, Any] | None:
    try:
        row = read_running_key(connection, tenant_id, UUID(subject.removeprefix(KEY_PREFIX)))
    except ValueError:
        return None
    if row is None:
        return None
    roles = list_counting_roles(row.roles, row.permissions, row.owner_permissions)
    return {"status": row.owner_status, "roles": roles}
