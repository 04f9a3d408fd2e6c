"""Composition root of the process that serves the HTTP API."""

from collections.abc import Collection
from functools import cache
from typing import TYPE_CHECKING

from signet.api.application import Application, Dependencies
from signet.api.auth.authentication import Authentication
from signet.api.auth.tokens import Tokens, load_verifying, make_tokens
from signet.api.use_cases import CheckUrl, UseCases
from signet.core.tenants.api_key import KEY_TOKEN_PREFIX
from signet.core.tenants.principal import VerifiedToken
from signet.core.tenants.request_limits import DEFAULT_LIMITS, RequestLimits
from signet.engine.access.admission import AdmissionCheck
from signet.engine.access.quotas import RequestQuotas
from signet.engine.definitions.heavy_calls import IN_PLACE, HeavyCalls
from signet.engine.telemetry import SILENT, Telemetry
from signet.outbound.secrets import ReadSecret, no_secrets
from signet.settings import Settings
from signet.store.database import Database
from signet.wiring.process import get_settings, get_telemetry, make_database, make_secrets, make_wake

if TYPE_CHECKING:
    from signet.wiring.heavy_processes import HeavyProcesses

# API Gateway gives up after 30 seconds. Until then there is an answer, also where the database has none.
STATEMENT_SECONDS = 20.0


def make_use_cases(
    database: Database,
    secrets: ReadSecret = no_secrets,
    telemetry: Telemetry = SILENT,
    webhook_addresses: Collection[str] = (),
    limits: RequestLimits = DEFAULT_LIMITS,
    heavy_calls: HeavyCalls = IN_PLACE,
) -> UseCases:
    def make_check() -> CheckUrl:
        from signet.outbound.webhook import AllowedAddresses, check_url

        addresses = frozenset(webhook_addresses)
        return lambda url, hosts: check_url(url, AllowedAddresses(addresses, hosts))

    return UseCases(database, secrets, make_check, telemetry, limits, heavy_calls)


def make_authentication(use: UseCases, tokens: Tokens) -> Authentication:
    def verify(token: str) -> VerifiedToken:
        if token.startswith(KEY_TOKEN_PREFIX):
            return use.api_keys.verify(token)
        return tokens.verify(token)

    return Authentication(verify, AdmissionCheck(use.database).check)


def make_ports(settings: Settings, telemetry: Telemetry, heavy_calls: HeavyCalls = IN_PLACE) -> Dependencies:
    database = make_database(settings, make_wake(settings), STATEMENT_SECONDS)
    addresses, limits = settings.leaving.webhook_addresses, settings.limits
    secrets = make_secrets(settings)
    use = make_use_cases(database, secrets, telemetry, addresses, limits, heavy_calls)
    tokens = make_tokens(settings.development_secret, settings.issuer, settings.operator_role)
    return Dependencies(
        use=use,
        authenticate=make_authentication(use, tokens),
        quotas=RequestQuotas(database, limits=limits),
        origins=settings.cors_origins,
        metrics_token=settings.metrics_token,
        build=settings.build,
    )


@cache
def get_application() -> Application:
    """Return the API, wired once per process."""
    settings = get_settings()
    if settings.extensions:
        from signet.authoring.extensions import load_extensions

        load_extensions(settings.extensions)
    return Application(make_ports(settings, get_telemetry(), get_heavy_calls() or IN_PLACE))


@cache
def get_heavy_calls() -> "HeavyProcesses | None":
    """Return the processes for heavy calls; where a process serves one request at a time, there are none."""
    count = get_settings().heavy_processes
    if not count:
        return None
    from signet.wiring.heavy_processes import HeavyProcesses

    return HeavyProcesses(count, get_telemetry())


def load_everything() -> None:
    """Load everything that requests would load and make one by one, without opening a connection.

    This is for a process of which a snapshot is kept, and started many times.
    """
    get_application().prepare()
    load_verifying()
