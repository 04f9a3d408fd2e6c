"""One Postgres for the whole run, with a migrated template and a fresh database for each test that asks.

SIGNET_TEST_DATABASE_URL (an admin's) names an existing server to use instead of the embedded one. Tests that
need a superuser are skipped when that admin is none, as on a managed server.
"""

import gc
import os
from collections.abc import Iterator
from contextlib import ExitStack
from uuid import UUID, uuid4

import psycopg
import pytest
from hypothesis import settings

from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import TenantFile
from signet.engine.dispatch import claim_bounds, due_looks, unsettled
from signet.engine.tenants.install import install_tenant
from signet.local.postgres import throwaway_postgres
from signet.store.database import Database, PoolSettings
from signet.store.schema.migrations import migrate_up, read_migrations
from signet.store.schema.server import create_database, let_act_as, use_database
from signet.wiring.process import MIGRATIONS_FOLDER
from tests.support.database.catalogue import RUNTIME_ROLES
from tests.support.database.runtime_roles import IS_POOLED, as_role, expect_clean_sessions, start_pooler
from tests.support.database.server import drop_database, hang_up, make_database

# A busy machine is no failure.
settings.register_profile("signet", deadline=None)
settings.load_profile("signet")

_SERVER = "SIGNET_TEST_SERVER_URL"
_TEMPLATE = "SIGNET_TEST_TEMPLATE"
# Each has a test of many seconds: last, one process would wait for it alone.
_SLOW = ("conformance/", "docs/test_pasted_pages", "bench/", "chaos/", "migrations/test_migrations", "local/")
_running = ExitStack()


def pytest_configure(config: pytest.Config) -> None:
    """Start the server only in the process that distributes the tests.

    Its workers inherit the environment.
    """
    # Tests move due times and leases by hand, so that each claim looks at everything.
    claim_bounds.LOOK_AT_ALL_SECONDS = 0.0
    unsettled.PUT_OFF_SECONDS = 0.0
    due_looks.OFTEN = due_looks.LookPlan(0.0, due_looks.OFTEN.margin)
    if hasattr(config, "workerinput") or config.option.collectonly or config.option.help:
        return
    url = os.environ.get("SIGNET_TEST_DATABASE_URL")
    if url is None or IS_POOLED:
        server = _running.enter_context(throwaway_postgres())
        url = server.url
    template = f"signet_template_{os.getpid()}"
    create_database(url, template)
    _running.callback(hang_up, url)
    _running.callback(drop_database, url, template)
    migrate_up(use_database(url, template), read_migrations(MIGRATIONS_FOLDER), say=lambda _: None)
    for role in RUNTIME_ROLES:
        let_act_as(url, role)
    if IS_POOLED:
        start_pooler(server, _running)
    os.environ[_SERVER], os.environ[_TEMPLATE] = url, template


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes longest."""
    items.sort(key=lambda item: not item.nodeid.removeprefix("tests/").startswith(_SLOW))


def pytest_collection_finish() -> None:
    """Take the tests and all modules out of what the collector walks: they live as long as the run."""
    gc.freeze()


def pytest_unconfigure() -> None:
    _running.close()


@pytest.fixture(scope="session")
def server_url() -> Iterator[str]:
    """Yield an admin's URL of the server of this run."""
    url = os.environ[_SERVER]
    yield url
    hang_up(url)


@pytest.fixture
def empty_database_url(server_url: str) -> Iterator[str]:
    """Yield an admin's URL of an empty database."""
    name = f"signet_{uuid4().hex}"
    create_database(server_url, name)
    yield use_database(server_url, name)
    drop_database(server_url, name)


@pytest.fixture
def owner_url(server_url: str) -> Iterator[str]:
    """Yield an admin's URL of a migrated database of this test's own."""
    name = f"signet_{uuid4().hex}"
    make_database(server_url, name, os.environ[_TEMPLATE])
    url = use_database(server_url, name)
    yield url
    expect_clean_sessions(url)
    drop_database(server_url, name)


@pytest.fixture
def database(owner_url: str) -> Iterator[Database]:
    """Yield the database in the API's role."""
    database = Database(as_role(owner_url, "signet_api"), PoolSettings(size=4))
    yield database
    database.close()


@pytest.fixture
def worker(owner_url: str) -> Iterator[Database]:
    """Yield the database in the workers' role."""
    database = Database(as_role(owner_url, "signet_worker"), PoolSettings(size=4))
    yield database
    database.close()


@pytest.fixture
def admin(owner_url: str) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    """Yield the admin's connection, for reading behind row security and for attacking as an owner."""
    with psycopg.connect(owner_url, autocommit=True) as connection:
        yield connection


@pytest.fixture
def superuser(admin: psycopg.Connection[tuple[object, ...]]) -> psycopg.Connection[tuple[object, ...]]:
    if admin.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user").fetchone() != (True,):
        pytest.skip("only a superuser may try this")
    return admin


@pytest.fixture
def tenant(database: Database) -> TenantFile:
    """Return an installed tenant with a clerk who reports to a manager."""
    tenant = make_tenant_file(uuid4())
    install_tenant(database, tenant, COMMAND_LINE)
    return tenant


def make_tenant_file(tenant_id: UUID) -> TenantFile:
    return TenantFile.model_validate(
        {
            "tenant_id": tenant_id,
            "name": "acme",
            "settings": {"custom": {"trusted_vendors": {"type": "list of string", "value": ["V-1"]}}},
            "roles": [
                {"role": "clerk", "permissions": ["invoice:create"]},
                {"role": "manager", "permissions": ["invoice:approve", "invoice:cancel"]},
            ],
            "members": [
                {"user_id": "mona", "display_name": "Mona", "roles": ["manager"]},
                {"user_id": "carl", "display_name": "Carl", "roles": ["clerk"], "manager": "mona"},
            ],
        }
    )
