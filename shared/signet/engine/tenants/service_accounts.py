"""Service accounts: what steps of definitions run as, where that is neither a person nor the system.

An account has roles and an owner, and no secret. It acts only through definitions that name it. It is no
member: it never votes, holds no seat and takes no delegation.
"""

from dataclasses import dataclass

from signet.core.errors import Defect, FieldError, Rejected
from signet.core.tenants.caller import Caller
from signet.core.tenants.principal import Principal
from signet.core.tenants.tenant_file import MAX_SERVICE_ACCOUNTS, ServiceAccount
from signet.engine.access.admin import AdminTransaction, administering
from signet.engine.access.read import reading
from signet.engine.documents.command_checks import check_reason
from signet.engine.tenants.role_grants import require_roles
from signet.store.audit.write import lock_administration
from signet.store.database import Database
from signet.store.tenants import people
from signet.store.tenants import service_accounts as store
from signet.store.tenants.service_accounts import AccountStatus as AccountStatus
from signet.store.tenants.service_accounts import ServiceAccountRecord as ServiceAccountRecord

READ, EDIT = "service_account:read", "service_account:edit"


@dataclass(frozen=True, slots=True)
class SavedAccount:
    account: ServiceAccountRecord
    is_new: bool


@dataclass(frozen=True, slots=True)
class ServiceAccounts:
    database: Database

    def list(self, principal: Principal, after: str, limit: int) -> list[ServiceAccountRecord]:
        """List accounts, also disabled ones."""
        with reading(self.database, principal) as read:
            read.require(READ)
            return store.list_accounts(read.connection, principal.tenant_id, after, limit)

    def read(self, principal: Principal, account_id: str) -> ServiceAccountRecord:
        """Read an account. A missing one and a forbidden one get the same answer."""
        with reading(self.database, principal) as read:
            account = store.find_account(read.connection, principal.tenant_id, account_id)
            if account is None or not read.may(READ):
                raise _not_found(account_id)
            return account

    def save(
        self,
        caller: Caller,
        new: ServiceAccount,
        status: AccountStatus,
        expected_version: int | None,
        reason: str | None = None,
    ) -> SavedAccount:
        """Make an account, or change the version that was seen to exactly these values."""
        refused = check_reason(reason)
        if refused is not None:
            raise refused
        tenant_id = caller.principal.tenant_id
        with administering(self.database, caller) as act:
            act.require(EDIT)
            lock_administration(act.connection, tenant_id)
            before = store.find_account(act.connection, tenant_id, new.id)
            _require_version(before, new.id, expected_version)
            if before is None and store.count_accounts(act.connection, tenant_id) >= MAX_SERVICE_ACCOUNTS:
                raise Rejected(
                    "SERVICE_ACCOUNT_TOO_MANY",
                    f"a tenant has at most {MAX_SERVICE_ACCOUNTS} service accounts, disabled ones included",
                    remedy="Give an account that is there these roles, and this label.",
                )
            _require_owner(act, new.owner)
            require_roles(act, _list_given(before, new, status))
            store.save_account(act.connection, tenant_id, new, status, caller.principal.subject, act.now)
            saved = store.find_account(act.connection, tenant_id, new.id)
            if saved is None:
                raise Defect("SERVICE_ACCOUNT_LOST", "a service account was not written")
            _note(act, before, saved, reason)
        return SavedAccount(saved, is_new=before is None)


def _require_version(before: ServiceAccountRecord | None, account_id: str, expected: int | None) -> None:
    if before is None:
        if expected is not None:
            raise _not_found(account_id)
        return
    if expected is None:
        raise Rejected(
            "VERSION_MISSING",
            f"the service account '{account_id}' exists: the request does not say which version was seen",
            remedy="Read the account first, and send the ETag of that answer as If-Match.",
        )
    if before.version != expected:
        raise Rejected(
            "SERVICE_ACCOUNT_VERSION_CONFLICT",
            f"the service account is at version {before.version}, not {expected}",
            remedy="Read it again, and decide on what it says now.",
        )


def _require_owner(act: AdminTransaction, owner_id: str) -> None:
    owner = people.find_member(act.connection, act.caller.principal.tenant_id, owner_id)
    if owner is None or owner.status != "active":
        mistake = FieldError("/owner_id", "MEMBER_UNKNOWN", "wants an active member")
        raise Rejected("FIELDS_INVALID", "the owner is no active member", fields=(mistake,))


def _list_given(before: ServiceAccountRecord | None, new: ServiceAccount, status: AccountStatus) -> list[str]:
    """List the roles that begin to count, or would on reactivation."""
    counts = before is not None and (before.status == "active" or status == "disabled")
    held = before.roles if before is not None and counts else []
    return [role for role in new.roles if role not in held]


def _note(
    act: AdminTransaction,
    before: ServiceAccountRecord | None,
    saved: ServiceAccountRecord,
    reason: str | None,
) -> None:
    detail = {
        "version": saved.version,
        "label": saved.label,
        "status": saved.status,
        "owner_before": before.owner_id if before is not None else None,
        "owner": saved.owner_id,
        "roles_before": before.roles if before is not None else [],
        "roles": saved.roles,
    }
    act.note(("service_account", saved.id), "save_service_account", detail, reason=reason)


def _not_found(account_id: str) -> Rejected:
    return Rejected("SERVICE_ACCOUNT_NOT_FOUND", f"there is no service account '{account_id}'")
