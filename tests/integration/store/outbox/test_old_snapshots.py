"""The janitor's walks and the figures of queues while another transaction has an old snapshot."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, get_args

import psycopg
import pytest

from signet.store.database import Connection, Database, PoolSettings
from signet.store.operations.housekeeping import About, find_expired_tenants, find_tenants, list_overdue
from signet.store.outbox.measures import depth_of, find_oldest, measure_queue, read_pace
from signet.store.outbox.queue import EVER, QUEUES, Queue, release_expired
from tests.support.database.queue_rows import BY_NAME, TENANT
from tests.support.database.runtime_roles import as_role
from tests.support.dead_rows import DEAD_ROWS, count_buffers, leave_dead_rows, old_snapshot

WALKS: tuple[About, ...] = get_args(About)
Measure = Callable[[Connection, Queue[Any], datetime], object]
# What looks from a time on, which a look at everything has found.
OF_TENANT: dict[str, Measure] = {
    "release": lambda connection, queue, since: release_expired(
        connection, queue, TENANT, at_most=10, since=since
    ),
    "depth": lambda connection, queue, since: depth_of(connection, queue, TENANT, since),
    "pace": lambda connection, queue, since: read_pace(
        connection, queue, TENANT, since_seconds=0, since=since
    ),
}
OF_ALL: dict[str, Measure] = {
    "walk": lambda connection, queue, since: find_expired_tenants(
        connection, queue.name, since=since, after=None, at_most=10
    ),
    "measure": lambda connection, queue, since: measure_queue(connection, queue, since),
}


@pytest.fixture
def janitor(owner_url: str) -> Iterator[Database]:
    database = Database(as_role(owner_url, "signet_janitor"), PoolSettings())
    yield database
    database.close()


@pytest.fixture(autouse=True)
def tenant(admin: psycopg.Connection[Any]) -> None:
    admin.execute("INSERT INTO tenants (tenant_id, name, settings) VALUES (%s, 'any', '{}')", (TENANT,))


def count_walks(janitor: Database) -> dict[About, int]:
    """Return the buffers of each walk; the first one of a session reads the catalogue too."""
    counted: dict[About, int] = {}
    for about in (*WALKS, *WALKS):
        with janitor.tenantless_transaction() as connection:
            counted[about] = count_buffers(
                connection,
                partial(find_tenants, connection, about, kept_seconds=0, after=None, at_most=10),
            )
    return counted


def count_overdue(janitor: Database) -> int:
    with janitor.transaction(TENANT) as connection:
        return count_buffers(
            connection,
            lambda: list_overdue(
                connection, TENANT, event_type="overdue", late_seconds=1, again_seconds=1, limit=10
            ),
        )


def count_looks(database: Database, since: datetime) -> dict[tuple[str, str], int]:
    """Return the buffers of what looks at leases and at what is due, from a time on."""
    counted: dict[tuple[str, str], int] = {}
    # The first one of a session reads the catalogue too.
    for _ in range(2):
        for queue in QUEUES:
            with database.transaction(TENANT) as connection:
                for name, measure in OF_TENANT.items():
                    counted[queue.name, name] = count_buffers(
                        connection, partial(measure, connection, queue, since)
                    )
            with database.tenantless_transaction() as connection:
                for name, measure in OF_ALL.items():
                    counted[queue.name, name] = count_buffers(
                        connection, partial(measure, connection, queue, since)
                    )
    return counted


def test_an_old_snapshot_does_not_make_the_walks_of_the_janitor_grow(
    janitor: Database, admin: psycopg.Connection[Any], owner_url: str
) -> None:
    without, overdue = count_walks(janitor), count_overdue(janitor)
    with old_snapshot(owner_url):
        leave_dead_rows(admin, "events", TENANT)
        leave_dead_rows(admin, "effects", TENANT)
        kept = count_walks(janitor)
        assert {about for about in WALKS if kept[about] > 3 * without[about]} == set()
        assert count_overdue(janitor) <= 3 * overdue


def test_an_old_snapshot_does_not_make_looks_at_leases_and_figures_grow(
    janitor: Database, admin: psycopg.Connection[Any], owner_url: str
) -> None:
    """Look at everything once, and from there on afterwards."""
    since = datetime.now(UTC) - timedelta(minutes=1)
    without = count_looks(janitor, since)
    with old_snapshot(owner_url):
        leave_dead_rows(admin, "events", TENANT)
        leave_dead_rows(admin, "effects", TENANT)
        whole, kept = count_looks(janitor, EVER), count_looks(janitor, since)
        assert all(count > DEAD_ROWS for count in whole.values()), whole
        assert {look: kept[look] for look in kept if kept[look] > 3 * without[look]} == {}


@pytest.mark.parametrize("queue", BY_NAME)
def test_what_is_done_is_not_the_oldest(
    janitor: Database, admin: psycopg.Connection[Any], owner_url: str, queue: str
) -> None:
    with old_snapshot(owner_url):
        leave_dead_rows(admin, queue, TENANT)
        with janitor.transaction(TENANT) as connection:
            now = connection.execute("SELECT now()").fetchone()
            assert (find_oldest(connection, BY_NAME[queue], TENANT),) == now
        with janitor.tenantless_transaction() as connection:
            now = connection.execute("SELECT now()").fetchone()
            assert (find_oldest(connection, BY_NAME[queue], None),) == now
