"""Claims while another transaction has an old snapshot: they do not grow with what is done, nor miss any."""

import json
from datetime import datetime
from typing import Any
from uuid import UUID

import psycopg
import pytest

from signet.engine.dispatch import claim_bounds
from signet.engine.dispatch.claim_bounds import ClaimBounds
from signet.store.database import Database
from signet.store.outbox.queue import EVER, Queue, claim_due, parse_claimed
from tests.support.database.queue_rows import BY_NAME, MINE, QUEUE, TENANT, put
from tests.support.moved_clock import Moved

DEAD_ROWS = 20_000
Admin = psycopg.Connection[tuple[Any, ...]]


@pytest.fixture(autouse=True)
def as_in_production(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claim_bounds, "LOOK_AT_ALL_SECONDS", 10.0)


def look(
    worker: Database, queue: Queue[Any], bounds: ClaimBounds, tenant_id: UUID = TENANT
) -> tuple[int, list[UUID]]:
    """Claim as a worker does, and return the buffers and the rows; roll it back, so that they stay due."""
    since = bounds.find(tenant_id)
    with worker.transaction(tenant_id) as connection:
        wanted = write(queue, since)
        # The first claim of a session plans it.
        with connection.transaction(force_rollback=True):
            connection.execute(wanted.text, wanted.values)
        with connection.transaction(force_rollback=True):
            plan: Any = connection.execute(
                f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {wanted.text}", wanted.values
            ).fetchone()
        rows = parse_claimed(queue, connection.execute(wanted.text, wanted.values).fetchall())
        connection.execute("ROLLBACK; BEGIN")
    bounds.note(tenant_id, since, rows)
    read = plan[0] if isinstance(plan[0], list) else json.loads(plan[0])
    counted = read[0]["Plan"]
    return counted["Shared Hit Blocks"] + counted["Shared Read Blocks"], [row.id for row in rows]


def write(queue: Queue[Any], since: datetime) -> Any:
    return claim_due(queue, at_most=10, lease_seconds=60, claim_id=MINE, since=since)


@QUEUE
def test_an_old_snapshot_does_not_make_claims_grow(
    worker: Database, admin: Admin, owner_url: str, queue: str
) -> None:
    table, bounds, clock = BY_NAME[queue].table, ClaimBounds(), Moved()
    due = put(admin, queue, TENANT, "0", count=5)
    without, claimed = look(worker, BY_NAME[queue], bounds)
    assert set(claimed) == set(due)
    put(admin, queue, TENANT, "1 hour", count=DEAD_ROWS)
    with psycopg.connect(owner_url) as other:
        other.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        other.execute("SELECT count(*) FROM pg_class")
        admin.execute(
            f"UPDATE {table} SET status = 'processing', claim_id = id, lease_until = now()"
            " WHERE due_at < now() - interval '30 minutes'"
        )
        admin.execute(
            f"UPDATE {table} SET status = 'completed', completed_at = now(), claim_id = NULL,"
            " lease_until = NULL WHERE status = 'processing'"
        )
        bounds = ClaimBounds(clock)
        whole, claimed = look(worker, BY_NAME[queue], bounds)
        assert set(claimed) == set(due) and whole > 10 * without
        clock.seconds += claim_bounds.LOOK_AT_ALL_SECONDS - 1
        bounded, claimed = look(worker, BY_NAME[queue], bounds)
        assert set(claimed) == set(due) and bounded <= 3 * without


@QUEUE
def test_what_comes_late_with_an_earlier_time_is_never_missed(
    worker: Database, admin: Admin, queue: str
) -> None:
    clock = Moved()
    bounds = ClaimBounds(clock)
    put(admin, queue, TENANT, "0")
    look(worker, BY_NAME[queue], bounds)
    (soon,) = put(admin, queue, TENANT, "5 seconds")
    (late,) = put(admin, queue, TENANT, "1 hour")
    _, claimed = look(worker, BY_NAME[queue], bounds)
    assert soon in claimed and late not in claimed
    clock.seconds += claim_bounds.LOOK_AT_ALL_SECONDS
    _, claimed = look(worker, BY_NAME[queue], bounds)
    assert {soon, late} <= set(claimed)


def test_an_empty_look_leaves_no_bound(worker: Database) -> None:
    bounds = ClaimBounds(Moved())
    look(worker, BY_NAME["events"], bounds)
    assert bounds.find(TENANT) == EVER


def test_there_are_at_most_so_many_bounds(
    worker: Database, admin: Admin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claim_bounds, "MAX_TENANTS", 1)
    bounds = ClaimBounds(Moved())
    put(admin, "events", TENANT, "0")
    look(worker, BY_NAME["events"], bounds)
    assert bounds.find(TENANT) != EVER
    bounds.note(UUID(int=7), EVER, [])
    assert bounds.find(TENANT) == EVER
