"""Roles of a tenant: names for permissions, held by tokens, members, keys and service accounts.

What an active service account may do is part of the control. Where the tenant wants two people, one proposes
permissions for a role of such an account, and another confirms them. One person alone may take some away.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from signet.core.approvals.deciding_roles import NamedPolicy
from signet.core.control.change import ControlKind
from signet.core.errors import Rejected
from signet.core.tenants.caller import Caller
from signet.core.tenants.eligibility_changes import author_of
from signet.core.tenants.principal import Principal
from signet.core.tenants.tenant_file import MAX_ROLES, Role
from signet.engine.access.admin import AdminTransaction, administering
from signet.engine.access.read import reading
from signet.engine.access.seen_versions import ANY_VERSION, require_seen_or_new
from signet.engine.control.four_eyes import wants_two_people
from signet.engine.control.proposals import ControlChange, ControlProposal, propose, supersede
from signet.engine.tenants.deciding_roles import read_deciding_roles
from signet.engine.tenants.install import write_roles
from signet.engine.tenants.role_grants import keeping_an_administrator, require_held_permissions
from signet.engine.tenants.self_grants import require_role_of_others
from signet.store.database import Connection, Database
from signet.store.tenants import people
from signet.store.tenants.people import RoleRecord
from signet.store.tenants.service_accounts import is_role_of_running_account

READ_ROLES, EDIT_ROLES = "role:read", "role:edit"
KIND: ControlKind = "role"
VERSION_CONFLICT = "ROLE_VERSION_CONFLICT"


@dataclass(frozen=True, slots=True)
class ShownRole:
    """A role; it is `deciding` where published policies name it."""

    role: str
    permissions: Sequence[str]
    created_at: datetime
    updated_at: datetime
    deciding: bool
    version: int
    # At most 20 of them.
    policies: Sequence[NamedPolicy]


@dataclass(frozen=True, slots=True)
class SavedRole:
    role: ShownRole
    is_new: bool


@dataclass(frozen=True, slots=True)
class Roles:
    database: Database

    def list(self, principal: Principal, after: str, limit: int) -> list[ShownRole]:
        with reading(self.database, principal) as read:
            read.require(READ_ROLES)
            records = people.list_roles(read.connection, principal.tenant_id, after, limit)
            deciding = read_deciding_roles(read.connection, principal.tenant_id)
            return [_show(record, deciding) for record in records]

    def read(self, principal: Principal, role: str) -> ShownRole:
        with reading(self.database, principal) as read:
            read.require(READ_ROLES)
            records = people.find_roles(read.connection, principal.tenant_id, [role])
            if not records:
                raise _not_found(role)
            return _show(records[0], read_deciding_roles(read.connection, principal.tenant_id))

    def save(
        self,
        caller: Caller,
        role: str,
        permissions: Sequence[str],
        expected_version: int | None = ANY_VERSION,
    ) -> SavedRole | ControlChange:
        """Create a role, or set exactly these permissions; they hold from the next request on.

        Where the tenant wants two people, another person confirms what a service account gains by it.
        """
        wanted = tuple(dict.fromkeys(permissions))
        with administering(self.database, caller) as act:
            act.require(EDIT_ROLES)
            with keeping_an_administrator(act):
                before = _find(act, role)
                had = list(before.permissions) if before else None
                _check(act, role, had, wanted)
                current = before.version if before else None
                require_seen_or_new(f"the role '{role}'", VERSION_CONFLICT, current, expected_version)
                if _gives_to_an_account(act, role, had, wanted) and wants_two_people(act):
                    body = {"permissions": list(wanted), "permissions_before": had}
                    needed = _list_judged(had or (), wanted)
                    change = ControlProposal(KIND, role, "replace", body, 0, EDIT_ROLES, needed=needed)
                    return propose(act, change)
                supersede(act, KIND, role)
                _save(act, role, had, wanted)
            return SavedRole(_read_role(act, role), is_new=before is None)

    # --- changes that wait for another person ---

    read_control_permission, change_control_permission = READ_ROLES, EDIT_ROLES

    def read_in_force(self, connection: Connection, tenant_id: UUID, change: ControlChange) -> dict[str, Any]:
        had = [list(found.permissions) for found in people.find_roles(connection, tenant_id, [change.name])]
        return {"permissions": had[0], "permissions_before": had[0]} if had else {}

    def apply_change(self, act: AdminTransaction, change: ControlChange) -> None:
        act.require(EDIT_ROLES)
        role, wanted = change.name, change.body["permissions"]
        with keeping_an_administrator(act):
            before = _find(act, role)
            had = list(before.permissions) if before else None
            if had != change.body["permissions_before"]:
                raise roles_have_changed([role])
            _check(act, role, had, wanted)
            _save(act, role, had, wanted)

    def delete(self, caller: Caller, role: str) -> None:
        """Delete a role that nobody holds and no policy asks: the next role of that name would be theirs."""
        tenant_id = caller.principal.tenant_id
        with administering(self.database, caller) as act:
            act.require(EDIT_ROLES)
            with keeping_an_administrator(act):
                records = people.find_roles(act.connection, tenant_id, [role])
                if not records:
                    raise _not_found(role)
                require_role_of_others(act, role)
                if people.is_role_held(act.connection, tenant_id, role):
                    raise Rejected(
                        "ROLE_IN_USE",
                        f"members, keys or service accounts have the role '{role}'",
                        remedy="Take it from them first.",
                    )
                require_held_permissions(act, role, records[0].permissions)
                _require_no_policy(act, role)
                supersede(act, KIND, role)
                people.delete_role(act.connection, tenant_id, role, author_of(caller))
            act.note(("role", role), "delete_role", {"permissions_before": records[0].permissions})


def _require_no_policy(act: AdminTransaction, role: str) -> None:
    """Refuse to delete a role that published policies name: what they ask could not be decided any more."""
    policies = read_deciding_roles(act.connection, act.caller.principal.tenant_id).get(role)
    if policies:
        named = ", ".join(f"{policy.kind} '{policy.name}' version {policy.version}" for policy in policies)
        raise Rejected(
            "ROLE_IN_USE",
            f"published policies name the role '{role}': {named}",
            remedy="Publish versions that name another role first.",
        )


def roles_have_changed(roles: Sequence[str]) -> Rejected:
    """Make the refusal of a proposed change that was read with other permissions of these roles."""
    return Rejected(
        "CONTROL_CHANGE_ROLES_CHANGED",
        f"roles grant something else than when this was proposed: {', '.join(roles)}",
        remedy="Reject or withdraw it, and propose the change again.",
    )


def _find(act: AdminTransaction, role: str) -> RoleRecord | None:
    found = people.find_roles(act.connection, act.caller.principal.tenant_id, [role])
    return found[0] if found else None


def _not_found(role: str) -> Rejected:
    return Rejected("ROLE_NOT_FOUND", f"there is no role '{role}'")


def _check(act: AdminTransaction, role: str, had: Sequence[str] | None, wanted: Sequence[str]) -> None:
    """Refuse what the caller may not make of the role."""
    require_role_of_others(act, role)
    require_held_permissions(act, role, _list_judged(had or (), wanted))
    if had is None and people.count_roles(act.connection, act.caller.principal.tenant_id) >= MAX_ROLES:
        raise Rejected("ROLE_TOO_MANY", f"a tenant has at most {MAX_ROLES} roles")


def _gives_to_an_account(
    act: AdminTransaction, role: str, had: Sequence[str] | None, wanted: Sequence[str]
) -> bool:
    """Return whether a service account that may act gains permissions by it."""
    tenant_id = act.caller.principal.tenant_id
    return not set(wanted) <= set(had or ()) and is_role_of_running_account(act.connection, tenant_id, role)


def _save(act: AdminTransaction, role: str, had: Sequence[str] | None, wanted: Sequence[str]) -> None:
    """Set the permissions, for which everybody behind the act is responsible."""
    if had == list(wanted):
        return
    tenant_id, author = act.caller.principal.tenant_id, author_of(act.noted_as)
    write_roles(act.connection, tenant_id, (Role(role=role, permissions=tuple(wanted)),), author)
    act.note(("role", role), "save_role", {"permissions_before": had or [], "permissions": list(wanted)})


def _read_role(act: AdminTransaction, role: str) -> ShownRole:
    tenant_id = act.caller.principal.tenant_id
    (saved,) = people.find_roles(act.connection, tenant_id, [role])
    return _show(saved, read_deciding_roles(act.connection, tenant_id))


def _list_judged(had: Sequence[str], wanted: Sequence[str]) -> list[str]:
    """List the permissions that the caller needs: what is added, and the whole role if it loses any.

    Otherwise a role could be emptied and then taken by a person who may do nothing of it.
    """
    added = [permission for permission in wanted if permission not in had]
    return added if set(had) <= set(wanted) else [*added, *had]


def _show(record: RoleRecord, deciding: Mapping[str, Sequence[NamedPolicy]]) -> ShownRole:
    policies = deciding.get(record.role, ())
    return ShownRole(
        record.role,
        record.permissions,
        record.created_at,
        record.updated_at,
        bool(policies),
        record.version,
        policies,
    )
