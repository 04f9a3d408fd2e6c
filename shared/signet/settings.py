"""The environment, read once by `wiring` or the command line and passed on as one frozen value."""

import keyword
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any, Literal, get_args
from urllib.parse import urlsplit

from signet.aws_settings import AwsSettings, read_aws, read_region
from signet.core.errors import Rejected
from signet.core.tenants.retention import LEAST_DAYS, MAX_RETENTION_DAYS, Retentions

Environment = Literal["local", "dev", "staging", "prod"]
MAX_POOL_SIZE = 100
MIN_TOKEN_CHARACTERS = 32
LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
MAX_CLAIM_CHARACTERS = 200
_LOOPBACK_HOSTS = ("127.0.0.1", "localhost", "::1")
_OPERATOR_ROLE = re.compile(r"[A-Za-z0-9_.-]{1,60}(:[A-Za-z0-9_.-]{1,60})+")
_EVENT_SOURCE = re.compile(r"[A-Za-z0-9._/-]{1,256}")
_ENVIRONMENTS_WITH_ADDRESSES = ("local", "dev")
_ORIGIN = re.compile(r"https?://[a-z0-9.-]+(:[0-9]{1,5})?")


@dataclass(frozen=True)
class ClaimNames:
    """Which claims say who it is. Dots lead into objects, except in names such as https://a.example/roles."""

    subject: str = "sub"
    tenant: str = "tenant_id"
    roles: str = "roles"


@dataclass(frozen=True)
class IssuerSettings:
    """Whose tokens are taken. One issuer a deployment."""

    issuer: str
    audiences: tuple[str, ...]
    keys_url: str
    claims: ClaimNames


@dataclass(frozen=True)
class DeliverySettings:
    """What leaves the system from here, and how. What is not named has no connector."""

    # An identity that SES has verified.
    mail_sender: str | None = None
    # The bus of EventBridge, and as whose events it knows ours.
    bus_name: str | None = None
    event_source: str = "signet"
    sends_text_messages: bool = False
    # Let through although they are refused: for receivers next door, where nothing is at stake.
    webhook_addresses: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Settings:
    environment: Environment
    database_url: str
    database_pool_size: int
    database_pool_idle_count: int
    database_pool_lifetime_seconds: int
    development_secret: str | None
    # How long to wait for a connection: a database that sleeps needs some 15 seconds to wake up.
    database_wait_seconds: int = 5
    # The modules with users' Python.
    extensions: tuple[str, ...] = ()
    # Of the web pages that may call the API from a browser.
    cors_origins: tuple[str, ...] = ()
    # Of whoever collects /metrics; without one nobody may.
    metrics_token: str | None = None
    service: str = "signet"
    log_level: str = "INFO"
    # Of CloudWatch's metrics; without one none are written.
    metrics_namespace: str | None = None
    # Where traces go, by the names of OpenTelemetry; None is nowhere.
    traces_exporter: Literal["otlp", "console"] | None = None
    sentry_dsn: str | None = None
    issuer: IssuerSettings | None = None
    # Whoever's token has it among its roles may install and suspend tenants, and grant them quotas.
    operator_role: str | None = None
    # Where the tenants' secrets are: a file each, in a folder for each tenant.
    secrets_folder: str | None = None
    # Whether the database takes the URL's password, or one that IAM stands for.
    database_auth: Literal["url", "iam"] = "url"
    aws: AwsSettings | None = None
    retentions: Retentions = field(default_factory=Retentions)
    leaving: DeliverySettings = field(default_factory=DeliverySettings)


