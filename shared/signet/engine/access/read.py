"""Read transactions: the permissions of the caller are known before anything is looked at."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import UUID

from signet.core.errors import Rejected
from signet.core.tenants.permissions import grants
from signet.core.tenants.principal import Principal
from signet.store.database import Connection, Database
from signet.store.documents.write import TransactionContext, lock_statement, require_locked

MAX_PAGE = 200
# A list with the newest first begins here, after every id.
LAST = UUID(int=2**128 - 1)


def bound_page(limit: int) -> int:
    """Return the rows to read for a page: one more than it shows says whether another page follows."""
    return max(1, min(limit, MAX_PAGE + 1))


@dataclass(frozen=True, slots=True)
class ReadTransaction:
    """A transaction of one principal that locks nothing."""

    connection: Connection
    principal: Principal
    transaction: TransactionContext

    @property
    def permissions(self) -> list[str]:
        return [*self.transaction.permissions_of(self.principal.roles), *self.principal.own_permissions]

    def may(self, permission: str) -> bool:
        return grants(self.permissions, permission)

    def require(self, permission: str) -> None:
        if not self.may(permission):
            raise Rejected("PERMISSION_DENIED", f"needs the permission '{permission}'")


@contextmanager
def reading(database: Database, principal: Principal) -> Iterator[ReadTransaction]:
    with database.pipelined(principal.tenant_id, lock_statement([], principal.roles)) as pipeline:
        transaction = require_locked(pipeline.first_row).transaction
        yield ReadTransaction(pipeline.connection, principal, transaction)
