"""The janitor's walks over tenants while another transaction has an old snapshot."""

from collections.abc import Iterator
from functools import partial
from typing import Any, get_args

import psycopg
import pytest

from signet.store.database import Database, PoolSettings
from signet.store.operations.housekeeping import About, find_tenants, list_overdue
from tests.support.database.queue_rows import TENANT
from tests.support.database.runtime_roles import as_role
from tests.support.dead_rows import DEAD_ROWS, count_buffers, leave_dead_rows, old_snapshot

# Once a minute these read what an old snapshot keeps of leases: docs/outages.md says how long that takes.
GROWING: set[About] = {"expired_events", "expired_effects"}
WALKS: tuple[About, ...] = get_args(About)


@pytest.fixture
def janitor(owner_url: str) -> Iterator[Database]:
    database = Database(as_role(owner_url, "signet_janitor"), PoolSettings())
    yield database
    database.close()


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


def test_an_old_snapshot_does_not_make_the_walks_of_the_janitor_grow(
    janitor: Database, admin: psycopg.Connection[Any], owner_url: str
) -> None:
    admin.execute("INSERT INTO tenants (tenant_id, name, settings) VALUES (%s, 'any', '{}')", (TENANT,))
    without, overdue = count_walks(janitor), count_overdue(janitor)
    with old_snapshot(owner_url):
        leave_dead_rows(admin, "events", TENANT)
        leave_dead_rows(admin, "effects", TENANT)
        kept = count_walks(janitor)
        assert {about for about in WALKS if kept[about] > 3 * without[about]} == GROWING
        assert all(kept[about] > DEAD_ROWS for about in GROWING)
        assert count_overdue(janitor) <= 3 * overdue