def read_settings(environ: Mapping[str, str]) -> Settings:
    """All mistakes at once, each naming its variable."""
    mistakes: list[str] = []

    def number(name: str, default: int, lowest: int, highest: int) -> int:
        text = environ.get(name, str(default))
        if text.isascii() and text.isdigit() and lowest <= int(text) <= highest:
            return int(text)
        mistakes.append(f"{name} must be a whole number from {lowest} to {highest}, not {text!r}")
        return default

    environment = environ.get("SIGNET_ENVIRONMENT", "prod")
    if environment not in get_args(Environment):
        mistakes.append(
            f"SIGNET_ENVIRONMENT must be one of {', '.join(get_args(Environment))}, not {environment!r}"
        )
    database_url = environ.get("SIGNET_DATABASE_URL", "")
    if not database_url:
        mistakes.append("SIGNET_DATABASE_URL is not set")
    development_secret = environ.get("SIGNET_DEVELOPMENT_SECRET")
    if development_secret is not None and environment != "local":
        mistakes.append("SIGNET_DEVELOPMENT_SECRET is for SIGNET_ENVIRONMENT=local only")
    named = _read_list(environ, "SIGNET_EXTENSIONS")
    mistakes += [
        f"SIGNET_EXTENSIONS names modules, separated by commas; {name!r} is none"
        for name in named
        if not _is_module(name)
    ]
    origins = _read_list(environ, "SIGNET_CORS_ORIGINS")
    mistakes += [
        f"SIGNET_CORS_ORIGINS names origins such as https://a.example, separated by commas; {name!r} is none"
        for name in origins
        if _ORIGIN.fullmatch(name) is None
    ]
    watched = _read_watched(environ, mistakes)
    settings = Settings(
        environment=environment,  # type: ignore[arg-type]  # checked above
        database_url=database_url,
        database_pool_size=number("SIGNET_DATABASE_POOL_SIZE", 1, 1, MAX_POOL_SIZE),
        database_pool_idle_count=number("SIGNET_DATABASE_POOL_IDLE_COUNT", 0, 0, MAX_POOL_SIZE),
        database_pool_lifetime_seconds=number("SIGNET_DATABASE_POOL_LIFETIME_SECONDS", 900, 10, 86_400),
        development_secret=development_secret,
        database_wait_seconds=number("SIGNET_DATABASE_WAIT_SECONDS", 5, 1, 60),
        extensions=named,
        cors_origins=origins,
        issuer=_read_issuer(environ, environment, mistakes),
        operator_role=_read_operator_role(environ, mistakes),
        secrets_folder=environ.get("SIGNET_SECRETS_FOLDER") or None,
        database_auth=_read_database_auth(environ, mistakes),
        aws=read_aws(environ, mistakes),
        retentions=_read_retentions(number, environ),
        leaving=_read_leaving(environ, environment, mistakes),
        **watched,
    )
    if mistakes:
        raise Rejected("SETTINGS_INVALID", "; ".join(mistakes))
    return settings


def _read_database_auth(environ: Mapping[str, str], mistakes: list[str]) -> Literal["url", "iam"]:
    auth = environ.get("SIGNET_DATABASE_AUTH", "url")
    if auth not in ("url", "iam"):
        mistakes.append(f"SIGNET_DATABASE_AUTH must be url or iam, not {auth!r}")
    return "iam" if auth == "iam" else "url"


def _read_retentions(number: Callable[[str, int, int, int], int], environ: Mapping[str, str]) -> Retentions:
    """By the names of its fields: SIGNET_RETENTION_OUTBOX_DAYS."""
    names = {each: f"SIGNET_RETENTION_{each.upper()}" for each in LEAST_DAYS}
    given = {each: name for each, name in names.items() if name in environ}
    return Retentions(
        **{each: number(name, 1, LEAST_DAYS[each], MAX_RETENTION_DAYS) for each, name in given.items()}
    )


def _read_leaving(environ: Mapping[str, str], environment: str, mistakes: list[str]) -> DeliverySettings:
    sender, bus_name = (environ.get(name) or None for name in ("SIGNET_MAIL_SENDER", "SIGNET_BUS_NAME"))
    if sender is not None and ("@" not in sender or not sender.isprintable()):
        mistakes.append(f"SIGNET_MAIL_SENDER must be a mail address, not {sender!r}")
    source = environ.get("SIGNET_EVENT_SOURCE") or DeliverySettings.event_source
    if not _EVENT_SOURCE.fullmatch(source) or source.startswith("aws."):
        mistakes.append(f"SIGNET_EVENT_SOURCE must be a name such as com.example.signet, not {source!r}")
    text_messages = environ.get("SIGNET_TEXT_MESSAGES") or "off"
    if text_messages not in ("on", "off"):
        mistakes.append(f"SIGNET_TEXT_MESSAGES must be on or off, not {text_messages!r}")
    if (sender or bus_name or text_messages == "on") and not read_region(environ):
        mistakes.append("AWS_REGION is not set, but mail, text messages or a bus are")
    return DeliverySettings(
        sender, bus_name, source, text_messages == "on", _read_addresses(environ, environment, mistakes)
    )


