"""The service accounts that the steps of a transaction run as, read once and only when a step needs one."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from uuid import UUID

from signet.core.runtime.projection import Actor
from signet.core.tenants.principal import SERVICE_PREFIX
from signet.core.tenants.service_accounts import UNUSABLE
from signet.engine.documents.unit_of_work import DocumentUnitOfWork
from signet.store.database import Connection
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

    def expect(self, account_ids: Iterable[str]) -> None:
        """Note accounts that a step may need, so that one statement reads all of them."""
        self._expected.update(account_ids)

    def find(self, account_id: str) -> RunningAccount:
        known = self._known.get(account_id)
        if known is None:
            self._read(account_id)
            known = self._known[account_id]
        return known

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
