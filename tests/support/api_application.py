"""The API as tests wire it: with development tokens and a given database."""

from typing import cast

from signet.api.application import Application, Dependencies, MoreRoutes
from signet.api.auth.authentication import Authentication
from signet.api.auth.tokens import make_tokens
from signet.core.tenants.request_limits import DEFAULT_LIMITS, RequestLimits
from signet.engine.access.quotas import RequestQuotas
from signet.engine.definitions.heavy_calls import IN_PLACE, HeavyCalls
from signet.engine.telemetry import SILENT, Telemetry
from signet.outbound.secrets import ReadSecret, no_secrets
from signet.store.database import Database
from signet.wiring.api import make_authentication, make_use_cases

OPERATOR = "signet:operator"
SECRET = "the secret of the function tests, long"


class NoQuotas:
    """Quotas that refuse nothing, for applications without a database."""

    def take(self, tenant_id: object, subject: str, name: str) -> tuple[()]:
        return ()


def wire(
    database: object,
    *,
    secret: str = SECRET,
    origins: tuple[str, ...] = (),
    more: MoreRoutes = (),
    secrets: ReadSecret = no_secrets,
    telemetry: Telemetry = SILENT,
    metrics_token: str | None = None,
    limits: RequestLimits = DEFAULT_LIMITS,
    heavy_calls: HeavyCalls = IN_PLACE,
) -> Application:
    quotas = RequestQuotas(database, limits=limits) if isinstance(database, Database) else NoQuotas()
    use = make_use_cases(cast(Database, database), secrets, telemetry, limits=limits, heavy_calls=heavy_calls)
    tokens = make_tokens(secret, operator_role=OPERATOR)
    authenticate = (
        make_authentication(use, tokens) if isinstance(database, Database) else Authentication(tokens.verify)
    )
    dependencies = Dependencies(use, authenticate, cast(RequestQuotas, quotas), origins, metrics_token)
    return Application(dependencies, more)
