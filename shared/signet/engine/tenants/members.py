"""Members of a tenant."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from signet.core.errors import Rejected
from signet.core.tenants.caller import Caller
from signet.core.tenants.eligibility_changes import author_of
from signet.core.tenants.principal import KeyOfPrincipal, Principal
from signet.core.tenants.tenant_file import Member
from signet.engine.access.admin import AdminTransaction, administering
from signet.engine.access.read import reading
from signet.engine.access.seen_versions import ANY_VERSION, require_seen_or_new
from signet.engine.documents.command_checks import check_reason
from signet.engine.tenants.deciding_roles import read_deciding_roles
from signet.engine.tenants.dependents import (
    Dependents,
    Succession,
    read_dependents,
    require_succession,
    settle_dependents,
)
from signet.engine.tenants.install import write_member_status, write_members
from signet.engine.tenants.role_grants import EDIT_MEMBERS, keeping_an_administrator, require_roles
from signet.engine.tenants.self_grants import require_other_member
from signet.store.database import Database
from signet.store.tenants import people
from signet.store.tenants.people import MemberRecord as MemberRecord

READ_MEMBERS = "member:read"
MemberStatus = Literal["active", "disabled"]


@dataclass(frozen=True, slots=True)
class Me:
    """The caller and their permissions; a machine with its key, and the person who owns that."""

    tenant_id: UUID
    subject: str
    kind: Literal["person", "key"]
    # None where no member has that name.
    display_name: str | None
    roles: Sequence[str]
    permissions: Sequence[str]
    is_operator: bool
    key: KeyOfPrincipal | None


@dataclass(frozen=True, slots=True)
class SavedMember:
    member: MemberRecord
    is_new: bool


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
                principal.key,
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

    def list_dependents(self, principal: Principal, user_id: str) -> Dependents:
        """List what depends on a member, and what would die with them if they were disabled."""
        with reading(self.database, principal) as read:
            read.require(READ_MEMBERS)
            if people.find_member(read.connection, principal.tenant_id, user_id) is None:
                raise member_not_found(user_id)
            return read_dependents(read, user_id)

    def save(
        self,
        caller: Caller,
        new: Member,
        status: MemberStatus,
        expected_version: int | None = ANY_VERSION,
        reason: str | None = None,
        succession: Succession | None = None,
    ) -> SavedMember:
        """Create a member, or change them to exactly these values; the manager stays.

        `succession` says what becomes of the dependents of a member who is disabled.
        """
        rejected = check_reason(reason)
        if rejected is not None:
            raise rejected
        tenant_id = caller.principal.tenant_id
        with administering(self.database, caller) as act:
            act.require(EDIT_MEMBERS)
            with keeping_an_administrator(act):
                before = people.find_member(act.connection, tenant_id, new.user_id)
                require_other_member(act, before, new, status)
                what, current = f"the member '{new.user_id}'", before.version if before else None
                require_seen_or_new(what, "MEMBER_VERSION_CONFLICT", current, expected_version)
                given = _list_given(before, new, status)
                require_roles(act, given)
                is_leaving = before is not None and before.status == "active" and status == "disabled"
                if is_leaving:
                    require_succession(act, new.user_id, succession)
                manager = before.manager_id if before else None
                written = new.model_copy(update={"manager": manager})
                write_members(act.connection, tenant_id, (written,), author_of(caller))
                write_member_status(
                    act.connection, tenant_id, new.user_id, status, act.now, author_of(caller)
                )
                settled = None
                if is_leaving and succession is not None:
                    settled = settle_dependents(act, new.user_id, succession)
            saved = people.find_member(act.connection, tenant_id, new.user_id)
            if saved is None:
                raise member_not_found(new.user_id)
            detail = _describe_given(act, given) | ({"dependents": settled} if settled is not None else {})
            _note(act, before, saved, reason, detail)
        return SavedMember(saved, is_new=before is None)


def _describe_given(act: AdminTransaction, given: Sequence[str]) -> dict[str, Any]:
    """Return which of the roles that were given are deciding roles, for the record."""
    if not given:
        return {}
    deciding = read_deciding_roles(act.connection, act.caller.principal.tenant_id)
    named = sorted(role for role in given if role in deciding)
    return {"deciding_roles_given": named} if named else {}


def _list_given(before: MemberRecord | None, new: Member, status: MemberStatus) -> list[str]:
    """List the roles that begin to count, or would on reactivation."""
    counts = before is not None and (before.status == "active" or status == "disabled")
    held = before.roles if before and counts else []
    return [role for role in new.roles if role not in held]


def _note(
    act: AdminTransaction,
    before: MemberRecord | None,
    saved: MemberRecord,
    reason: str | None,
    more: Mapping[str, Any],
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
            **more,
        }
        act.note(("member", saved.user_id), "save_member", detail, reason=reason)


def member_not_found(user_id: str) -> Rejected:
    return Rejected("MEMBER_NOT_FOUND", f"there is no member '{user_id}'")
