"""Who gives roles gives no more than he has, and a tenant that has an administrator keeps one.

An administrator is an active member with a role that may edit members: whoever is left can give the others
their roles. Both are checked under the lock of the tenant's administration, so that two at once cannot
remove each other.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from signet.core.errors import FieldError, Rejected
from signet.core.tenants.permissions import list_granting
from signet.engine.access.admin import AdminTransaction
from signet.store.audit.write import lock_administration
from signet.store.tenants.people import find_roles, has_administrator

EDIT_MEMBERS = "member:edit"
_ADMINISTRATING = sorted(list_granting(EDIT_MEMBERS))


def require_roles(act: AdminTransaction, roles: Sequence[str]) -> None:
    """They exist, and the author himself may whatever they may."""
    tenant_id = act.caller.principal.tenant_id
    known = {found.role: found for found in find_roles(act.connection, tenant_id, roles)}
    unknown = [role for role in roles if role not in known]
    if unknown:
        mistakes = tuple(FieldError("/roles", "ROLE_UNKNOWN", f"there is no role {role}") for role in unknown)
        raise Rejected("FIELDS_INVALID", f"there is no role '{unknown[0]}'", fields=mistakes)
    for role in roles:
        require_held_permissions(act, role, known[role].permissions)


def require_held_permissions(act: AdminTransaction, role: str, permissions: Iterable[str]) -> None:
    for permission in permissions:
        if not act.may(permission):
            raise Rejected(
                "ROLE_BEYOND_OWN",
                f"the role '{role}' may '{permission}', and you may not",
                remedy="Nobody gives more than they have: ask somebody who has it.",
            )


@contextmanager
def keeping_an_administrator(act: AdminTransaction) -> Iterator[None]:
    """A tenant that never had one, because its issuer alone gives roles, needs none."""
    tenant_id = act.caller.principal.tenant_id
    lock_administration(act.connection, tenant_id)
    had_one = has_administrator(act.connection, tenant_id, _ADMINISTRATING)
    yield
    if had_one and not has_administrator(act.connection, tenant_id, _ADMINISTRATING):
        raise Rejected(
            "LAST_ADMINISTRATOR",
            f"nobody would be left who may '{EDIT_MEMBERS}'",
            remedy="Give another active member a role that may first.",
        )