def _read_addresses(environ: Mapping[str, str], environment: str, mistakes: list[str]) -> frozenset[str]:
    name = "SIGNET_WEBHOOK_ADDRESSES"
    addresses = _read_list(environ, name)
    if addresses and environment not in _ENVIRONMENTS_WITH_ADDRESSES:
        mistakes.append(f"{name} is for SIGNET_ENVIRONMENT=local or dev only")
    mistakes += [
        f"{name} names IP addresses, separated by commas; {text!r} is none"
        for text in addresses
        if not _is_address(text)
    ]
    return frozenset(str(ip_address(text)) for text in addresses if _is_address(text))


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def _read_watched(environ: Mapping[str, str], mistakes: list[str]) -> dict[str, Any]:
    """What is written about the work, and where to; by the names that its tools know."""
    metrics_token = environ.get("SIGNET_METRICS_TOKEN") or None
    if metrics_token is not None and len(metrics_token) < MIN_TOKEN_CHARACTERS:
        mistakes.append(f"SIGNET_METRICS_TOKEN needs at least {MIN_TOKEN_CHARACTERS} characters")
    log_level = environ.get("SIGNET_LOG_LEVEL", "INFO").upper()
    if log_level not in LOG_LEVELS:
        mistakes.append(f"SIGNET_LOG_LEVEL must be one of {', '.join(LOG_LEVELS)}, not {log_level!r}")
    return {
        "metrics_token": metrics_token,
        "service": environ.get("POWERTOOLS_SERVICE_NAME") or "signet",
        "log_level": log_level,
        "metrics_namespace": environ.get("POWERTOOLS_METRICS_NAMESPACE") or None,
        "traces_exporter": _read_exporter(environ, mistakes),
        "sentry_dsn": environ.get("SENTRY_DSN") or None,
    }


def _read_exporter(environ: Mapping[str, str], mistakes: list[str]) -> str | None:
    """As OpenTelemetry's own start-up reads them; but without any of them nothing is traced."""
    if environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return None
    is_reachable = any(
        environ.get(name) for name in ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
    )
    exporter = environ.get("OTEL_TRACES_EXPORTER") or ("otlp" if is_reachable else "none")
    if exporter not in ("otlp", "console", "none"):
        mistakes.append(f"OTEL_TRACES_EXPORTER must be otlp, console or none, not {exporter!r}")
    return None if exporter == "none" else exporter


def _read_list(environ: Mapping[str, str], name: str) -> tuple[str, ...]:
    return tuple(part for text in environ.get(name, "").split(",") if (part := text.strip()))


def _read_issuer(environ: Mapping[str, str], environment: str, mistakes: list[str]) -> IssuerSettings | None:
    names = ("SIGNET_JWT_ISSUER", "SIGNET_JWT_AUDIENCE", "SIGNET_JWT_KEYS_URL")
    issuer, audiences, url = (
        environ.get(names[0], ""),
        _read_list(environ, names[1]),
        environ.get(names[2], ""),
    )
    if not (issuer or audiences or url):
        return None
    missing = [name for name, value in zip(names, (issuer, audiences, url), strict=True) if not value]
    mistakes += [f"{name} is not set, but others of {', '.join(names)} are" for name in missing]
    if url and not _is_place_of_keys(url, is_local=environment == "local"):
        mistakes.append(
            f"{names[2]} must be an https URL (http for a loopback host where SIGNET_ENVIRONMENT=local), "
            f"not {url!r}"
        )
    claims = ClaimNames(
        subject=_read_claim(environ, "SIGNET_JWT_SUBJECT_CLAIM", ClaimNames.subject, mistakes),
        tenant=_read_claim(environ, "SIGNET_JWT_TENANT_CLAIM", ClaimNames.tenant, mistakes),
        roles=_read_claim(environ, "SIGNET_JWT_ROLES_CLAIM", ClaimNames.roles, mistakes),
    )
    return IssuerSettings(issuer, audiences, url, claims)


def _is_place_of_keys(url: str, *, is_local: bool) -> bool:
    try:
        place = urlsplit(url)
        # Reading the port checks it.
        has_host = bool(place.hostname) and place.port != 0
    except ValueError:
        return False
    is_plain = place.username is None and not place.fragment and url.isascii() and url.isprintable()
    is_safe = place.scheme == "https" or (
        is_local and place.scheme == "http" and place.hostname in _LOOPBACK_HOSTS
    )
    return has_host and is_plain and is_safe and " " not in url


def _read_claim(environ: Mapping[str, str], name: str, default: str, mistakes: list[str]) -> str:
    claim = environ.get(name, default)
    if not 0 < len(claim) <= MAX_CLAIM_CHARACTERS or not claim.isprintable() or not all(claim.split(".")):
        mistakes.append(f"{name} must name a claim, not {claim!r}")
    return claim


def _read_operator_role(environ: Mapping[str, str], mistakes: list[str]) -> str | None:
    role = environ.get("SIGNET_OPERATOR_ROLE")
    # A tenant's roles have no colon: none of them can be taken for it.
    if role is not None and not _OPERATOR_ROLE.fullmatch(role):
        mistakes.append(f"SIGNET_OPERATOR_ROLE must have a colon, such as signet:operator, not {role!r}")
    return role


def _is_module(name: str) -> bool:
    return all(part.isidentifier() and not keyword.iskeyword(part) for part in name.split("."))
