"""What every process of Signet is made of: the environment, read once; the database; who watches; secrets.

The other modules here are composition roots, one for each kind of process, so that none loads what only
another one needs.
"""

import os
import sys
from functools import cache
from pathlib import Path
from typing import IO

from signet.outbound.secrets import ReadSecret, SecretsFolder, no_secrets
from signet.settings import Settings, read_settings
from signet.store.database import Database, PoolSettings
from signet.telemetry.log import Log
from signet.telemetry.watching import Watching

# The same place in a checkout and in a Lambda's layer.
MIGRATIONS_FOLDER = Path(__file__).resolve().parents[3] / "migrations"


def make_database(settings: Settings) -> Database:
    return Database(
        settings.database_url,
        PoolSettings(
            size=settings.database_pool_size,
            idle_count=settings.database_pool_idle_count,
            lifetime_seconds=settings.database_pool_lifetime_seconds,
        ),
    )


def make_secrets(settings: Settings) -> ReadSecret:
    return no_secrets if settings.secrets_folder is None else SecretsFolder(Path(settings.secrets_folder))


def make_telemetry(settings: Settings, stream: IO[str]) -> Watching:
    """What is switched off is not loaded."""
    metrics = tracing = sentry = None
    if settings.metrics_namespace is not None:
        from signet.telemetry.metrics import Metrics

        metrics = Metrics(settings.metrics_namespace, settings.service, stream)
    if settings.traces_exporter is not None:
        from signet.telemetry.tracing import make_tracing

        tracing = make_tracing(settings.traces_exporter, settings.service)
    if settings.sentry_dsn is not None:
        from signet.telemetry.sentry import Sentry

        sentry = Sentry(settings.sentry_dsn, settings.environment)
    return Watching(Log(settings.service, settings.log_level, stream), metrics, tracing, sentry)


@cache
def get_settings() -> Settings:
    return read_settings(os.environ)


@cache
def get_telemetry() -> Watching:
    """Of this process, whatever it does."""
    return make_telemetry(get_settings(), sys.stdout)


def get_secrets() -> ReadSecret:
    return make_secrets(get_settings())
