"""Signet on one machine: a Postgres, the migrations, the example tenants, the API behind a local gateway.

The API is the real Lambda handler, and gets real API Gateway events; only the gateway is ours.
"""

import os
import select
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event

from signet.core.errors import Rejected, Transient
from signet.core.tenants.principal import Principal
from signet.core.tenants.tenant_file import TenantFile
from signet.engine.access.command_line import read_command_line_caller
from signet.engine.tenants.install import read_principal
from signet.engine.tenants.tenant_files import install_tenant_file
from signet.local.development_token import read_development_secret
from signet.local.gateway import MAX_CONNECTIONS, Handler, open_gateway
from signet.local.housekeeping_loop import running_housekeeping
from signet.local.member_token import DATABASE_NAME, OPERATOR_ROLE, RUNTIME_ROLE, write_member_token
from signet.local.postgres import PostgresServer, running_postgres
from signet.local.tenant_file import EXAMPLES_FOLDER, read_tenant_file
from signet.local.worker_loop import running_worker
from signet.store.database import Database, PoolSettings
from signet.store.schema.migrations import migrate_up, read_migrations
from signet.store.schema.server import (
    act_as,
    check_server,
    create_database,
    database_exists,
    let_act_as,
    may_come,
    use_database,
)
from signet.wiring.api import get_application, get_heavy_calls
from signet.wiring.effects import get_effects
from signet.wiring.engine import make_worker
from signet.wiring.housekeeping import make_housekeeping
from signet.wiring.process import MIGRATIONS_FOLDER, get_bell, get_settings, get_telemetry

WORKER_ROLE, JANITOR_ROLE = "signet_worker", "signet_janitor"
POOL_SIZE = 8
# For calls about large definitions, beside the threads of the API.
HEAVY_PROCESSES = 2
# How often a server of our own is looked after, and how often one that is away is asked for at the start.
TEND_SECONDS, SERVER_TRIES = 1.0, 60
# Waits for the end of everything, for so many seconds, and says whether it is there.
IsStopped = Callable[[float], bool]


@dataclass(frozen=True)
class Runtime:
    """The settings that a deployment's environment would give to the Lambda."""

    database_url: str
    development_secret: str


@dataclass(frozen=True)
class InstalledTenant:
    """A tenant as it is after its file was installed, with the people who are active in it."""

    file: TenantFile
    people: Sequence[Principal]
    kept: Sequence[str]


def run_signet(*, port: int, state: Path, database_url: str | None) -> None:
    """Serve until SIGINT, SIGTERM or the end of the terminal.

    The port is taken first, so that a taken one changes nothing.
    """
    is_stopped = _listen_for_stop()
    with open_gateway("127.0.0.1", port) as gateway:
        tenants = [read_tenant_file(path) for path in sorted(EXAMPLES_FOLDER.rglob("tenant.yaml"))]
        with _owned_database(state, database_url, is_stopped) as (owner_url, tend):
            # Before the migrations: a folder that cannot be written to ends the start here.
            secret = read_development_secret(state)
            installed = _prepare(owner_url, tenants)
            runtime = Runtime(act_as(owner_url, RUNTIME_ROLE), secret)
            # Loads the users' Python too, which the worker runs.
            handler = _load_handler(runtime)
            with _running_engine(owner_url) as engine, _running_housekeeping(owner_url) as housekeeping:
                gateway.start(handler)
                _greet(gateway.url, runtime, installed)
                while not is_stopped(TEND_SECONDS):
                    tend()
                with suppress(OSError):  # the terminal may be gone
                    print("stopping", flush=True)
                # All at once, so that together they take no longer than the slowest.
                _stop_heavy_calls()
                engine.set()
                housekeeping.set()
                gateway.stop()


def _listen_for_stop() -> IsStopped:
    """Return a function that waits for the signal, for so many seconds, and says whether it came.

    The system's own handler writes to the pipe, so no signal is lost. An Event would lock up if a second
    signal comes while the first one sets it. More signals than one change nothing.
    """
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    numbers = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:  # `nohup` asks to go on
        numbers.append(signal.SIGHUP)
    for number in numbers:
        signal.signal(number, lambda _number, _frame: None)
    return lambda seconds: bool(select.select([reading], [], [], seconds)[0])


@contextmanager
def _owned_database(
    state: Path, database_url: str | None, is_stopped: IsStopped
) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield the owner's URL of the database, and what to do for its server from time to time."""
    if database_url is not None:
        _wait_for_server(database_url, is_stopped)
        yield database_url, lambda: None
        return
    with running_postgres(state) as server:
        if not database_exists(server.url, DATABASE_NAME):
            create_database(server.url, DATABASE_NAME)
        yield use_database(server.url, DATABASE_NAME), lambda: _tend(server)


