"""Signet on one machine: a Postgres, the migrations, the example tenants, the API behind a local gateway.

The API is the real Lambda handler, fed real API Gateway events; only the gateway is ours.
"""

import os
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType

from signet.core.tenancy import TenantFile
from signet.engine.tenants import install_tenant
from signet.local.development_token import make_development_token, read_development_secret
from signet.local.gateway import Handler, open_gateway
from signet.local.postgres import running_postgres
from signet.local.tenant_file import read_tenant_file
from signet.store.database import Database, PoolSettings
from signet.store.migrations import migrate_up, read_migrations
from signet.store.server import act_as, create_database, database_exists, use_database
from signet.wiring import MIGRATIONS_FOLDER

EXAMPLES_FOLDER = MIGRATIONS_FOLDER.parent / "examples"
DATABASE_NAME = "signet"
POOL_SIZE = 8
TOKEN_LIFETIME_SECONDS = 86_400


@dataclass(frozen=True)
class Runtime:
    """What a deployment's environment would say to the Lambda."""

    database_url: str
    development_secret: str


def run_signet(*, port: int, state: Path, database_url: str | None) -> None:
    """Serve until SIGINT or SIGTERM. The port is taken first, so that a taken one changes nothing."""
    stopped = _listen_for_stop()
    with open_gateway("127.0.0.1", port) as gateway:
        tenants = [read_tenant_file(path) for path in sorted(EXAMPLES_FOLDER.rglob("tenant.yaml"))]
        with _owned_database(state, database_url) as owner_url:
            _prepare(owner_url, tenants)
            runtime = Runtime(act_as(owner_url, "signet_api"), read_development_secret(state))
            gateway.start(_load_handler(runtime))
            _greet(gateway.url, runtime, tenants)
            stopped.wait()
            print("stopping", flush=True)
            gateway.stop()


def _listen_for_stop() -> threading.Event:
    stopped = threading.Event()

    def stop(_number: int, _frame: FrameType | None) -> None:
        if stopped.is_set():
            return  # the second Ctrl-C of an impatient person must not cut the orderly stop short
        stopped.set()

    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, stop)
    return stopped


@contextmanager
def _owned_database(state: Path, database_url: str | None) -> Iterator[str]:
    if database_url is not None:
        yield database_url
        return
    with running_postgres(state) as server:
        if not database_exists(server.url, DATABASE_NAME):
            create_database(server.url, DATABASE_NAME)
        yield use_database(server.url, DATABASE_NAME)


def _prepare(owner_url: str, tenants: Sequence[TenantFile]) -> None:
    migrate_up(owner_url, read_migrations(MIGRATIONS_FOLDER))
    database = Database(act_as(owner_url, "signet_api"), PoolSettings())
    try:
        for tenant in tenants:
            install_tenant(database, tenant)
    finally:
        database.close()


def _load_handler(runtime: Runtime) -> Handler:
    os.environ.update(
        {
            "SIGNET_ENVIRONMENT": "local",
            "SIGNET_DATABASE_URL": runtime.database_url,
            "SIGNET_DATABASE_POOL_SIZE": str(POOL_SIZE),
            "SIGNET_DEVELOPMENT_SECRET": runtime.development_secret,
        }
    )
    # Imported only now: like a Lambda, the handler finds its environment in place.
    from functions.api.handler import handler

    return handler


def _greet(url: str, runtime: Runtime, tenants: Sequence[TenantFile]) -> None:
    print(f"Signet is at {url}", flush=True)
    for tenant in tenants:
        member = tenant.members[0]
        token = make_development_token(
            runtime.development_secret,
            tenant_id=tenant.tenant_id,
            subject=member.user_id,
            roles=member.roles,
            lifetime_seconds=TOKEN_LIFETIME_SECONDS,
            now=datetime.now(UTC),
        )
        print(f"As {member.display_name} of {tenant.name} (for a day):")
        print(f"  curl -H 'authorization: Bearer {token}' {url}/v1/health", flush=True)
    print("Ctrl-C stops it.", flush=True)
