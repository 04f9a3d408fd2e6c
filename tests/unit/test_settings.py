"""Settings: all mistakes at once, each with its variable's name."""

import pytest

from signet.core.errors import Rejected
from signet.settings import read_settings

GOOD = {"SIGNET_DATABASE_URL": "postgresql:///signet"}


def test_defaults_are_those_of_a_lambda() -> None:
    settings = read_settings(GOOD)
    assert (settings.environment, settings.database_pool_size, settings.development_secret) == (
        "prod",
        1,
        None,
    )


def test_all_mistakes_are_told_together() -> None:
    with pytest.raises(Rejected) as caught:
        read_settings(
            {"SIGNET_ENVIRONMENT": "moon", "SIGNET_DATABASE_POOL_SIZE": "0", "SIGNET_DEVELOPMENT_SECRET": "x"}
        )
    message = str(caught.value)
    assert all(
        name in message
        for name in [
            "SIGNET_ENVIRONMENT",
            "SIGNET_DATABASE_POOL_SIZE",
            "SIGNET_DATABASE_URL",
            "SIGNET_DEVELOPMENT_SECRET",
        ]
    )


@pytest.mark.parametrize("text", ["", "-1", "1.5", "٣", "101", "one"])
def test_nonsense_numbers(text: str) -> None:
    with pytest.raises(Rejected, match="SIGNET_DATABASE_POOL_SIZE"):
        read_settings({**GOOD, "SIGNET_DATABASE_POOL_SIZE": text})


def test_a_development_secret_stays_at_home() -> None:
    local = {**GOOD, "SIGNET_ENVIRONMENT": "local", "SIGNET_DEVELOPMENT_SECRET": "s" * 32}
    assert read_settings(local).development_secret == "s" * 32
    with pytest.raises(Rejected, match="local only"):
        read_settings({**local, "SIGNET_ENVIRONMENT": "dev"})


def test_extensions_are_modules_separated_by_commas() -> None:
    assert read_settings(GOOD).extensions == ()
    named = {**GOOD, "SIGNET_EXTENSIONS": " acme.actions, acme_more ,"}
    assert read_settings(named).extensions == ("acme.actions", "acme_more")


@pytest.mark.parametrize("text", ["a b", "a;b", "a..b", ".a", "a.b.", "1a", "../a", "a/b", "for"])
def test_what_is_no_module_is_no_extension(text: str) -> None:
    with pytest.raises(Rejected, match="SIGNET_EXTENSIONS"):
        read_settings({**GOOD, "SIGNET_EXTENSIONS": f"acme.actions,{text}"})


def test_what_watches_is_off_unless_it_is_named() -> None:
    settings = read_settings(GOOD)
    assert (settings.metrics_token, settings.metrics_namespace, settings.sentry_dsn) == (None, None, None)
    assert (settings.traces_exporter, settings.service, settings.log_level) == (None, "signet", "INFO")


OTLP = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4318"}


@pytest.mark.parametrize(
    ("named", "exporter"),
    [
        (OTLP, "otlp"),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://localhost:4318"}, "otlp"),
        ({"OTEL_TRACES_EXPORTER": "console"}, "console"),
        ({**OTLP, "OTEL_TRACES_EXPORTER": "none"}, None),
        ({**OTLP, "OTEL_SDK_DISABLED": "True"}, None),
    ],
)
def test_traces_go_where_opentelemetry_says(named: dict[str, str], exporter: str | None) -> None:
    assert read_settings({**GOOD, **named}).traces_exporter == exporter


@pytest.mark.parametrize(
    "named",
    [
        {"OTEL_TRACES_EXPORTER": "zipkin"},
        {"SIGNET_LOG_LEVEL": "LOUD"},
        {"SIGNET_METRICS_TOKEN": "s" * 31},
    ],
)
def test_what_watches_and_cannot_be_meant(named: dict[str, str]) -> None:
    (name,) = named
    with pytest.raises(Rejected, match=name):
        read_settings({**GOOD, **named})
