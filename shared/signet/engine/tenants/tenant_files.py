"""Installation of a tenant's file by the command line, on record and without undoing what people did since.

The file changes what it changed itself since it was last installed. An operator's `PUT` is another act: it
makes the tenant agree with what it says.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from signet.core.audit.trail import make_entry
from signet.core.errors import Rejected
from signet.core.moments.known_zones import require_known_zone
from signet.core.tenants.caller import Caller
from signet.core.tenants.eligibility_changes import ChangeAuthor
from signet.core.tenants.tenant_file import (
    MAX_ROLES,
    MAX_SERVICE_ACCOUNTS,
    Member,
    TenantFile,
    TenantSettings,
)
from signet.core.tenants.tenant_merge import (
    AccountState,
    MemberState,
    TenantMerge,
    TenantState,
    flatten_settings,
    merge_tenant,
    parse_state,
    state_of,
)
from signet.engine.audit.trail import append_administration
from signet.engine.tenants.install import write_members, write_roles
from signet.engine.tenants.self_grants import require_other_people
from signet.ids import make_id
from signet.store.audit.write import lock_administration
from signet.store.database import Connection, Database
from signet.store.tenants.people import is_above, list_roles
from signet.store.tenants.service_accounts import install_accounts, list_accounts
from signet.store.tenants.tenant_files import find_installed, find_named_members, save_installed
from signet.store.tenants.tenants import find_tenant, lock_roles, read_now, save_tenant


@dataclass(frozen=True, slots=True)
class InstalledFile:
    """The outcome: what was changed, and sentences about what differs from the file and stays."""

    changes: Mapping[str, Any]
    kept: Sequence[str]


def install_tenant_file(database: Database, caller: Caller, tenant: TenantFile) -> InstalledFile:
    """Install a file, and put on record what it changes; the same file again changes nothing."""
    require_known_zone(tenant.settings.time_zone, "/settings/time_zone")
    tenant_id, wanted = tenant.tenant_id, state_of(tenant)
    with database.transaction(tenant_id) as connection:
        # The second lock also holds where the tenant is not there yet.
        lock_administration(connection, tenant_id)
        lock_roles(connection, tenant_id)
        stored = find_installed(connection, tenant_id)
        installed = None if stored is None else parse_state(stored)
        merge = merge_tenant(installed, _read_state(connection, tenant_id, list(wanted.members)), wanted)
        _write(connection, tenant_id, merge, caller)
        save_installed(connection, tenant_id, wanted.to_json())
        if merge.changes:
            _note(connection, caller, tenant_id, merge)
    return InstalledFile(merge.changes, merge.kept)


def _read_state(connection: Connection, tenant_id: UUID, user_ids: Sequence[str]) -> TenantState | None:
    """Read the tenant as it is, with those members that the file names."""
    row = find_tenant(connection, tenant_id)
    if row is None:
        return None
    roles = list_roles(connection, tenant_id, "", MAX_ROLES)
    members = find_named_members(connection, tenant_id, user_ids)
    return TenantState(
        row.name,
        flatten_settings(TenantSettings.model_validate(row.settings)),
        {role.role: tuple(role.permissions) for role in roles},
        {
            member.user_id: MemberState(
                member.display_name, member.email, member.phone, member.manager_id, tuple(member.roles)
            )
            for member in members
        },
        {
            account.id: AccountState(account.label, account.owner_id, tuple(account.roles))
            for account in list_accounts(connection, tenant_id, "", MAX_SERVICE_ACCOUNTS)
        },
    )


def _write(connection: Connection, tenant_id: UUID, merge: TenantMerge, caller: Caller) -> None:
    if not merge.changes:
        return
    # Only what changes, so that roles and managers may be named that are not among it.
    changed = TenantFile.model_construct(
        tenant_id=tenant_id,
        name=merge.name,
        settings=merge.settings,
        roles=tuple(merge.roles),
        members=tuple(merge.members),
    )
    # A command line is nobody's person, and so the one who is claimed is taken at their word.
    claimed = () if caller.claimed is None else (caller.claimed,)
    persons = caller.principal.responsible | frozenset(claimed)
    require_other_people(connection, changed, persons)
    author = ChangeAuthor(caller.principal.subject, tuple(sorted(persons)))
    save_tenant(connection, changed)
    write_roles(connection, tenant_id, changed.roles, author)
    if merge.members:
        write_members(connection, tenant_id, changed.members, author)
        _require_no_circle(connection, tenant_id, merge.members)
    if merge.accounts:
        install_accounts(connection, tenant_id, merge.accounts, caller.principal.subject)


def _require_no_circle(connection: Connection, tenant_id: UUID, members: Sequence[Member]) -> None:
    """Refuse lines of the file that close a circle with lines that people have drawn since."""
    for member in members:
        if member.manager is not None and is_above(connection, tenant_id, member.user_id, member.manager):
            raise Rejected(
                "ORG_CHART_CYCLE",
                f"the reporting line of {member.user_id} would come back to them",
                remedy="Compare the managers in the file with the org chart as it is now.",
            )


def _note(connection: Connection, caller: Caller, tenant_id: UUID, merge: TenantMerge) -> None:
    subject = ("tenant", str(tenant_id))
    now = read_now(connection)
    entry = make_entry(make_id(), caller, tenant_id, now, subject, "install_tenant", merge.changes)
    append_administration(connection, tenant_id, [entry])
