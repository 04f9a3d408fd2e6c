"""Installing a tenant from its file: repeatable, and afterwards the file and the tables agree."""

from signet.core.tenancy import TenantFile
from signet.store.database import Database
from signet.store.tenants import save_members, save_roles, save_tenant


def install_tenant(database: Database, tenant: TenantFile) -> None:
    with database.transaction(tenant.tenant_id) as connection:
        save_tenant(connection, tenant)
        save_roles(connection, tenant.tenant_id, tenant.roles)
        save_members(connection, tenant.tenant_id, tenant.members)
