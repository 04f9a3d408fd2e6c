"""Acts of operators of the deployment: they install tenants, and seat people by break-glass."""

from collections.abc import Mapping, Sequence
from typing import Any

from signet.core.tenants.caller import Caller
from signet.core.tenants.tenant_file import TenantContent
from signet.engine.tenants.operator import TenantOperator
from tests.support.company import VOTER
from tests.support.ways.scene import BOARD, FINANCE, AuthorityScene

_ROLES: Mapping[str, Sequence[str]] = {"admin": ["*:*"], "voter": VOTER, FINANCE: VOTER, BOARD: VOTER}


def install(scene: AuthorityScene, by: Caller, *members: Mapping[str, Any]) -> None:
    """Install the tenant by an operator's call, with these members."""
    content = {
        "name": "acme",
        "roles": [{"role": name, "permissions": list(held)} for name, held in _ROLES.items()],
        "members": [{"display_name": str(member["user_id"]), **member} for member in members],
    }
    TenantOperator(scene.database).install(by, scene.tenant_id, TenantContent.model_validate(content))
