"""Queues under the janitor, the operator and health checks: the rights of each, and the limits."""

from collections.abc import Callable
from uuid import uuid4

import psycopg
import pytest

from signet.core.errors import Defect
from signet.ids import make_id
from signet.store.database import Connection, Database, PoolSettings
from signet.store.outbox import measures
from signet.store.outbox.due_tenants import due_tenants
from signet.store.outbox.effect_acts import keep_responses
from signet.store.outbox.measures import QueueDepth, depth_of
from signet.store.outbox.queue import (
    EFFECTS,
    EVENTS,
    LEASE_EXPIRED,
    MAX_ROWS,
    ClaimedTrigger,
    claim,
    complete,
    fail,
    list_dead,
    release,
    release_expired,
    relock,
    requeue_dead,
)
from tests.support.database.queue_rows import (
    BY_NAME,
    MINE,
    OTHER_TENANT,
    QUEUE,
    TENANT,
    Admin,
    change,
    claimed,
    ids_of,
    put,
    put_one,
    read,
    read_one,
)
from tests.support.database.runtime_roles import as_role

# --- leases that ran out ---


@QUEUE
def test_a_row_whose_worker_did_not_come_back_is_due_again(
    worker: Database, admin: Admin, queue: str
) -> None:
    row_id = put_one(admin, queue, TENANT)
    assert ids_of(claimed(worker, queue)) == [row_id]
    with worker.transaction(TENANT) as connection:
        assert release_expired(connection, BY_NAME[queue], TENANT, at_most=10).again == frozenset()
    change(admin, queue, row_id, "lease_until = now()")
    with worker.transaction(TENANT) as connection:
        assert release_expired(connection, BY_NAME[queue], TENANT, at_most=10).again == {row_id}
    assert read_one(admin, queue, "status, attempts, claim_id, error", row_id) == (
        "pending",
        1,
        None,
        LEASE_EXPIRED,
    )
    assert [row.attempts for row in claimed(worker, queue)] == [2]


@QUEUE
def test_a_row_that_kills_its_workers_ends_as_a_dead_letter(
    worker: Database, admin: Admin, queue: str
) -> None:
    row_id = put_one(admin, queue, TENANT, max_attempts=3)
    for attempt in (1, 2, 3):
        assert [row.attempts for row in claimed(worker, queue)] == [attempt]
        change(admin, queue, row_id, "lease_until = now()")
        with worker.transaction(TENANT) as connection:
            returned = release_expired(connection, BY_NAME[queue], TENANT, at_most=10)
        assert returned.again == (frozenset() if attempt == 3 else {row_id})
        assert [row.id for row in returned.dead] == ([row_id] if attempt == 3 else [])
    assert read_one(admin, queue, "status, attempts, error", row_id) == ("dead_letter", 3, LEASE_EXPIRED)


@QUEUE
def test_leases_are_released_oldest_first_and_a_few_at_a_time(
    worker: Database, admin: Admin, queue: str
) -> None:
    ids = [put_one(admin, queue, TENANT, f"{minutes} minutes", status="processing") for minutes in (1, 3, 2)]
    with worker.transaction(TENANT) as connection:
        assert release_expired(connection, BY_NAME[queue], TENANT, at_most=2).again == set(ids[1:])
        assert release_expired(connection, BY_NAME[queue], TENANT, at_most=2).again == {ids[0]}


# --- dead letters ---


@QUEUE
def test_an_operator_puts_dead_letters_back(
    database: Database, worker: Database, admin: Admin, queue: str
) -> None:
    """Requeue as the API."""
    dead = put(admin, queue, TENANT, status="dead_letter", attempts=5, count=3)
    others = [put_one(admin, queue, TENANT, "-1 day", status=status) for status in ("pending", "completed")]
    foreign = put_one(admin, queue, OTHER_TENANT, status="dead_letter")
    with database.transaction(TENANT) as connection:
        listed = list_dead(connection, BY_NAME[queue], TENANT, after=None, limit=2)
        assert ids_of(listed) == dead[:2]
        rest = list_dead(connection, BY_NAME[queue], TENANT, after=listed[-1].id, limit=2)
        assert ids_of(rest) == dead[2:]
        wanted = [dead[0], dead[2], *others, foreign, make_id()]
        assert requeue_dead(connection, BY_NAME[queue], TENANT, wanted) == {dead[0], dead[2]}
        assert requeue_dead(connection, BY_NAME[queue], TENANT, []) == set()
    assert read(admin, queue, "status, attempts, due_at <= now()", dead) == [
        ("pending", 0, True),
        ("dead_letter", 5, True),
        ("pending", 0, True),
    ]
    assert read_one(admin, queue, "status", foreign) == ("dead_letter",)
    again = [(row.id, row.attempts) for row in claimed(worker, queue)]
    assert again == [(dead[0], 1), (dead[2], 1)]


# --- the rights of each role ---


