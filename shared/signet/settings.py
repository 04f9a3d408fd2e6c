"""The environment, read once by `wiring` or the command line and passed on as one frozen value.

Each table names the variables of one value: how a text is parsed, and what holds where none is set.
"""

import keyword
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any, Literal, get_args
from urllib.parse import urlsplit

from signet.aws_settings import AwsSettings, read_aws, read_region
from signet.core.errors import Rejected
from signet.core.tenants.request_limits import DEFAULT_LIMITS, RequestLimits
from signet.core.tenants.retention import LEAST_DAYS, MAX_RETENTION_DAYS, Retentions

Environment = Literal["local", "dev", "staging", "prod"]
MAX_POOL_SIZE = 100
MAX_WAITS = 10_000
MAX_HEAVY_PROCESSES = 16
MIN_TOKEN_CHARACTERS = 32
LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
MAX_CLAIM_CHARACTERS = 200
_LOOPBACK_HOSTS = ("127.0.0.1", "localhost", "::1")
_OPERATOR_ROLE = re.compile(r"[A-Za-z0-9_.-]{1,60}(:[A-Za-z0-9_.-]{1,60})+")
_EVENT_SOURCE = re.compile(r"[A-Za-z0-9._/-]{1,256}")
# Where no bundle runs but the sources.
SOURCES = "sources"
_BUILD_ID = re.compile(r"[A-Za-z0-9.-]{1,64}")
_ORIGIN = re.compile(r"https?://[a-z0-9.-]+(:[0-9]{1,5})?")


@dataclass(frozen=True)
class ClaimNames:
    """Claims that name the person. Dots lead into objects, except in names such as https://a.example/roles."""

    subject: str = "sub"
    tenant: str = "tenant_id"
    roles: str = "roles"


@dataclass(frozen=True)
class IssuerSettings:
    """The issuer of the tokens that are accepted; one for a deployment."""

    issuer: str
    audiences: tuple[str, ...]
    keys_url: str
    claims: ClaimNames


@dataclass(frozen=True)
class DeliverySettings:
    """Outbound deliveries of this deployment. A channel that is not named has no connector."""

    # An identity that SES has verified.
    mail_sender: str | None = None
    # The bus of EventBridge, and the source that our events carry.
    bus_name: str | None = None
    event_source: str = "signet"
    sends_text_messages: bool = False
    # Allowed although the guard refuses them: receivers on the same machine or network, for tests.
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
    # Processes of their own for calls about large definitions; on AWS each request has one already.
    heavy_processes: int = 0
    # The modules with users' Python.
    extensions: tuple[str, ...] = ()
    # Origins of the web pages that may call the API from a browser.
    cors_origins: tuple[str, ...] = ()
    # The token of a collector of /metrics; without one nobody may read them.
    metrics_token: str | None = None
    service: str = "signet"
    # The bundle that runs; a process that runs from the sources has no other name for them.
    build: str = SOURCES
    log_level: str = "INFO"
    # The namespace of CloudWatch's metrics; without one none are written.
    metrics_namespace: str | None = None
    # The collector of traces, by the names of OpenTelemetry; None is nowhere.
    traces_exporter: Literal["otlp", "console"] | None = None
    sentry_dsn: str | None = None
    issuer: IssuerSettings | None = None
    # A token with this role may install and suspend tenants, and grant them quotas.
    operator_role: str | None = None
    # The folder of the tenants' secrets: a file each, in a folder for each tenant.
    secrets_folder: str | None = None
    # The kind of password that the database takes: that of the URL, or a token of IAM.
    database_auth: Literal["url", "iam"] = "url"
    aws: AwsSettings | None = None
    retentions: Retentions = field(default_factory=Retentions)
    leaving: DeliverySettings = field(default_factory=DeliverySettings)
    limits: RequestLimits = field(default_factory=RequestLimits)


