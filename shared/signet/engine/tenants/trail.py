"""Reading of the audit trail of the tenant itself: of its members, roles, delegations and the like."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from signet.core.tenants.principal import Principal
from signet.engine.access.read import LAST, bound_page, reading
from signet.store.audit.tenant_trail import TenantAuditRecord as TenantAuditRecord
from signet.store.audit.tenant_trail import list_of_tenant
from signet.store.database import Database

READ_TRAIL = "tenant:audit"


@dataclass(frozen=True, slots=True)
class TenantTrail:
    database: Database

    def list(
        self, principal: Principal, *, before: UUID | None = None, limit: int = 50
    ) -> Sequence[TenantAuditRecord]:
        """List the rows about the tenant, the newest first. Those of documents want other permissions."""
        with reading(self.database, principal) as read:
            read.require(READ_TRAIL)
            page = bound_page(limit)
            return list_of_tenant(read.connection, principal.tenant_id, before or LAST, page)


def list_trail(
    database: Database, tenant_id: UUID, *, before: UUID | None = None, limit: int = 50
) -> Sequence[TenantAuditRecord]:
    """List the same for a command on the server itself, which has no caller."""
    with database.snapshot(tenant_id) as connection:
        return list_of_tenant(connection, tenant_id, before or LAST, bound_page(limit))