def _wait_for_server(database_url: str, is_stopped: IsStopped) -> None:
    """Wait for a server that is away, or that starts. One that refuses us ends the start."""
    for tries_left in reversed(range(SERVER_TRIES)):
        try:
            check_server(database_url)
            return
        except Transient as error:
            if not tries_left or not may_come(error) or is_stopped(TEND_SECONDS):
                raise
            print(f"waiting for the database: {error}", file=sys.stderr, flush=True)


def _tend(server: PostgresServer) -> None:
    if server.tend():
        print("PostgreSQL had ended by itself, and was started again", file=sys.stderr, flush=True)


@contextmanager
def _running_engine(owner_url: str) -> Iterator[Event]:
    """Run the engine, as the role that it has on AWS too."""
    database = Database(act_as(owner_url, WORKER_ROLE), PoolSettings(size=1))
    try:
        telemetry = get_telemetry()
        worker = make_worker(database, telemetry)
        with running_worker(database, worker, get_effects(database), telemetry, get_bell()) as stop:
            yield stop
    finally:
        database.close()


@contextmanager
def _running_housekeeping(owner_url: str) -> Iterator[Event]:
    """Run housekeeping, as the role that it has on AWS too."""
    database = Database(act_as(owner_url, JANITOR_ROLE), PoolSettings(size=1))
    try:
        telemetry = get_telemetry()
        housekeeping = make_housekeeping(database, get_settings().retentions, telemetry)
        with running_housekeeping(housekeeping, database=database, telemetry=telemetry) as stop:
            yield stop
    finally:
        database.close()


def _prepare(owner_url: str, tenants: Sequence[TenantFile]) -> list[InstalledTenant]:
    migrate_up(owner_url, read_migrations(MIGRATIONS_FOLDER))
    for role in (RUNTIME_ROLE, WORKER_ROLE, JANITOR_ROLE):
        let_act_as(owner_url, role)
    database = Database(act_as(owner_url, RUNTIME_ROLE), PoolSettings())
    try:
        return [_install(database, tenant) for tenant in tenants]
    finally:
        database.close()


def _install(database: Database, tenant: TenantFile) -> InstalledTenant:
    caller = read_command_line_caller(database, tenant.tenant_id)
    outcome = install_tenant_file(database, caller, tenant)
    people = [
        person
        for member in tenant.members
        if (person := _find_person(database, tenant, member.user_id)) is not None
    ]
    return InstalledTenant(tenant, people, outcome.kept)


def _find_person(database: Database, tenant: TenantFile, user_id: str) -> Principal | None:
    """Find a member with their roles of now; None if they were disabled."""
    try:
        return read_principal(database, tenant.tenant_id, user_id)
    except Rejected:
        return None


def _load_handler(runtime: Runtime) -> Handler:
    os.environ.update(
        {
            "SIGNET_ENVIRONMENT": "local",
            "SIGNET_DATABASE_URL": runtime.database_url,
            "SIGNET_DATABASE_POOL_SIZE": str(POOL_SIZE),
            "SIGNET_MAX_WAITS": str(MAX_CONNECTIONS // 4),
            "SIGNET_HEAVY_PROCESSES": os.environ.get("SIGNET_HEAVY_PROCESSES", str(HEAVY_PROCESSES)),
            "SIGNET_DEVELOPMENT_SECRET": runtime.development_secret,
            "SIGNET_OPERATOR_ROLE": OPERATOR_ROLE,
            # A line for each request and wave is too much for a terminal, unless it is asked for.
            "SIGNET_LOG_LEVEL": os.environ.get("SIGNET_LOG_LEVEL", "WARNING"),
        }
    )
    # Imported only now: like a Lambda, the handler finds its environment in place.
    from functions.api.handler import handler

    # Now and not with the first request, so that a wrong environment stops the start.
    get_application()
    from signet.api.openapi.build import renew_page

    with suppress(OSError):  # a checkout that nobody may write to has no page
        renew_page()
    return handler


def _stop_heavy_calls() -> None:
    calls = get_heavy_calls()
    if calls is not None:
        calls.stop()


def _greet(url: str, runtime: Runtime, tenants: Sequence[InstalledTenant]) -> None:
    print(f"Signet is at {url}", flush=True)
    for tenant in tenants:
        names = {member.user_id: member.display_name for member in tenant.file.members}
        for person in tenant.people:
            token = write_member_token(runtime.development_secret, person)
            roles = ", ".join(person.roles) or "no role"
            print(f"As {names[person.subject]} of {tenant.file.name}, {roles} (for a day):")
            print(f"  curl -H 'authorization: Bearer {token}' {url}/v1/health", flush=True)
        for sentence in tenant.kept:
            print(f"kept: {sentence}")
    print("Another token: .venv/bin/signet token PERSON (an operator's: with --operator)")
    print("In this folder, .venv/bin/signet works on this database while it runs.", flush=True)
    print("Ctrl-C stops it.", flush=True)
