"""Claims of a verified token; settings name those that make a principal."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from signet.core.errors import Rejected
from signet.core.tenants.principal import NO_TENANT, Principal, is_reserved
from signet.core.validation.text import NAME
from signet.settings import ClaimNames

MAX_SUBJECT_CHARACTERS = 200
MAX_ROLES = 200


def parse_principal(claims: Mapping[str, Any], names: ClaimNames, operator_role: str | None) -> Principal:
    roles = _parse_roles(_find(claims, names.roles), names.roles)
    is_operator = operator_role is not None and operator_role in roles
    tenant_id = _parse_tenant(_find(claims, names.tenant), names.tenant, is_operator=is_operator)
    subject = _find(claims, names.subject)
    if not isinstance(subject, str) or not 0 < len(subject) <= MAX_SUBJECT_CHARACTERS:
        raise invalid(f"its claim {names.subject} is not a name")
    if not subject.isprintable() or is_reserved(subject):
        raise invalid(f"its claim {names.subject} is not a person's name")
    # Only names that a tenant could give to a role: an issuer's other groups are ignored.
    return Principal(tenant_id, subject, tuple(filter(NAME.fullmatch, roles)), is_operator)


def invalid(reason: str) -> Rejected:
    return Rejected("TOKEN_INVALID", f"The token is not valid: {reason}.")


def _find(claims: Mapping[str, Any], name: str) -> Any:
    """Find a claim: https://a.example/roles is one name, and the dots of other names lead into objects."""
    if "://" in name:
        return claims.get(name)
    value: Any = claims
    for step in name.split("."):
        value = value.get(step) if isinstance(value, dict) else None
    return value


def _parse_roles(claim: Any, name: str) -> list[str]:
    """Parse a list, or names separated by spaces; without the claim there are no roles."""
    if claim is None:
        return []
    roles = claim.split() if isinstance(claim, str) else claim
    if not isinstance(roles, list) or len(roles) > MAX_ROLES:
        raise invalid(f"its claim {name} is not a list of at most {MAX_ROLES} roles")
    if not all(isinstance(role, str) for role in roles):
        raise invalid(f"its claim {name} is not a list of names")
    return roles


def _parse_tenant(claim: Any, name: str, *, is_operator: bool) -> UUID:
    if claim is None and is_operator:
        return NO_TENANT
    try:
        tenant_id = UUID(claim) if isinstance(claim, str) else None
    except ValueError:
        tenant_id = None
    # UUID() also parses braces and urn:uuid:, but one spelling is enough.
    if tenant_id is None or str(tenant_id) != str(claim).lower() or tenant_id == NO_TENANT:
        raise invalid(f"its claim {name} is not a tenant's UUID")
    return tenant_id