@QUEUE
def test_the_api_claims_nothing_and_the_janitor_only_frees(
    database: Database, owner_url: str, admin: Admin, queue: str
) -> None:
    row_id = put_one(admin, queue, TENANT, status="processing")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        claimed(database, queue)
    janitor = Database(as_role(owner_url, "signet_janitor"), PoolSettings(size=1))
    try:
        with janitor.transaction(TENANT) as connection:
            assert release_expired(connection, BY_NAME[queue], TENANT, at_most=1).again == {row_id}
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            claimed(janitor, queue)
    finally:
        janitor.close()


# --- figures ---


@QUEUE
def test_how_deep_a_queue_is(
    worker: Database, admin: Admin, queue: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with worker.transaction(TENANT) as connection:
        assert depth_of(connection, BY_NAME[queue], TENANT) == QueueDepth(0, 0, 0, 0, None)
    put(admin, queue, TENANT, "-1 hour", count=4)
    put(admin, queue, TENANT, "-1 hour", status="failed", count=3)
    put(admin, queue, TENANT, "-1 hour", status="processing", count=2)
    put(admin, queue, TENANT, "9 hours", status="completed", count=5)
    put(admin, queue, TENANT, "9 hours", status="dead_letter")
    put(admin, queue, OTHER_TENANT, "9 hours")
    with worker.transaction(TENANT) as connection:
        assert depth_of(connection, BY_NAME[queue], TENANT) == QueueDepth(4, 2, 3, 1, None)
    put(admin, queue, TENANT, "1 hour", status="failed")
    put(admin, queue, TENANT, "1 minute")
    with worker.transaction(TENANT) as connection:
        depth = depth_of(connection, BY_NAME[queue], TENANT)
        monkeypatch.setattr(measures, "COUNTED_AT_MOST", 5)
        bounded = depth_of(connection, BY_NAME[queue], TENANT)
    assert (depth.pending, depth.failed) == (5, 4)
    assert depth.oldest_due_seconds is not None and depth.oldest_due_seconds >= 3600
    assert (bounded.pending + bounded.failed, bounded.processing) == (5, 2)


def test_who_has_work(worker: Database, admin: Admin) -> None:
    put(admin, "events", TENANT, count=2)
    put(admin, "effects", OTHER_TENANT, "1 hour")
    with worker.tenantless_transaction() as connection:
        events, effects = (due_tenants(connection, each, at_most=10) for each in (EVENTS, EFFECTS))
    assert [(each.tenant_id, each.due_count) for each in events] == [(TENANT, 2)]
    assert [(each.tenant_id, each.due_count) for each in effects] == [(OTHER_TENANT, 1)]


# --- limits ---


def test_nothing_is_unbounded(worker: Database, admin: Admin) -> None:
    row_id = put_one(admin, "events", TENANT)
    (row,) = claimed(worker, "events")
    with worker.transaction(TENANT) as connection:
        for call in too_much(connection, row):
            with pytest.raises(Defect) as caught:
                call()
            assert caught.value.code == "QUEUE_LIMIT"
    assert read_one(admin, "events", "status", row_id) == ("processing",)


def too_much(connection: Connection, row: ClaimedTrigger) -> list[Callable[[], object]]:
    rows = [row] * (MAX_ROWS + 1)
    return [
        lambda: claim(connection, EVENTS, at_most=0, lease_seconds=1, claim_id=MINE),
        lambda: claim(connection, EVENTS, at_most=MAX_ROWS + 1, lease_seconds=1, claim_id=MINE),
        lambda: relock(connection, EVENTS, TENANT, rows, MINE),
        lambda: complete(connection, EVENTS, TENANT, rows, MINE),
        lambda: release(connection, EVENTS, TENANT, rows, MINE, delay_seconds=1),
        lambda: fail(connection, EVENTS, TENANT, [(each, "") for each in rows], MINE),
        lambda: release_expired(connection, EVENTS, TENANT, at_most=0),
        lambda: requeue_dead(connection, EVENTS, TENANT, [uuid4()] * (MAX_ROWS + 1)),
        lambda: list_dead(connection, EVENTS, TENANT, after=None, limit=MAX_ROWS + 1),
        lambda: due_tenants(connection, EVENTS, at_most=1001),
    ]


def test_nothing_to_do_is_not_asked_of_the_database(owner_url: str) -> None:
    connection = psycopg.connect(owner_url)
    connection.close()
    assert relock(connection, EVENTS, TENANT, [], MINE) == set()
    assert complete(connection, EVENTS, TENANT, [], MINE) == set()
    assert release(connection, EVENTS, TENANT, [], MINE, delay_seconds=1) == set()
    assert fail(connection, EVENTS, TENANT, [], MINE).again == frozenset()
    assert requeue_dead(connection, EVENTS, TENANT, []) == set()
    assert keep_responses(connection, TENANT, [], MINE) == set()
