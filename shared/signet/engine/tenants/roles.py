"""Roles of a tenant: names for permissions, held by tokens, members and keys."""

from collections.abc import Sequence
from dataclasses import dataclass

from signet.core.errors import Rejected
from signet.core.tenants.caller import Caller
from signet.core.tenants.principal import Principal
from signet.core.tenants.tenant_file import MAX_ROLES, Role
from signet.engine.access.admin import administering
from signet.engine.access.read import reading
from signet.engine.tenants.role_grants import keeping_an_administrator, require_held_permissions
from signet.store.database import Database
from signet.store.tenants import people
from signet.store.tenants.people import RoleRecord as RoleRecord
from signet.store.tenants.tenants import save_roles

READ_ROLES, EDIT_ROLES = "role:read", "role:edit"


@dataclass(frozen=True, slots=True)
class Roles:
    database: Database

    def list(self, principal: Principal, after: str, limit: int) -> list[RoleRecord]:
        with reading(self.database, principal) as read:
            read.require(READ_ROLES)
            return people.list_roles(read.connection, principal.tenant_id, after, limit)

    def save(self, caller: Caller, role: str, permissions: Sequence[str]) -> RoleRecord:
        """Create a role, or set exactly these permissions; they hold from the next request on."""
        tenant_id, wanted = caller.principal.tenant_id, tuple(dict.fromkeys(permissions))
        with administering(self.database, caller) as act:
            act.require(EDIT_ROLES)
            with keeping_an_administrator(act):
                before = people.find_roles(act.connection, tenant_id, [role])
                had = before[0].permissions if before else []
                require_held_permissions(
                    act, role, [permission for permission in wanted if permission not in had]
                )
                if not before and people.count_roles(act.connection, tenant_id) >= MAX_ROLES:
                    raise Rejected("ROLE_TOO_MANY", f"a tenant has at most {MAX_ROLES} roles")
                save_roles(act.connection, tenant_id, (Role(role=role, permissions=wanted),))
            if not before or had != list(wanted):
                detail = {"permissions_before": had, "permissions": list(wanted)}
                act.note(("role", role), "save_role", detail)
            return people.find_roles(act.connection, tenant_id, [role])[0]

    def delete(self, caller: Caller, role: str) -> None:
        """Delete a role that nobody holds: its holders would get the next role of that name."""
        tenant_id = caller.principal.tenant_id
        with administering(self.database, caller) as act:
            act.require(EDIT_ROLES)
            with keeping_an_administrator(act):
                records = people.find_roles(act.connection, tenant_id, [role])
                if not records:
                    raise Rejected("ROLE_NOT_FOUND", f"there is no role '{role}'")
                if people.is_role_held(act.connection, tenant_id, role):
                    raise Rejected(
                        "ROLE_IN_USE",
                        f"members or keys have the role '{role}'",
                        remedy="Take it from them first.",
                    )
                people.delete_role(act.connection, tenant_id, role)
            act.note(("role", role), "delete_role", {"permissions_before": records[0].permissions})
