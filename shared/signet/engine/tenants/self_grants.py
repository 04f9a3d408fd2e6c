"""Refusals of grants to oneself: nobody changes their own roles, reporting lines, or a role that they hold.

That holds for every person who is responsible for the call, so a key does not do it for its maker.
"""

from collections.abc import Mapping
from uuid import UUID

from signet.core.errors import Rejected
from signet.core.tenants.permissions import list_granting
from signet.core.tenants.tenant_file import Member, TenantFile
from signet.engine.access.admin import AdminTransaction
from signet.store.database import Connection
from signet.store.tenants import people
from signet.store.tenants.people import MemberRecord

CODE = "SELF_GRANT_REFUSED"
_ADMINISTRATING = sorted(list_granting("member:edit"))
OTHER_OPERATOR = "Ask another operator of this deployment."


def require_other_member(
    act: AdminTransaction, before: MemberRecord | None, new: Member, status: str
) -> None:
    """Refuse to change one's own roles or status, and to make oneself a member."""
    if new.user_id not in act.caller.principal.responsible:
        return
    is_same = before is not None and set(before.roles) == set(new.roles) and before.status == status
    if not is_same:
        raise refuse_self_grant(act, "nobody changes their own roles, or whether they are an active member")


def require_other_line(act: AdminTransaction, user_id: str, manager_id: str | None) -> None:
    """Refuse to change one's own manager, and to make oneself the manager of a person."""
    responsible = act.caller.principal.responsible
    if user_id in responsible:
        raise refuse_self_grant(act, "nobody changes their own manager")
    if manager_id in responsible:
        raise refuse_self_grant(act, "nobody makes themselves the manager of a person")


def require_role_of_others(act: AdminTransaction, role: str) -> None:
    """Refuse to change or delete a role that the caller holds, by their token or as a member."""
    principal = act.caller.principal
    if role in principal.roles or people.holds_role(
        act.connection, principal.tenant_id, role, principal.responsible
    ):
        raise refuse_self_grant(act, f"nobody changes a role that they hold, as you hold '{role}'")


def require_other_people(connection: Connection, tenant: TenantFile, operator: frozenset[str]) -> None:
    """Refuse a tenant's file by which an operator would give themselves anything in the tenant."""
    concerned = [member for member in tenant.members if operator & {member.user_id, member.manager}]
    wanted = {*operator, *(member.user_id for member in concerned)}
    before = {
        user_id: record
        for user_id in sorted(wanted)
        if (record := people.find_member(connection, tenant.tenant_id, user_id)) is not None
    }
    for member in concerned:
        _require_other_operator(member, before.get(member.user_id), operator)
    _require_roles_of_others(connection, tenant, before, operator)


def _require_other_operator(member: Member, before: MemberRecord | None, operator: frozenset[str]) -> None:
    manager = before.manager_id if before is not None else None
    if member.user_id in operator and (before is None or set(before.roles) != set(member.roles)):
        raise Rejected(CODE, "nobody changes their own roles", remedy=OTHER_OPERATOR)
    if member.manager != manager:
        raise Rejected(CODE, "nobody changes their own reporting lines", remedy=OTHER_OPERATOR)


def _require_roles_of_others(
    connection: Connection,
    tenant: TenantFile,
    before: Mapping[str, MemberRecord],
    operator: frozenset[str],
) -> None:
    held = {role for user_id in operator if user_id in before for role in before[user_id].roles}
    known = {record.role: record for record in people.find_roles(connection, tenant.tenant_id, sorted(held))}
    for role in tenant.roles:
        if role.role in held and set(known[role.role].permissions) != set(role.permissions):
            sentence = f"nobody changes a role that they hold, as you hold '{role.role}'"
            raise Rejected(CODE, sentence, remedy=OTHER_OPERATOR)


def refuse_self_grant(act: AdminTransaction, sentence: str) -> Rejected:
    return Rejected(CODE, sentence, remedy=_describe_remedy(act))


def _describe_remedy(act: AdminTransaction) -> str:
    tenant_id, responsible = act.caller.principal.tenant_id, act.caller.principal.responsible
    if people.has_administrator(act.connection, tenant_id, _ADMINISTRATING, responsible):
        return "Ask another administrator."
    return _describe_single_administrator(tenant_id)


def _describe_single_administrator(tenant_id: UUID) -> str:
    return (
        "This tenant has no other administrator. Make another member one, who can do it. Or ask an operator"
        f" of the deployment: by PUT /v1/tenants/{tenant_id}, or on the server by `signet tenant install`."
    )
