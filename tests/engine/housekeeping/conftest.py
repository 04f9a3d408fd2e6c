"""A company for housekeeping tests, and a janitor in the janitor's role."""

from collections.abc import Iterator

import psycopg
import pytest

from signet.engine.execution.worker import Worker
from signet.store.database import Database, PoolSettings
from signet.wiring.engine import make_worker
from tests.engine.conftest import Company
from tests.engine.housekeeping.house import House
from tests.pooling.reaching import as_role


@pytest.fixture
def janitor(owner_url: str) -> Iterator[Database]:
    # A Lambda has one connection, too.
    database = Database(as_role(owner_url, "signet_janitor"), PoolSettings(size=1))
    yield database
    database.close()


@pytest.fixture
def house(company: Company, janitor: Database, superuser: psycopg.Connection[tuple[object, ...]]) -> House:
    return House(company, janitor, superuser)


@pytest.fixture
def moving(worker: Database) -> Worker:
    return make_worker(worker)
