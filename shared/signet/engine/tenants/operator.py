"""Tenants as operators of the deployment manage them: installed, suspended, granted quotas.

An operator has a token with the role that settings name. No tenant can give that as a permission, and a key
never has it. Each act is noted in the audit trail of the tenant that it is about.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from signet.core.audit.trail import make_entry
from signet.core.errors import Rejected
from signet.core.tenants.caller import Caller
from signet.core.tenants.eligibility_changes import author_of
from signet.core.tenants.principal import NO_TENANT
from signet.core.tenants.quotas import Quota
from signet.core.tenants.tenant_file import TenantContent, TenantFile
from signet.engine.access.command_line import VIA as COMMAND_LINE
from signet.engine.access.quotas import QuotaLevel, list_quota_levels, require_quota_name
from signet.engine.audit.trail import append_administration
from signet.engine.documents.command_checks import check_reason
from signet.engine.tenants.install import write_tenant
from signet.engine.tenants.self_grants import require_other_people
from signet.ids import make_id
from signet.store.audit.write import lock_administration
from signet.store.database import Connection, Database
from signet.store.tenants.quotas import grant_quota, withdraw_quota
from signet.store.tenants.tenants import TenantRecord, find_tenant_record, read_now, set_tenant_status

TenantStatus = Literal["active", "suspended"]
VIA = "operator"


@dataclass(frozen=True, slots=True)
class TenantAccess:
    """A transaction of one operator on one tenant."""

    connection: Connection
    caller: Caller
    tenant_id: UUID
    now: datetime

    def read(self) -> TenantRecord:
        record = find_tenant_record(self.connection, self.tenant_id)
        if record is None:
            raise Rejected("TENANT_NOT_FOUND", f"there is no tenant {self.tenant_id}")
        return record

    def note(self, action: str, detail: Mapping[str, Any], reason: str | None = None) -> None:
        subject = ("tenant", str(self.tenant_id))
        entry = make_entry(
            make_id(), self.caller, self.tenant_id, self.now, subject, action, detail, reason=reason
        )
        append_administration(self.connection, self.tenant_id, [entry])


@dataclass(frozen=True, slots=True)
class TenantOperator:
    database: Database

    def read(self, caller: Caller, tenant_id: UUID) -> TenantRecord:
        with open_tenant(self.database, caller, tenant_id) as act:
            return act.read()

    def install(self, caller: Caller, tenant_id: UUID, content: TenantContent) -> TenantRecord:
        """Create a tenant, or make it agree with this; roles and members not named here stay.

        Operators change nothing of their own there: roles, reporting lines, or a role that they hold.
        """
        if tenant_id == NO_TENANT:
            raise Rejected("TENANT_NOT_FOUND", "no tenant has this id")
        tenant = TenantFile(tenant_id=tenant_id, **dict(content))
        with open_tenant(self.database, caller, tenant_id) as act:
            require_other_people(act.connection, tenant, caller.principal.responsible)
            write_tenant(act.connection, tenant, author_of(caller))
            detail = {
                "name": tenant.name,
                "settings": act.read().settings,
                "roles": {role.role: list(role.permissions) for role in tenant.roles},
                "members": {member.user_id: list(member.roles) for member in tenant.members},
                "service_accounts": {account.id: list(account.roles) for account in tenant.service_accounts},
            }
            act.note("install_tenant", detail)
            return act.read()

    def set_status(
        self, caller: Caller, tenant_id: UUID, status: TenantStatus, reason: str | None = None
    ) -> TenantRecord:
        """Set the status of a tenant.

        Nothing of a suspended tenant is read, written or moved; on activation it goes on where it was.
        """
        rejected = check_reason(reason)
        if rejected is not None:
            raise rejected
        with open_tenant(self.database, caller, tenant_id) as act:
            lock_administration(act.connection, tenant_id)
            act.read()
            if set_tenant_status(act.connection, tenant_id, status, act.now):
                act.note("suspend_tenant" if status == "suspended" else "resume_tenant", {}, reason)
            return act.read()

    def list_quotas(self, caller: Caller, tenant_id: UUID) -> list[QuotaLevel]:
        with open_tenant(self.database, caller, tenant_id) as act:
            act.read()
            return list_quota_levels(act.connection, tenant_id)

    def grant_quota(self, caller: Caller, tenant_id: UUID, quota: Quota) -> list[QuotaLevel]:
        with open_tenant(self.database, caller, tenant_id) as act:
            act.read()
            require_quota_name(quota.name)
            grant_quota(act.connection, tenant_id, quota)
            detail = {
                "name": quota.name,
                "capacity": quota.capacity,
                "refill_seconds": quota.refill_seconds,
            }
            act.note("grant_quota", detail)
            return list_quota_levels(act.connection, tenant_id)

    def withdraw_quota(self, caller: Caller, tenant_id: UUID, name: str) -> list[QuotaLevel]:
        """Withdraw a granted quota, so that the default holds again."""
        with open_tenant(self.database, caller, tenant_id) as act:
            act.read()
            require_quota_name(name)
            if withdraw_quota(act.connection, tenant_id, name):
                act.note("withdraw_quota", {"name": name})
            return list_quota_levels(act.connection, tenant_id)


@contextmanager
def open_tenant(database: Database, caller: Caller, tenant_id: UUID) -> Iterator[TenantAccess]:
    """Open a transaction of an operator on any tenant."""
    if not caller.principal.is_operator:
        raise Rejected("PERMISSION_DENIED", "only an operator of this deployment may do this")
    with database.transaction(tenant_id) as connection:
        yield TenantAccess(connection, _mark(caller), tenant_id, read_now(connection))


def _mark(caller: Caller) -> Caller:
    """Name the channel of an operator; a command line keeps its own."""
    return caller if caller.via == COMMAND_LINE else replace(caller, via=VIA)
