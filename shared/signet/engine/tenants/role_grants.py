"""Rules for granting roles: nobody grants more than they hold, and a tenant keeps an administrator.

An administrator is an active member with a role that may edit members, and can so give roles to all others.
Both rules are checked under the lock of the tenant's administration, so that no two administrators can remove
each other at once.
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
    """Require that the roles exist, and that the caller holds all of their permissions."""
    tenant_id = act.caller.principal.tenant_id
    known = {record.role: record for record in find_roles(act.connection, tenant_id, roles)}
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
                f"the role '{role}' brings the permission '{permission}', which you do not have",
                remedy="Nobody gives more than they have: ask a person who has it.",
            )


@contextmanager
def keeping_an_administrator(act: AdminTransaction) -> Iterator[None]:
    """Refuse to leave a tenant without an administrator.

    A tenant whose issuer alone gives roles never had one, and needs none.
    """
    tenant_id = act.caller.principal.tenant_id
    lock_administration(act.connection, tenant_id)
    had_one = has_administrator(act.connection, tenant_id, _ADMINISTRATING)
    yield
    if had_one and not has_administrator(act.connection, tenant_id, _ADMINISTRATING):
        raise Rejected(
            "LAST_ADMINISTRATOR",
            f"nobody would be left with the permission '{EDIT_MEMBERS}'",
            remedy="First give another active member a role with this permission.",
        )