class _Broken(ValueError):
    """An error with a sentence for each rule that a text breaks, without the name of its variable."""


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of the environment, and the field that it becomes."""

    name: str
    field: str
    # A text that is parsed as None is not set.
    parse: Callable[[str], Any] = lambda text: text or None
    default: Any = None
    is_required: bool = False
    # All environments, unless some are named.
    only_in: Sequence[Environment] = ()


def _number(lowest: int, highest: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        if text.isascii() and text.isdigit() and lowest <= int(text) <= highest:
            return int(text)
        raise _Broken(f"must be a whole number from {lowest} to {highest}, not {text!r}")

    return parse


def _matching(is_good: Callable[[str], Any], rule: str) -> Callable[[str], str]:
    """Return a parser that takes a text as it is. The rule may show the text, as `{!r}`."""

    def parse(text: str) -> str:
        if is_good(text):
            return text
        raise _Broken(rule.format(text))

    return parse


def _one_of(names: Sequence[str], rule: str = "") -> Callable[[str], str]:
    return _matching(set(names).__contains__, (rule or f"must be one of {', '.join(names)}") + ", not {!r}")


def _list(rule: str = "", parse_part: Callable[[str], str] = str) -> Callable[[str], Any]:
    def parse(text: str) -> tuple[str, ...] | None:
        parsed, wrong = [], []
        for part in filter(None, map(str.strip, text.split(","))):
            try:
                parsed.append(parse_part(part))
            except ValueError:
                wrong.append(f"{rule}, separated by commas; {part!r} is none")
        if wrong:
            raise _Broken(*wrong)
        return tuple(parsed) or None

    return parse


def _optional(parse: Callable[[str], Any]) -> Callable[[str], Any]:
    return lambda text: parse(text) if text else None


def _is_module(name: str) -> bool:
    return all(part.isidentifier() and not keyword.iskeyword(part) for part in name.split("."))


def _is_claim(claim: str) -> bool:
    return 0 < len(claim) <= MAX_CLAIM_CHARACTERS and claim.isprintable() and all(claim.split("."))


def _is_event_source(name: str) -> bool:
    return _EVENT_SOURCE.fullmatch(name) is not None and not name.startswith("aws.")


_MODULES = _list("names modules", _matching(_is_module, ""))
_ORIGINS = _list("names origins such as https://a.example", _matching(_ORIGIN.fullmatch, ""))
_ADDRESSES = _list("names IP addresses", lambda text: str(ip_address(text)))
_LEVEL = _one_of(LOG_LEVELS)
_TOKEN = _matching(
    lambda token: len(token) >= MIN_TOKEN_CHARACTERS, f"needs at least {MIN_TOKEN_CHARACTERS} characters"
)
# A tenant's roles have no colon: none of them can be taken for it.
_ROLE = _matching(_OPERATOR_ROLE.fullmatch, "must have a colon, such as signet:operator, not {!r}")
_AUTH = _one_of(["url", "iam"], "must be url or iam")
_CLAIM = _matching(_is_claim, "must name a claim, not {!r}")
_MAIL = _matching(lambda text: "@" in text and text.isprintable(), "must be a mail address, not {!r}")
_SOURCE = _matching(_is_event_source, "must be a name such as com.example.signet, not {!r}")
_BUILD = _matching(_BUILD_ID.fullmatch, "must be letters, digits, dots and dashes, not {!r}")
_SWITCH = _one_of(["on", "off"], "must be on or off")

PROCESS = (
    Variable("SIGNET_ENVIRONMENT", "environment", _one_of(get_args(Environment)), "prod"),
    Variable("SIGNET_DATABASE_URL", "database_url", is_required=True),
    Variable("SIGNET_DEVELOPMENT_SECRET", "development_secret", str, only_in=["local"]),
    Variable("SIGNET_EXTENSIONS", "extensions", _MODULES, ()),
    Variable("SIGNET_CORS_ORIGINS", "cors_origins", _ORIGINS, ()),
    Variable("SIGNET_METRICS_TOKEN", "metrics_token", _optional(_TOKEN)),
    Variable("SIGNET_LOG_LEVEL", "log_level", lambda text: _LEVEL(text.upper()), "INFO"),
    Variable("POWERTOOLS_SERVICE_NAME", "service", default="signet"),
    Variable("POWERTOOLS_METRICS_NAMESPACE", "metrics_namespace"),
    Variable("SENTRY_DSN", "sentry_dsn"),
    Variable("SIGNET_BUILD", "build", _optional(_BUILD), SOURCES),
    Variable("SIGNET_DATABASE_POOL_SIZE", "database_pool_size", _number(1, MAX_POOL_SIZE), 1),
    Variable("SIGNET_DATABASE_POOL_IDLE_COUNT", "database_pool_idle_count", _number(0, MAX_POOL_SIZE), 0),
    Variable(
        "SIGNET_DATABASE_POOL_LIFETIME_SECONDS", "database_pool_lifetime_seconds", _number(10, 86_400), 900
    ),
    Variable("SIGNET_DATABASE_WAIT_SECONDS", "database_wait_seconds", _number(1, 60), 5),
    Variable("SIGNET_HEAVY_PROCESSES", "heavy_processes", _number(0, MAX_HEAVY_PROCESSES), 0),
    Variable("SIGNET_OPERATOR_ROLE", "operator_role", _ROLE),
    Variable("SIGNET_SECRETS_FOLDER", "secrets_folder"),
    Variable("SIGNET_DATABASE_AUTH", "database_auth", _AUTH, "url"),
)
ISSUER = (
    Variable("SIGNET_JWT_ISSUER", "issuer", default=""),
    Variable("SIGNET_JWT_AUDIENCE", "audiences", _list(), ()),
    Variable("SIGNET_JWT_KEYS_URL", "keys_url", default=""),
)
CLAIMS = (
    Variable("SIGNET_JWT_SUBJECT_CLAIM", "subject", _CLAIM, ClaimNames.subject),
    Variable("SIGNET_JWT_TENANT_CLAIM", "tenant", _CLAIM, ClaimNames.tenant),
    Variable("SIGNET_JWT_ROLES_CLAIM", "roles", _CLAIM, ClaimNames.roles),
)
# Named after its fields: SIGNET_RETENTION_OUTBOX_DAYS.
RETENTIONS = tuple(
    Variable(f"SIGNET_RETENTION_{field.upper()}", field, _number(least, MAX_RETENTION_DAYS), default)
    for field, least in LEAST_DAYS.items()
    for default in [getattr(Retentions, field)]
)
LEAVING = (
    Variable("SIGNET_MAIL_SENDER", "mail_sender", _optional(_MAIL)),
    Variable("SIGNET_BUS_NAME", "bus_name"),
    Variable("SIGNET_EVENT_SOURCE", "event_source", _optional(_SOURCE), DeliverySettings.event_source),
    Variable("SIGNET_TEXT_MESSAGES", "text_messages", _optional(_SWITCH), "off"),
    Variable("SIGNET_WEBHOOK_ADDRESSES", "webhook_addresses", _ADDRESSES, (), only_in=["local", "dev"]),
)
LIMITS = (
    Variable("SIGNET_PERSON_PERCENT", "person_percent", _number(1, 100), DEFAULT_LIMITS.person_percent),
    Variable("SIGNET_MAX_WAITS", "max_waits", _number(0, MAX_WAITS), DEFAULT_LIMITS.max_waits),
)


def read_settings(environ: Mapping[str, str]) -> Settings:
    """Read the environment, and report all mistakes at once, each by the name of its variable."""
    mistakes: list[str] = []
    settings = Settings(
        **_read(PROCESS, environ, mistakes),
        traces_exporter=_read_exporter(environ, mistakes),
        issuer=_read_issuer(environ, mistakes),
        aws=read_aws(environ, mistakes),
        retentions=Retentions(**_read(RETENTIONS, environ, mistakes)),
        leaving=_read_leaving(environ, mistakes),
        limits=RequestLimits(**_read(LIMITS, environ, mistakes)),
    )
    if mistakes:
        raise Rejected("SETTINGS_INVALID", "; ".join(mistakes))
    return settings


def _read(variables: Sequence[Variable], environ: Mapping[str, str], mistakes: list[str]) -> dict[str, Any]:
    """Return the value of each field, and add what is wrong with the texts."""
    environment = environ.get("SIGNET_ENVIRONMENT", "prod")
    values: dict[str, Any] = {}
    for variable in variables:
        name, value = variable.name, None
        wrong: tuple[str, ...] = ()
        try:
            if name in environ:
                value = variable.parse(environ[name])
        except _Broken as error:
            wrong = error.args
        is_set = value is not None or bool(wrong)
        if is_set and variable.only_in and environment not in variable.only_in:
            mistakes.append(f"{name} is for SIGNET_ENVIRONMENT={' or '.join(variable.only_in)} only")
        if variable.is_required and not is_set:
            mistakes.append(f"{name} is not set")
        mistakes += [f"{name} {sentence}" for sentence in wrong]
        values[variable.field] = variable.default if value is None else value
    return values


def _read_issuer(environ: Mapping[str, str], mistakes: list[str]) -> IssuerSettings | None:
    values = _read(ISSUER, environ, mistakes)
    if not any(values.values()):
        return None
    names = [variable.name for variable in ISSUER]
    mistakes += [
        f"{name} is not set, but others of {', '.join(names)} are"
        for name, value in zip(names, values.values(), strict=True)
        if not value
    ]
    url = values["keys_url"]
    if url and not _is_place_of_keys(url, is_local=environ.get("SIGNET_ENVIRONMENT") == "local"):
        mistakes.append(
            "SIGNET_JWT_KEYS_URL must be an https URL (http for a loopback host where "
            f"SIGNET_ENVIRONMENT=local), not {url!r}"
        )
    return IssuerSettings(**values, claims=ClaimNames(**_read(CLAIMS, environ, mistakes)))


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


def _read_leaving(environ: Mapping[str, str], mistakes: list[str]) -> DeliverySettings:
    values = _read(LEAVING, environ, mistakes)
    has_texts = values.pop("text_messages") == "on"
    if (environ.get("SIGNET_MAIL_SENDER") or values["bus_name"] or has_texts) and not read_region(environ):
        mistakes.append("AWS_REGION is not set, but mail, text messages or a bus are")
    addresses = frozenset(values.pop("webhook_addresses"))
    return DeliverySettings(**values, sends_text_messages=has_texts, webhook_addresses=addresses)


def _read_exporter(environ: Mapping[str, str], mistakes: list[str]) -> Any:
    """Return where traces go, as OpenTelemetry's own start-up does. Unset, nothing is traced."""
    if environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return None
    is_reachable = any(
        environ.get(name) for name in ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
    )
    exporter = environ.get("OTEL_TRACES_EXPORTER") or ("otlp" if is_reachable else "none")
    if exporter not in ("otlp", "console", "none"):
        mistakes.append(f"OTEL_TRACES_EXPORTER must be otlp, console or none, not {exporter!r}")
    return None if exporter == "none" else exporter
