"""Tokens of members and of operators, for people who try Signet on one machine.

A member's token names the roles that they have now. It is signed with the secret of the state folder, which
only a Signet on this machine accepts.
"""

from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

from signet.core.errors import Rejected
from signet.core.tenants.principal import Principal
from signet.engine.tenants.install import read_principal
from signet.local.development_token import find_development_secret, make_development_token
from signet.local.postgres import find_running_url
from signet.store.database import Database, PoolSettings
from signet.store.schema.server import act_as, is_on_loopback, use_database

DATABASE_NAME, RUNTIME_ROLE = "signet", "signet_api"
TOKEN_LIFETIME_SECONDS = 86_400
LOCAL = "local"
# The role of operators' tokens under `signet run`.
OPERATOR_ROLE = "signet:operator"


def read_member_token(
    state: Path, tenant_id: UUID, person: str, *, database_url: str | None, environment: str
) -> str:
    """Make a token of a member, by the database that runs on this machine."""
    secret, url = _require_local(state, database_url, environment)
    database = Database(act_as(url, RUNTIME_ROLE), PoolSettings())
    try:
        return write_member_token(secret, read_principal(database, tenant_id, person))
    finally:
        database.close()


def write_operator_token(
    state: Path, tenant_id: UUID, name: str, *, database_url: str | None, environment: str
) -> str:
    """Make a token of an operator of the Signet that runs on this machine."""
    secret, _ = _require_local(state, database_url, environment)
    return write_member_token(secret, Principal(tenant_id, name, (OPERATOR_ROLE,)))


def find_local_database(state: Path) -> str | None:
    """Find the address of the database that `signet run` keeps in the folder, where it runs now."""
    url = find_running_url(state)
    return None if url is None else use_database(url, DATABASE_NAME)


def _require_local(state: Path, database_url: str | None, environment: str) -> tuple[str, str]:
    """Return the secret and the address of a Signet that runs here; refuse where none does."""
    if environment != LOCAL:
        raise Rejected(
            "TOKEN_NOT_LOCAL",
            f"SIGNET_ENVIRONMENT is '{environment}': tokens are made for local environments only",
            remedy="There, people get their tokens from the issuer.",
        )
    secret = find_development_secret(state)
    url = database_url or find_local_database(state)
    if secret is None or url is None:
        raise Rejected(
            "TOKEN_NOT_LOCAL",
            f"nothing runs on the data in {state}",
            remedy="Start `make run` in another terminal, in the same folder.",
        )
    if not is_on_loopback(url):
        raise Rejected(
            "TOKEN_NOT_LOCAL",
            "the database is on another machine: tokens are made for one on this machine only",
            remedy="Unset SIGNET_DATABASE_URL, or name a database on the loopback.",
        )
    return secret, url


def write_member_token(secret: str, principal: Principal) -> str:
    return make_development_token(
        secret,
        tenant_id=principal.tenant_id,
        subject=principal.subject,
        roles=principal.roles,
        lifetime_seconds=TOKEN_LIFETIME_SECONDS,
        now=datetime.now(UTC),
    )
