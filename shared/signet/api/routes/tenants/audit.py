"""The route of the tenant's own audit trail."""

from uuid import UUID

from signet.api.http.call import Call
from signet.api.http.cursors import Page, count_fitting, make_page, parse_position
from signet.api.http.parameters import PAGE, Cursor, Limit
from signet.api.http.routing import Routes
from signet.engine.tenants.trail import TenantAuditRecord


def add_tenant_audit_routes(routes: Routes) -> None:
    @routes.get("/v1/audit", "The audit trail of the tenant itself", Page[TenantAuditRecord])
    def list_tenant_audit(call: Call, limit: Limit = PAGE, cursor: Cursor = None) -> Page[TenantAuditRecord]:
        """List what was done to members, roles, delegations, settings and the like, the newest first."""
        before = parse_position(cursor, "audit", UUID)
        records = call.use.tenant_trail.list(call.principal, before=before, limit=limit + 1)
        return make_page(records, count_fitting(records, limit), lambda record: (record.id,), "audit")
