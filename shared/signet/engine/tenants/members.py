"""Members of a tenant."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from signet.core.errors import Rejected
from signet.core.tenants.caller import Caller
from signet.core.tenants.principal import Principal
from signet.core.tenants.tenant_file import Member
from signet.engine.access.admin import AdminTransaction, administering
from signet.engine.access.read import reading
from signet.engine.documents.command_checks import check_reason
from signet.engine.tenants.install import write_member_status, write_members
from signet.engine.tenants.role_grants import EDIT_MEMBERS, keeping_an_administrator, require_roles
from signet.store.database import Database
from signet.store.tenants import people
from signet.store.tenants.people import MemberRecord as MemberRecord

READ_MEMBERS = "member:read"
MemberStatus = Literal["active", "disabled"]


@dataclass(frozen=True, slots=True)
class Me:
    """The caller and their permissions."""

    tenant_id: UUID
    subject: str
    kind: Literal["person", "key"]
    # None where no member has that name.
    display_name: str | None
    roles: Sequence[str]
    permissions: Sequence[str]
    is_operator: bool


@dataclass(frozen=True, slots=True)
class Members:
    database: Database

    def read_me(self, principal: Principal) -> Me:
        with reading(self.database, principal) as read:
            member = people.find_member(read.connection, principal.tenant_id, principal.subject)
            permissions = sorted(set(read.transaction.permissions_of(principal.roles)))
            return Me(
                principal.tenant_id,
                principal.subject,
                "key" if principal.is_key else "person",
                member.display_name if member else None,
                principal.roles,
                permissions,
                principal.is_operator,
            )

    def list(self, principal: Principal, after: str, limit: int) -> list[MemberRecord]:
        with reading(self.database, principal) as read:
            read.require(READ_MEMBERS)
            return people.list_members(read.connection, principal.tenant_id, after, limit)

    def read(self, principal: Principal, user_id: str) -> MemberRecord:
        """Read a member; members may always read themselves."""
        with reading(self.database, principal) as read:
            member = people.find_member(read.connection, principal.tenant_id, user_id)
            if member is None or not (user_id == principal.subject or read.may(READ_MEMBERS)):
                raise member_not_found(user_id)
            return member

    def save(
        self, caller: Caller, new: Member, status: MemberStatus, reason: str | None = None
    ) -> MemberRecord:
        """Create a member, or change them to exactly these values; the manager stays."""
        rejected = check_reason(reason)
        if rejected is not None:
            raise rejected
        tenant_id = caller.principal.tenant_id
        with administering(self.database, caller) as act:
            act.require(EDIT_MEMBERS)
            with keeping_an_administrator(act):
                before = people.find_member(act.connection, tenant_id, new.user_id)
                require_roles(act, _list_given(before, new, status))
                manager = before.manager_id if before else None
                written = new.model_copy(update={"manager": manager})
                write_members(act.connection, tenant_id, (written,))
                write_member_status(act.connection, tenant_id, new.user_id, status, act.now)
            saved = people.find_member(act.connection, tenant_id, new.user_id)
            if saved is None:
                raise member_not_found(new.user_id)
            _note(act, before, saved, reason)
        return saved


def _list_given(before: MemberRecord | None, new: Member, status: MemberStatus) -> list[str]:
    """List the roles that begin to count, or would on reactivation."""
    counts = before is not None and (before.status == "active" or status == "disabled")
    held = before.roles if before and counts else []
    return [role for role in new.roles if role not in held]


def _note(
    act: AdminTransaction, before: MemberRecord | None, saved: MemberRecord, reason: str | None
) -> None:
    """Put the change on record. Names and addresses are left out, because audit rows stay for ever."""
    names = ("display_name", "email", "phone", "status", "roles")
    changed = [name for name in names if before is None or getattr(before, name) != getattr(saved, name)]
    if changed:
        detail = {
            "changed": changed,
            "status": saved.status,
            "roles_before": before.roles if before else [],
            "roles": saved.roles,
        }
        act.note(("member", saved.user_id), "save_member", detail, reason=reason)


def member_not_found(user_id: str) -> Rejected:
    return Rejected("MEMBER_NOT_FOUND", f"there is no member '{user_id}'")
