"""A tenant made to agree with a content, and members written. `tenant_files` installs what has changed."""

from datetime import datetime
from uuid import UUID

from signet.core.errors import Rejected
from signet.core.moments.known_zones import require_known_zone
from signet.core.tenants.eligibility_changes import ChangeAuthor
from signet.core.tenants.principal import SYSTEM_SUBJECT, Principal
from signet.core.tenants.tenant_file import Member, Role, TenantFile
from signet.core.tenants.tenant_merge import state_of
from signet.engine.approvals.lost_approvers import make_permission_lost, make_voter_lost
from signet.engine.calendars.followers import wake_followers_of_settings
from signet.engine.tenants.look_alikes import require_clear_ids
from signet.store.database import Connection, Database
from signet.store.outbox.queue import insert_triggers
from signet.store.tenants.people import set_member_status
from signet.store.tenants.service_accounts import install_accounts
from signet.store.tenants.tenant_files import save_installed
from signet.store.tenants.tenants import find_member_roles, lock_roles, save_members, save_roles, save_tenant


def install_tenant(database: Database, tenant: TenantFile, author: ChangeAuthor) -> None:
    """Make a tenant agree with its file, off the record: for stages that are made afresh."""
    with database.transaction(tenant.tenant_id) as connection:
        write_tenant(connection, tenant, author)


def write_tenant(connection: Connection, tenant: TenantFile, author: ChangeAuthor) -> None:
    require_known_zone(tenant.settings.time_zone, "/settings/time_zone")
    save_tenant(connection, tenant)
    wake_followers_of_settings(connection, tenant.tenant_id)
    write_roles(connection, tenant.tenant_id, tenant.roles, author)
    write_members(connection, tenant.tenant_id, tenant.members, author)
    if tenant.service_accounts:
        install_accounts(connection, tenant.tenant_id, tenant.service_accounts, SYSTEM_SUBJECT)
    save_installed(connection, tenant.tenant_id, state_of(tenant).to_json())


def write_roles(
    connection: Connection, tenant_id: UUID, roles: tuple[Role, ...], author: ChangeAuthor
) -> None:
    """Write roles with their permissions. Open requests are checked again where one loses any."""
    lock_roles(connection, tenant_id)
    lost = save_roles(connection, tenant_id, roles, author)
    insert_triggers(connection, tenant_id, [make_permission_lost(tenant_id, role) for role in sorted(lost)])


def write_members(
    connection: Connection, tenant_id: UUID, members: tuple[Member, ...], author: ChangeAuthor
) -> None:
    """Write members with their roles; no other code gives or takes roles.

    Who loses a role loses its permissions too. So other seats are checked again as well: those of the roles
    that they keep, and their own.
    """
    lock_roles(connection, tenant_id)
    require_clear_ids(connection, tenant_id, [member.user_id for member in members])
    lost = save_members(connection, tenant_id, members, author)
    losers = {user_id for user_id, _ in lost}
    kept = {role for member in members if member.user_id in losers for role in member.roles}
    asked = sorted(kept.union(role for _, role in lost))
    triggers = [make_voter_lost(tenant_id, role=role) for role in asked]
    triggers += [make_voter_lost(tenant_id, user_id=user_id) for user_id in sorted(losers)]
    insert_triggers(connection, tenant_id, triggers)


def write_member_status(
    connection: Connection,
    tenant_id: UUID,
    user_id: str,
    status: str,
    now: datetime,
    author: ChangeAuthor,
) -> None:
    """Write the status of a member. Call it after `write_members`, under its lock.

    A disabled member keeps roles and seats, but can use none of them.
    """
    roles = set_member_status(connection, tenant_id, user_id, status, now, author)
    if roles is not None and status == "disabled":
        triggers = [make_voter_lost(tenant_id, role=role) for role in sorted(roles)]
        insert_triggers(connection, tenant_id, [*triggers, make_voter_lost(tenant_id, user_id=user_id)])


def read_principal(database: Database, tenant_id: UUID, user_id: str) -> Principal:
    """Find a member with the roles of this moment, for callers without a token that names them."""
    with database.transaction(tenant_id) as connection:
        roles = find_member_roles(connection, tenant_id, user_id)
    if roles is None:
        raise Rejected("MEMBER_NOT_FOUND", f"the tenant has no active member '{user_id}'")
    return Principal(tenant_id, user_id, tuple(roles))
