"""Roles of a tenant: names for permissions, held by tokens, members and keys."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from signet.core.approvals.deciding_roles import NamedPolicy
from signet.core.errors import Rejected
from signet.core.tenants.caller import Caller
from signet.core.tenants.eligibility_changes import author_of
from signet.core.tenants.principal import Principal
from signet.core.tenants.tenant_file import MAX_ROLES, Role
from signet.engine.access.admin import administering
from signet.engine.access.read import reading
from signet.engine.tenants.deciding_roles import read_deciding_roles
from signet.engine.tenants.install import write_roles
from signet.engine.tenants.role_grants import keeping_an_administrator, require_held_permissions
from signet.engine.tenants.self_grants import require_role_of_others
from signet.store.database import Database
from signet.store.tenants import people
from signet.store.tenants.people import RoleRecord

READ_ROLES, EDIT_ROLES = "role:read", "role:edit"


@dataclass(frozen=True, slots=True)
class ShownRole:
    """A role; it is `deciding` where published policies name it."""

    role: str
    permissions: Sequence[str]
    created_at: datetime
    updated_at: datetime
    deciding: bool
    # At most 20 of them.
    policies: Sequence[NamedPolicy]


@dataclass(frozen=True, slots=True)
class Roles:
    database: Database

    def list(self, principal: Principal, after: str, limit: int) -> list[ShownRole]:
        with reading(self.database, principal) as read:
            read.require(READ_ROLES)
            records = people.list_roles(read.connection, principal.tenant_id, after, limit)
            deciding = read_deciding_roles(read.connection, principal.tenant_id)
            return [_show(record, deciding) for record in records]

    def save(self, caller: Caller, role: str, permissions: Sequence[str]) -> ShownRole:
        """Create a role, or set exactly these permissions; they hold from the next request on."""
        tenant_id, wanted = caller.principal.tenant_id, tuple(dict.fromkeys(permissions))
        with administering(self.database, caller) as act:
            act.require(EDIT_ROLES)
            with keeping_an_administrator(act):
                require_role_of_others(act, role)
                before = people.find_roles(act.connection, tenant_id, [role])
                had = before[0].permissions if before else []
                require_held_permissions(act, role, _list_judged(had, wanted))
                if not before and people.count_roles(act.connection, tenant_id) >= MAX_ROLES:
                    raise Rejected("ROLE_TOO_MANY", f"a tenant has at most {MAX_ROLES} roles")
                write_roles(
                    act.connection, tenant_id, (Role(role=role, permissions=wanted),), author_of(caller)
                )
            if not before or had != list(wanted):
                detail = {"permissions_before": had, "permissions": list(wanted)}
                act.note(("role", role), "save_role", detail)
            saved = people.find_roles(act.connection, tenant_id, [role])[0]
            return _show(saved, read_deciding_roles(act.connection, tenant_id))

    def delete(self, caller: Caller, role: str) -> None:
        """Delete a role that nobody holds: its holders would get the next role of that name."""
        tenant_id = caller.principal.tenant_id
        with administering(self.database, caller) as act:
            act.require(EDIT_ROLES)
            with keeping_an_administrator(act):
                records = people.find_roles(act.connection, tenant_id, [role])
                if not records:
                    raise Rejected("ROLE_NOT_FOUND", f"there is no role '{role}'")
                require_role_of_others(act, role)
                if people.is_role_held(act.connection, tenant_id, role):
                    raise Rejected(
                        "ROLE_IN_USE",
                        f"members, keys or service accounts have the role '{role}'",
                        remedy="Take it from them first.",
                    )
                require_held_permissions(act, role, records[0].permissions)
                people.delete_role(act.connection, tenant_id, role, author_of(caller))
            act.note(("role", role), "delete_role", {"permissions_before": records[0].permissions})


def _list_judged(had: Sequence[str], wanted: Sequence[str]) -> list[str]:
    """List the permissions that the caller needs: what is added, and the whole role if it loses any.

    Otherwise a role could be emptied and then taken by a person who may do nothing of it.
    """
    added = [permission for permission in wanted if permission not in had]
    return added if set(had) <= set(wanted) else [*added, *had]


def _show(record: RoleRecord, deciding: Mapping[str, Sequence[NamedPolicy]]) -> ShownRole:
    policies = deciding.get(record.role, ())
    return ShownRole(
        record.role, record.permissions, record.created_at, record.updated_at, bool(policies), policies
    )
