"""Looks for tenants with work, also while another transaction has an old snapshot: they miss nothing."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest

from signet.engine.dispatch import due_looks
from signet.engine.dispatch.due_looks import DueLooks, LookPlan
from signet.store.database import Connection, Database
from tests.support.database.queue_rows import BY_NAME, OTHER_TENANT, QUEUE, TENANT, put
from tests.support.dead_rows import DEAD_ROWS, count_buffers, leave_dead_rows, old_snapshot
from tests.support.moved_clock import Moved

Admin = psycopg.Connection[tuple[Any, ...]]
PLAN = LookPlan(10.0, timedelta(seconds=10))
IDLE = UUID(int=3)


@pytest.fixture(autouse=True)
def tenants(admin: Admin) -> None:
    for tenant_id in (TENANT, OTHER_TENANT, IDLE):
        admin.execute(
            "INSERT INTO tenants (tenant_id, name, settings) VALUES (%s, 'any', '{}')", (tenant_id,)
        )


@contextmanager
def looking(worker: Database) -> Iterator[Connection]:
    with worker.tenantless_transaction() as connection:
        yield connection


def look(worker: Database, looks: DueLooks, at_most: int = 10) -> dict[UUID, int]:
    with looking(worker) as connection:
        return {one.tenant_id: one.due_count for one in looks.list_tenants(connection, at_most=at_most)}


def count(worker: Database, looks: DueLooks) -> int:
    """Return the buffers of a look; the first one of a session reads the catalogue too."""
    look(worker, looks)
    with looking(worker) as connection:
        return count_buffers(connection, lambda: looks.list_tenants(connection, at_most=10))


@QUEUE
@pytest.mark.parametrize("is_waiting", [True, False], ids=["waiting", "idle"])
def test_an_old_snapshot_does_not_make_looks_grow(
    worker: Database, admin: Admin, owner_url: str, queue: str, is_waiting: bool
) -> None:
    """Look for a tenant with rows that are due, and for one whose rows are all done."""
    clock, table = Moved(), BY_NAME[queue]
    if is_waiting:
        put(admin, queue, TENANT, "0", count=5)
    found = look(worker, DueLooks(table, PLAN, clock))
    assert found == ({TENANT: 5} if is_waiting else {})
    looks = DueLooks(table, PLAN, clock)
    without = count(worker, looks)
    with old_snapshot(owner_url):
        leave_dead_rows(admin, queue, TENANT)
        leave_dead_rows(admin, queue, IDLE)
        looks = DueLooks(table, PLAN, clock)
        with looking(worker) as connection:
            whole = count_buffers(connection, lambda: looks.list_tenants(connection, at_most=10))
        assert whole > 10 * without and whole > DEAD_ROWS
        clock.seconds += PLAN.look_at_all_seconds - 1
        assert count(worker, looks) <= 3 * without
        assert look(worker, looks) == found


@QUEUE
def test_what_comes_after_a_look_is_found(worker: Database, admin: Admin, queue: str) -> None:
    looks = DueLooks(BY_NAME[queue], PLAN, Moved())
    put(admin, queue, TENANT, "1 hour")
    assert look(worker, looks) == {TENANT: 1}
    put(admin, queue, TENANT, "0", count=2)
    put(admin, queue, OTHER_TENANT, "0")
    put(admin, queue, IDLE, "0", status="processing")
    put(admin, queue, IDLE, "-1 hour", status="processing")
    assert look(worker, looks) == {TENANT: 3, OTHER_TENANT: 1, IDLE: 1}


@QUEUE
def test_what_comes_late_with_an_earlier_time_is_never_missed(
    worker: Database, admin: Admin, queue: str
) -> None:
    clock = Moved()
    looks = DueLooks(BY_NAME[queue], PLAN, clock)
    assert look(worker, looks) == {}
    put(admin, queue, TENANT, "5 seconds")
    put(admin, queue, OTHER_TENANT, "1 hour")
    put(admin, queue, IDLE, "1 hour", status="processing")
    assert look(worker, looks) == {TENANT: 1}
    clock.seconds += PLAN.look_at_all_seconds
    assert look(worker, looks) == {TENANT: 1, OTHER_TENANT: 1, IDLE: 1}


def test_a_look_that_tells_not_all_is_repeated(worker: Database, admin: Admin) -> None:
    """Look at everything again where more tenants may wait than were told."""
    looks = DueLooks(BY_NAME["events"], PLAN, Moved())
    put(admin, "events", TENANT, "2 hours")
    put(admin, "events", OTHER_TENANT, "1 hour")
    assert look(worker, looks, at_most=1) == {TENANT: 1}
    assert look(worker, looks) == {TENANT: 1, OTHER_TENANT: 1}


def test_those_who_wait_longest_come_first_and_no_more_than_asked(worker: Database, admin: Admin) -> None:
    looks = DueLooks(BY_NAME["events"], PLAN, Moved())
    assert look(worker, looks) == {}
    put(admin, "events", TENANT, "1 second")
    put(admin, "events", OTHER_TENANT, "3 seconds")
    put(admin, "events", IDLE, "2 seconds", status="processing")
    assert list(look(worker, looks)) == [OTHER_TENANT, IDLE, TENANT]
    assert list(look(worker, looks, at_most=2)) == [OTHER_TENANT, IDLE]


def test_the_plans_fit_their_use() -> None:
    assert due_looks.SELDOM.look_at_all_seconds >= 5 * 60, "a sweep comes each minute"
    assert due_looks.SELDOM.margin >= timedelta(minutes=1)
