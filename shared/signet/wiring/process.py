"""Parts of every process: the environment, read once; the database; telemetry; secrets.

The other modules here are composition roots, one for each kind of process. So no process loads what only
another one needs.
"""

import gc
import os
import sys
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import IO

from signet.aws.calls import SignedCalls
from signet.aws.credentials import FetchedCredentials, GetCredentials
from signet.aws.database_tokens import make_database_token
from signet.aws.secrets import SecretsManager
from signet.aws.signing import Credentials
from signet.aws.sweeps import ScheduledSweeps
from signet.aws.wake_ups import QueuedWakeUps
from signet.aws_settings import AwsSettings
from signet.core.errors import Rejected
from signet.outbound.secrets import ReadSecret, SecretsFolder, no_secrets
from signet.settings import Settings, read_settings
from signet.store.database import Database, PoolSettings
from signet.store.wake_ups import QueueName, Wake, WakeUp, no_wake_up
from signet.telemetry.fan_out import TelemetryFanOut
from signet.telemetry.log import Log

# At the same relative path in a checkout and in a Lambda's layer.
MIGRATIONS_FOLDER = Path(__file__).resolve().parents[3] / "migrations"
# New objects after which the garbage collector looks for circles among them.
GARBAGE_THRESHOLD = 10_000


def make_database(
    settings: Settings, wake: Wake = no_wake_up, statement_seconds: float = PoolSettings.statement_seconds
) -> Database:
    return Database(
        settings.database_url,
        PoolSettings(
            size=settings.database_pool_size,
            idle_count=settings.database_pool_idle_count,
            lifetime_seconds=settings.database_pool_lifetime_seconds,
            wait_seconds=settings.database_wait_seconds,
            statement_seconds=statement_seconds,
        ),
        wake=wake,
        make_password=_make_passwords(settings),
    )


def make_wake(settings: Settings) -> Wake:
    """Make the sender of wake-ups: messages to queues, and schedules where the relay rarely comes.

    Without queues they ring the bell of this process.
    """
    queued, aws = make_queued_wake_ups(settings), settings.aws
    if queued is None or aws is None:
        return ring_bell
    if aws.sweeps is None:
        return queued
    calls = SignedCalls("scheduler", aws, make_credentials(aws), read_clock)
    sweeps = ScheduledSweeps(calls, aws.sweeps, read_clock)

    def wake(wake_ups: Collection[WakeUp]) -> None:
        queued(wake_ups)
        sweeps(wake_ups)

    return wake


@cache
def get_bell() -> threading.Event:
    """Return the bell of this process: a worker of its own hears it, as `make run` has one."""
    return threading.Event()


def ring_bell(wake_ups: Collection[WakeUp]) -> None:
    get_bell().set()


def make_queued_wake_ups(settings: Settings) -> QueuedWakeUps | None:
    aws = settings.aws
    if aws is None:
        return None
    named: dict[QueueName, str | None] = {"events": aws.events_queue_url, "effects": aws.effects_queue_url}
    urls = {name: url for name, url in named.items() if url is not None}
    if not urls:
        return None
    return QueuedWakeUps(SignedCalls("sqs", aws, make_credentials(aws), read_clock), urls)


def make_credentials(aws: AwsSettings) -> GetCredentials:
    if aws.key_id is not None and aws.secret is not None:
        given = Credentials(aws.key_id, aws.secret, aws.session_token)
        return lambda: given
    if aws.credentials_place is None:
        raise Rejected(
            "SETTINGS_INVALID",
            "nothing of AWS can be signed: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set, "
            "nor is AWS_CONTAINER_CREDENTIALS_FULL_URI",
        )
    return FetchedCredentials(aws.credentials_place, read_clock)


def read_clock() -> datetime:
    """Return the time for signatures only: documents and workflows use the database's time."""
    return datetime.now(UTC)


def make_secrets(settings: Settings) -> ReadSecret:
    aws = settings.aws
    if aws is not None and aws.secrets_prefix is not None:
        calls = SignedCalls("secretsmanager", aws, make_credentials(aws), read_clock)
        return SecretsManager(calls, aws.secrets_prefix)
    return no_secrets if settings.secrets_folder is None else SecretsFolder(Path(settings.secrets_folder))


def make_telemetry(settings: Settings, stream: IO[str]) -> TelemetryFanOut:
    """Make telemetry; what is switched off is not loaded."""
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
    return TelemetryFanOut(Log(settings.service, settings.log_level, stream), metrics, tracing, sentry)


def prepare(wire: Callable[[], object], load_everything: Callable[[], object] | None = None) -> None:
    """Prepare a Lambda while it starts, when it has a whole processor.

    Elsewhere an importer of the handler may have no environment for it yet. A snapshot is made of the
    prepared process and started many times, so everything is loaded. No connection is open yet, because none
    would survive the restore.
    """
    start = os.environ.get("AWS_LAMBDA_INITIALIZATION_TYPE")
    if start == "snap-start" and load_everything is not None:
        load_everything()
    elif start is not None:
        wire()
    if start is not None:
        spare_what_is_loaded()


def spare_what_is_loaded() -> None:
    """Spare the garbage collector everything that is loaded by now, which stays as long as the process.

    Its passes over modules and contracts were a fifth of a worker's time (docs/decisions/0028). A wave of a
    hundred documents holds more than the 700 objects after which a pass usually begins.
    """
    gc.freeze()
    gc.set_threshold(GARBAGE_THRESHOLD)


@contextmanager
def flushing() -> Iterator[None]:
    """Flush telemetry after each call of a function: Lambda freezes the process with the answer."""
    try:
        yield
    finally:
        get_telemetry().flush()


@cache
def get_settings() -> Settings:
    return read_settings(os.environ)


@cache
def get_telemetry() -> TelemetryFanOut:
    """Return the telemetry of this process."""
    return make_telemetry(get_settings(), sys.stdout)


def _make_passwords(settings: Settings) -> Callable[[], str] | None:
    if settings.database_auth == "url" or settings.aws is None:
        return None
    credentials = make_credentials(settings.aws)
    return partial(make_database_token, settings.database_url, settings.aws.region, credentials, read_clock)
