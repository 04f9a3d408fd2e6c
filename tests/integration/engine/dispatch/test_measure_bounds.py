"""Figures of queues: from the oldest row on, which a look at everything has found."""

from typing import Any

import psycopg

from signet.engine.dispatch.measure_bounds import LOOK_AT_ALL_SECONDS, MARGIN, MeasureBounds
from signet.store.database import Database
from signet.store.outbox.measures import QueueFigures, depth_of, find_oldest, measure_queue, read_pace
from tests.support.database.queue_rows import BY_NAME, OTHER_TENANT, QUEUE, TENANT, put
from tests.support.moved_clock import Moved

Admin = psycopg.Connection[tuple[Any, ...]]


def count(worker: Database, queue: str, bounds: MeasureBounds) -> tuple[int, int, int]:
    """Count what waits, what is at work, and what has lost its worker."""
    table = BY_NAME[queue]
    with worker.transaction(TENANT) as connection:
        since = bounds.find((queue, TENANT), lambda: find_oldest(connection, table, TENANT))
        depth = depth_of(connection, table, TENANT, since)
        pace = read_pace(connection, table, TENANT, since_seconds=3_600, since=since)
    return depth.pending, depth.processing, pace.expired


def measure(worker: Database, queue: str, bounds: MeasureBounds) -> QueueFigures:
    with worker.tenantless_transaction() as connection:
        since = bounds.find((queue, None), lambda: find_oldest(connection, BY_NAME[queue], None))
        return measure_queue(connection, BY_NAME[queue], since)


@QUEUE
def test_what_waits_is_counted_however_old_it_is(worker: Database, admin: Admin, queue: str) -> None:
    bounds = MeasureBounds(Moved())
    put(admin, queue, TENANT, "3 hours", status="processing")
    put(admin, queue, TENANT, "2 hours", count=2)
    put(admin, queue, TENANT, "-1 hour", status="processing")
    assert count(worker, queue, bounds) == (2, 2, 1)
    put(admin, queue, TENANT, "0")
    put(admin, queue, TENANT, "-1 hour")
    assert count(worker, queue, bounds) == (4, 2, 1)


@QUEUE
def test_a_row_that_comes_late_is_counted_from_the_next_whole_look_on(
    worker: Database, admin: Admin, queue: str
) -> None:
    clock = Moved()
    bounds = MeasureBounds(clock)
    assert count(worker, queue, bounds) == (0, 0, 0)
    put(admin, queue, TENANT, f"{MARGIN.total_seconds() - 30} seconds")
    put(admin, queue, TENANT, "1 hour")
    assert count(worker, queue, bounds) == (1, 0, 0)
    clock.seconds += LOOK_AT_ALL_SECONDS
    assert count(worker, queue, bounds) == (2, 0, 0)


@QUEUE
def test_figures_over_all_tenants_are_those_of_a_whole_look(
    worker: Database, admin: Admin, queue: str
) -> None:
    for tenant_id in (TENANT, OTHER_TENANT):
        admin.execute(
            "INSERT INTO tenants (tenant_id, name, settings) VALUES (%s, 'any', '{}')", (tenant_id,)
        )
    bounds = MeasureBounds(Moved())
    put(admin, queue, TENANT, "2 hours", count=2)
    put(admin, queue, OTHER_TENANT, "1 hour", status="processing")
    put(admin, queue, OTHER_TENANT, "0", status="failed")
    put(admin, queue, OTHER_TENANT, "0", status="dead_letter")
    measure(worker, queue, bounds)
    put(admin, queue, OTHER_TENANT, "-1 hour", status="processing")
    found = measure(worker, queue, bounds)
    assert (found.pending, found.failed, found.processing, found.expired, found.dead_letter) == (
        2,
        1,
        2,
        1,
        1,
    )
    assert found.oldest_due_seconds is not None and found.oldest_due_seconds >= 7_200
