"""The rule of secrets: each belongs to one endpoint, which either sends or receives.

A sender who could choose the secret of an inbound endpoint would have Signet sign what that endpoint takes.
"""

from collections.abc import Sequence

from signet.core.errors import FieldError, Rejected
from signet.engine.access.admin import AdminTransaction
from signet.store.integrations.secret_uses import Direction, SecretUse, find_secret_uses

_KINDS = {"out": "endpoint", "in": "inbound endpoint"}


def require_free_secrets(
    act: AdminTransaction, direction: Direction, endpoint: str, secrets: Sequence[str]
) -> None:
    """Refuse secrets that another endpoint uses. The caller holds the lock of the tenant's administration."""
    tenant_id = act.caller.principal.tenant_id
    taken = [
        use
        for use in find_secret_uses(act.connection, tenant_id, secrets)
        if (use.direction, use.endpoint) != (direction, endpoint)
    ]
    if taken:
        mistakes = tuple(FieldError("/secrets", "SECRET_IN_USE", _describe(use)) for use in taken)
        raise Rejected(
            "SECRET_IN_USE",
            _describe(taken[0]),
            remedy="Make a secret for this endpoint alone, and name that one.",
            fields=mistakes,
        )


def _describe(use: SecretUse) -> str:
    return f"the secret '{use.secret}' is the one of the {_KINDS[use.direction]} '{use.endpoint}'"
