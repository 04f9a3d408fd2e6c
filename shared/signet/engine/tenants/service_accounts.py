"""Service accounts: what steps of definitions run as, where that is neither a person nor the system.

An account has roles and an owner, and no secret. It acts only through definitions that name it. It is no
member: it never votes, holds no seat and takes no delegation. Where the tenant wants two people, one proposes
a change and another confirms it; one person alone may disable an account.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from signet.core.control.change import ControlKind
from signet.core.errors import Defect, FieldError, Rejected
from signet.core.tenants.caller import Caller
from signet.core.tenants.principal import Principal
from signet.core.tenants.tenant_file import MAX_SERVICE_ACCOUNTS, ServiceAccount
from signet.engine.access.admin import AdminTransaction, administering
from signet.engine.access.read import reading
from signet.engine.access.seen_versions import require_seen
from signet.engine.control.changes import change_is_stale
from signet.engine.control.four_eyes import wants_two_people
from signet.engine.control.proposals import ControlChange, ControlProposal, propose, supersede
from signet.engine.documents.command_checks import check_reason
from signet.engine.tenants.role_grants import require_roles
from signet.engine.tenants.roles import roles_have_changed
from signet.store.audit.write import lock_administration
from signet.store.database import Connection, Database
from signet.store.tenants import people
from signet.store.tenants import service_accounts as store
from signet.store.tenants.service_accounts import AccountStatus as AccountStatus
from signet.store.tenants.service_accounts import ServiceAccountRecord as ServiceAccountRecord

READ, EDIT = "service_account:read", "service_account:edit"
SUBJECT: ControlKind = "service_account"


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
    ) -> SavedAccount | ControlChange:
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
            given = _list_given(before, new, status)
            require_roles(act, given)
            if not _stops(before, new, status) and wants_two_people(act):
                what, version = ("create", 0) if before is None else ("replace", before.version)
                body = _write(new.label, new.roles, new.owner, status)
                return _propose(act, new.id, what, body, version, reason, given)
            supersede(act, SUBJECT, new.id)
            return _save(act, before, new, status, created_by=caller.principal.subject, reason=reason)

    # --- changes that wait for another person ---

    read_control_permission, change_control_permission = READ, EDIT

    def read_in_force(self, connection: Connection, tenant_id: UUID, change: ControlChange) -> dict[str, Any]:
        before = store.find_account(connection, tenant_id, change.name)
        if before is None:
            return {}
        return {**_write_record(before), "permissions": read_granted(connection, tenant_id, before.roles)}

    def apply_change(self, act: AdminTransaction, change: ControlChange) -> None:
        act.require(EDIT)
        before = store.find_account(act.connection, act.caller.principal.tenant_id, change.name)
        version = before.version if before is not None else 0
        if version != change.base_version:
            raise change_is_stale(change, version)
        body, pinned = change.body, change.body.get("permissions", {})
        granted = read_granted(act.connection, act.caller.principal.tenant_id, body["roles"])
        changed = [role for role in granted if granted[role] != pinned.get(role)]
        if changed:
            raise roles_have_changed(changed)
        new = ServiceAccount(
            id=change.name, label=body["label"], roles=tuple(body["roles"]), owner=body["owner_id"]
        )
        _require_owner(act, new.owner)
        require_roles(act, _list_given(before, new, body["status"]))
        _save(act, before, new, body["status"], created_by=change.proposed_by, reason=change.reason)


def propose_owner(act: AdminTransaction, account_id: str, owner_id: str) -> None:
    """Propose that another member owns an account, under the lock of the administration."""
    before = store.find_account(act.connection, act.caller.principal.tenant_id, account_id)
    if before is not None:
        body = {**_write_record(before), "owner_id": owner_id}
        _propose(act, account_id, "replace", body, before.version)


def read_granted(connection: Connection, tenant_id: UUID, roles: Sequence[str]) -> dict[str, list[str]]:
    """Read the permissions of roles, by role, in the order of their names."""
    found = people.find_roles(connection, tenant_id, roles)
    return {record.role: sorted(record.permissions) for record in sorted(found, key=lambda one: one.role)}


def _propose(
    act: AdminTransaction,
    account_id: str,
    what: str,
    body: Mapping[str, Any],
    version: int,
    reason: str | None = None,
    given: Collection[str] = (),
) -> ControlChange:
    """Propose the account together with what its roles permit now: that is shown, and confirmed with it."""
    granted = read_granted(act.connection, act.caller.principal.tenant_id, body["roles"])
    pinned = {**body, "permissions": granted}
    needed = {permission for role in given for permission in granted.get(role, ())}
    return propose(act, ControlProposal(SUBJECT, account_id, what, pinned, version, EDIT, reason, needed))


def _save(
    act: AdminTransaction,
    before: ServiceAccountRecord | None,
    new: ServiceAccount,
    status: AccountStatus,
    *,
    created_by: str,
    reason: str | None,
) -> SavedAccount:
    tenant_id = act.caller.principal.tenant_id
    store.save_account(act.connection, tenant_id, new, status, created_by, act.now)
    saved = store.find_account(act.connection, tenant_id, new.id)
    if saved is None:
        raise Defect("SERVICE_ACCOUNT_LOST", "a service account was not written")
    _note(act, before, saved, reason)
    return SavedAccount(saved, is_new=before is None)


def _stops(before: ServiceAccountRecord | None, new: ServiceAccount, status: AccountStatus) -> bool:
    """Return whether nothing changes, or the account is only disabled: one person may do so."""
    if before is None:
        return False
    wanted = _write(new.label, new.roles, new.owner, status)
    return wanted in (_write_record(before), {**_write_record(before), "status": "disabled"})


def _write_record(record: ServiceAccountRecord) -> dict[str, Any]:
    return _write(record.label, record.roles, record.owner_id, record.status)


def _write(label: str, roles: Sequence[str], owner_id: str, status: AccountStatus) -> dict[str, Any]:
    return {"label": label, "roles": list(roles), "owner_id": owner_id, "status": status}


def _require_version(before: ServiceAccountRecord | None, account_id: str, expected: int | None) -> None:
    if before is None:
        if expected is not None:
            raise _not_found(account_id)
        return
    what = f"the service account '{account_id}'"
    require_seen(what, "SERVICE_ACCOUNT_VERSION_CONFLICT", before.version, expected)


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
    act.note((SUBJECT, saved.id), "save_service_account", detail, reason=reason)


def _not_found(account_id: str) -> Rejected:
    return Rejected("SERVICE_ACCOUNT_NOT_FOUND", f"there is no service account '{account_id}'")
