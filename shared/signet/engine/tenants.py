"""Installing a tenant from its file: repeatable, and afterwards the file and the tables agree."""

from uuid import UUID

from signet.core.errors import Rejected
from signet.core.principal import Principal
from signet.core.tenancy import TenantFile
from signet.engine.waves.recounting import make_role_lost
from signet.store.approval_requests import insert_triggers
from signet.store.database import Database
from signet.store.tenants import find_member_roles, save_members, save_roles, save_tenant


def install_tenant(database: Database, tenant: TenantFile) -> None:
    with database.transaction(tenant.tenant_id) as connection:
        save_tenant(connection, tenant)
        save_roles(connection, tenant.tenant_id, tenant.roles)
        lost = save_members(connection, tenant.tenant_id, tenant.members)
        triggers = [make_role_lost(tenant.tenant_id, role) for role in sorted(lost)]
        insert_triggers(connection, tenant.tenant_id, triggers)


def find_principal(database: Database, tenant_id: UUID, user_id: str) -> Principal:
    """A member with the roles of this moment: for who comes without a token that names them."""
    with database.transaction(tenant_id) as connection:
        roles = find_member_roles(connection, tenant_id, user_id)
    if roles is None:
        raise Rejected("MEMBER_NOT_FOUND", f"the tenant has no active member '{user_id}'")
    return Principal(tenant_id, user_id, tuple(roles))
