"""Large bodies and bodies with many mistakes: neither may cost others the time that it takes to read them.

A body beyond LARGE_BODY_BYTES is taken by few routes, and only from people who could use the route. They are
asked for a permission before their body is parsed.
"""

import inspect
from collections.abc import Callable
from typing import Annotated, Any, Protocol

from signet.core.errors import Rejected
from signet.core.tenants.permissions import grants_some
from signet.core.tenants.principal import Principal
from signet.store.database import Database

LARGE_BODY_BYTES = 65_536
# In place of a permission: an answer that depends on a seat, and one for operators of the deployment.
ANYBODY, OPERATORS = "anybody", "operators"


class SizedRoute(Protocol):
    """A route, as it declares who may send it a large body."""

    @property
    def takes_body(self) -> bool: ...
    @property
    def is_signed(self) -> bool: ...
    @property
    def large_bodies_want(self) -> str | None: ...
    @property
    def is_heavy(self) -> bool: ...


def check_large_body(route: SizedRoute, principal: Principal | None, database: Database) -> None:
    """Refuse a large body that the route does not take, or takes from others only.

    The sender of a signed one is known by a signature over the whole body.
    """
    if route.is_signed:
        return
    if not route.takes_body:
        raise Rejected("BODY_MALFORMED", "This route takes no body.")
    wanted = route.large_bodies_want
    if wanted is None or principal is None:
        raise Rejected("BODY_TOO_LARGE", f"This route takes a body of at most {LARGE_BODY_BYTES} bytes.")
    if wanted == OPERATORS and not principal.is_operator:
        raise Rejected("PERMISSION_DENIED", "only an operator of this deployment may do this")
    if wanted not in (ANYBODY, OPERATORS):
        _require_some(wanted, principal, database, is_heavy=route.is_heavy)


def _require_some(wanted: str, principal: Principal, database: Database, *, is_heavy: bool) -> None:
    from signet.engine.access.read import reading  # for the first large body
    from signet.engine.definitions.heavy_calls import require_turn

    with reading(database, principal) as read:
        if not grants_some(read.permissions, wanted):
            raise Rejected(
                "PERMISSION_DENIED",
                f"here a body of more than {LARGE_BODY_BYTES} bytes needs a permission such as '{wanted}'",
            )
        if is_heavy:
            # Only a look: the turn is given back here, and taken again by the call.
            require_turn(read.connection, principal.tenant_id)


def bound_mistakes(parameter: inspect.Parameter) -> inspect.Parameter:
    """Return the parameter of a body with a check that tells too many mistakes as one."""
    from pydantic import ValidationError, WrapValidator  # for the first route

    from signet.core.validation.model_errors import MAX_LISTED_MISTAKES, describe_too_many

    def check(value: Any, validate: Callable[[Any], Any]) -> Any:
        try:
            return validate(value)
        except ValidationError as error:
            count = error.error_count()
            if count <= MAX_LISTED_MISTAKES:
                raise
        raise ValueError(describe_too_many(count))

    return parameter.replace(annotation=Annotated[parameter.annotation, WrapValidator(check)])
