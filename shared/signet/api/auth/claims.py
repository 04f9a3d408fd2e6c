"""Whose a verified token is: the claims that settings name become a principal."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from signet.core.errors import Rejected
from signet.core.tenants.principal import NO_TENANT, Principal, is_reserved
from signet.core.validation.text import NAME
from signet.settings import ClaimNames

MAX_SUBJECT_CHARACTERS = 200
MAX_ROLES = 200
# What a tenant can call a role; an issuer's other groups are nothing to us.


def read_principal(claims: Mapping[str, Any], names: ClaimNames, operator_role: str | None) -> Principal:
    roles = _read_roles(_find(claims, names.roles), names.roles)
    is_operator = operator_role is not None and operator_role in roles
    tenant_id = _read_tenant(_find(claims, names.tenant), names.tenant, is_operator=is_operator)
    subject = _find(claims, names.subject)
    if not isinstance(subject, str) or not 0 < len(subject) <= MAX_SUBJECT_CHARACTERS:
        raise invalid(f"its claim {names.subject} is not a name")
    if not subject.isprintable() or is_reserved(subject):
        raise invalid(f"its claim {names.subject} is not a person's name")
    return Principal(tenant_id, subject, tuple(filter(NAME.fullmatch, roles)), is_operator)


def _find(claims: Mapping[str, Any], name: str) -> Any:
    """A name such as https://a.example/roles is one claim; the dots of others lead into objects."""
    if "://" in name:
        return claims.get(name)
    found: Any = claims
    for step in name.split("."):
        found = found.get(step) if isinstance(found, dict) else None
    return found


def _read_roles(claim: Any, name: str) -> list[str]:
    """A list, or names with spaces between them; without the claim there are none."""
    if claim is None:
        return []
    roles = claim.split() if isinstance(claim, str) else claim
    if not isinstance(roles, list) or len(roles) > MAX_ROLES:
        raise invalid(f"its claim {name} is not a list of at most {MAX_ROLES} roles")
    if not all(isinstance(role, str) for role in roles):
        raise invalid(f"its claim {name} is not a list of names")
    return roles


def _read_tenant(claim: Any, name: str, *, is_operator: bool) -> UUID:
    if claim is None and is_operator:
        return NO_TENANT
    try:
        tenant_id = UUID(claim) if isinstance(claim, str) else None
    except ValueError:
        tenant_id = None
    # UUID() also reads braces and urn:uuid:; one spelling is enough.
    if tenant_id is None or str(tenant_id) != str(claim).lower() or tenant_id == NO_TENANT:
        raise invalid(f"its claim {name} is not a tenant's UUID")
    return tenant_id


def invalid(reason: str) -> Rejected:
    return Rejected("TOKEN_INVALID", f"The token is not valid: {reason}.")
