"""The environment, read once by `wiring` or the command line and passed on as one frozen value."""

import keyword
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from signet.core.errors import Rejected

Environment = Literal["local", "dev", "staging", "prod"]
MAX_POOL_SIZE = 100
MIN_TOKEN_CHARACTERS = 32
LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
_ORIGIN = re.compile(r"https?://[a-z0-9.-]+(:[0-9]{1,5})?")


@dataclass(frozen=True)
class Settings:
    environment: Environment
    database_url: str
    database_pool_size: int
    database_pool_idle_count: int
    database_pool_lifetime_seconds: int
    development_secret: str | None
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
    named = tuple(name for text in environ.get("SIGNET_EXTENSIONS", "").split(",") if (name := text.strip()))
    mistakes += [
        f"SIGNET_EXTENSIONS names modules, separated by commas; {name!r} is none"
        for name in named
        if not _is_module(name)
    ]
    origins = tuple(
        name for text in environ.get("SIGNET_CORS_ORIGINS", "").split(",") if (name := text.strip())
    )
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
        extensions=named,
        cors_origins=origins,
        **watched,
    )
    if mistakes:
        raise Rejected("SETTINGS_INVALID", "; ".join(mistakes))
    return settings


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


def _is_module(name: str) -> bool:
    return all(part.isidentifier() and not keyword.iskeyword(part) for part in name.split("."))
