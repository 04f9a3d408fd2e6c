"""Both queues by the same rules, in the worker's role: rows are claimed, completed, released or failed."""

from dataclasses import replace

import psycopg
import pytest
from psycopg import sql

from signet.ids import created_at_of
from signet.store.database import Database
from signet.store.outbox.effect_acts import keep_responses
from signet.store.outbox.measures import depth_of
from signet.store.outbox.queue import (
    EFFECTS,
    MAX_ERROR_CHARACTERS,
    ClaimedEffect,
    ClaimedTrigger,
    claim,
    complete,
    fail,
    list_dead,
    release,
    relock,
)
from tests.support.database.queue_rows import (
    BY_NAME,
    MINE,
    OTHER_TENANT,
    QUEUE,
    TENANT,
    THEIRS,
    Admin,
    change,
    claimed,
    ids_of,
    put,
    put_one,
    read,
    read_one,
)


def test_the_queues_are_a_closed_set() -> None:
    assert {name: queue.table for name, queue in BY_NAME.items()} == {
        "events": "workflow_events_outbox",
        "effects": "workflow_side_effects_outbox",
    }


# --- claim ---


@QUEUE
def test_due_rows_come_oldest_first_and_no_more_than_wanted(
    worker: Database, admin: Admin, queue: str
) -> None:
    late, later = put(admin, queue, TENANT, "1 minute", count=2)
    latest = put_one(admin, queue, TENANT, "0", status="failed", attempts=1)
    oldest = put_one(admin, queue, TENANT, "1 hour", created_at="2000-01-01")
    put(admin, queue, TENANT, "-1 hour")
    put(admin, queue, TENANT, "1 hour", status="completed")
    put(admin, queue, TENANT, "1 hour", status="dead_letter")
    put(admin, queue, OTHER_TENANT, "1 day")
    assert ids_of(claimed(worker, queue, at_most=3)) == [oldest, late, later]
    assert ids_of(claimed(worker, queue, at_most=3)) == [latest]
    assert claimed(worker, queue) == []


@QUEUE
def test_of_rows_of_one_moment_a_claim_takes_those_that_it_chose(
    worker: Database, admin: Admin, queue: str, owner_url: str
) -> None:
    """Rows are found by their moments, of which many rows have the same."""
    ids = put(admin, queue, TENANT, "1 minute", count=5, created_at="2000-01-01")
    table = sql.Identifier(BY_NAME[queue].table)
    with psycopg.connect(owner_url) as other:
        other.execute(sql.SQL("SELECT FROM {} WHERE id = %s FOR UPDATE").format(table), [ids[1]])
        assert ids_of(claimed(worker, queue, at_most=2)) == [ids[0], ids[2]]
    assert read(admin, queue, "status, attempts, claim_id", ids) == [
        ("processing", 1, MINE),
        ("pending", 0, None),
        ("processing", 1, MINE),
        ("pending", 0, None),
        ("pending", 0, None),
    ]


def test_a_claimed_event_tells_what_the_engine_needs(worker: Database, admin: Admin) -> None:
    row_id = put_one(admin, "events", TENANT, attempts=1, status="failed")
    change(admin, "events", row_id, "error = 'before'")
    (due_at,) = read_one(admin, "events", "due_at", row_id)
    assert claimed(worker, "events") == [
        ClaimedTrigger(
            created_at=created_at_of(row_id),
            id=row_id,
            instance_id=row_id,
            due_at=due_at,
            attempts=2,
            max_attempts=5,
            payload_json={"a": 1},
            trace_id="00-test",
            error="before",
            event_type="mutation",
            entity_version=7,
            definition_version=None,
            depth=2,
        )
    ]


def test_a_claimed_effect_tells_what_its_sender_needs(worker: Database, admin: Admin) -> None:
    row_id = put_one(admin, "effects", TENANT)
    (row,) = claimed(worker, "effects")
    assert isinstance(row, ClaimedEffect)
    assert (row.step_execution_id, row.effect_type, row.endpoint) == (row_id, "webhook", "erp")
    assert len(row.event_idempotency_key) == 32 and row.attempts == 1


@QUEUE
def test_a_claim_has_a_lease(worker: Database, admin: Admin, queue: str) -> None:
    row_id = put_one(admin, queue, TENANT)
    with worker.transaction(TENANT) as connection:
        claim(connection, BY_NAME[queue], at_most=1, lease_seconds=1.5, claim_id=MINE)
        # Inside the claim's transaction now() is the moment of the claim.
        row = connection.execute(
            f"SELECT status, attempts, claim_id, lease_until - now() = interval '1.5 seconds'"
            f" FROM {BY_NAME[queue].table} WHERE id = %s".encode(),
            [row_id],
        ).fetchone()
    assert row == ("processing", 1, MINE, True)


@QUEUE
def test_a_row_that_failed_too_often_goes_alone(worker: Database, admin: Admin, queue: str) -> None:
    too_often = BY_NAME[queue].alone_from
    fresh, seldom = (
        put_one(admin, queue, TENANT, "9 minutes"),
        put_one(admin, queue, TENANT, "8 minutes", attempts=too_often - 1),
    )
    often = put_one(admin, queue, TENANT, "7 minutes", status="failed", attempts=too_often)
    oftener = put_one(admin, queue, TENANT, "6 minutes", attempts=too_often + 1)
    last = put_one(admin, queue, TENANT, "5 minutes")
    batches = [ids_of(claimed(worker, queue)) for _ in range(4)]
    assert batches == [[fresh, seldom, last], [often], [oftener], []]


@QUEUE
def test_one_that_failed_too_often_and_is_the_oldest_keeps_nobody_from_the_next_claim(
    worker: Database, admin: Admin, queue: str
) -> None:
    often = put_one(admin, queue, TENANT, "1 hour", attempts=BY_NAME[queue].alone_from)
    fresh = put(admin, queue, TENANT, "1 minute", count=3)
    assert ids_of(claimed(worker, queue)) == [often]
    assert ids_of(claimed(worker, queue, claim_id=THEIRS)) == fresh


@QUEUE
def test_another_tenants_rows_are_out_of_reach(worker: Database, admin: Admin, queue: str) -> None:
    put(admin, queue, OTHER_TENANT)
    with worker.transaction(TENANT) as connection:
        foreign = claim(connection, BY_NAME[queue], at_most=1, lease_seconds=1, claim_id=MINE)
        assert foreign == []
        assert depth_of(connection, BY_NAME[queue], OTHER_TENANT).pending == 0


# --- the end of a claim ---


@QUEUE
def test_completed_rows_are_done(worker: Database, admin: Admin, queue: str) -> None:
    ids = put(admin, queue, TENANT, count=2)
    rows = claimed(worker, queue)
    with worker.transaction(TENANT) as connection:
        assert relock(connection, BY_NAME[queue], TENANT, rows, MINE) == set(ids)
        assert complete(connection, BY_NAME[queue], TENANT, rows, MINE) == set(ids)
        assert complete(connection, BY_NAME[queue], TENANT, rows, MINE) == set()
        assert relock(connection, BY_NAME[queue], TENANT, rows, MINE) == set()
    columns = "status, attempts, claim_id, lease_until, completed_at IS NOT NULL"
    assert read(admin, queue, columns, ids) == [("completed", 1, None, None, True)] * 2
    assert claimed(worker, queue) == []


@QUEUE
def test_a_released_row_is_due_later_and_has_lost_no_attempt(
    worker: Database, admin: Admin, queue: str
) -> None:
    row_id = put_one(admin, queue, TENANT, attempts=1, status="failed")
    rows = claimed(worker, queue)
    with worker.transaction(TENANT) as connection:
        assert release(connection, BY_NAME[queue], TENANT, rows, MINE, delay_seconds=30) == {row_id}
        row = connection.execute(
            f"SELECT status, attempts, claim_id, lease_until, due_at - now() = interval '30 seconds'"
            f" FROM {BY_NAME[queue].table}".encode()
        ).fetchone()
    assert row == ("pending", 1, None, None, True)
    assert claimed(worker, queue) == []
    change(admin, queue, row_id, "due_at = now()")
    assert [row.attempts for row in claimed(worker, queue)] == [2]


@QUEUE
def test_a_failed_row_is_due_after_its_backoff(worker: Database, admin: Admin, queue: str) -> None:
    ids = put(admin, queue, TENANT, attempts=1, count=2)
    rows = claimed(worker, queue)
    with worker.transaction(TENANT) as connection:
        failures = [(row, f"no luck with {row.id}") for row in rows]
        returned = fail(connection, BY_NAME[queue], TENANT, failures, MINE)
        found = connection.execute(
            f"SELECT id, status, attempts, claim_id, error, extract(epoch FROM due_at - now())::float8"
            f" FROM {BY_NAME[queue].table} ORDER BY id".encode()
        ).fetchall()
    assert (returned.again, returned.dead) == (frozenset(ids), ())
    assert [row[:5] for row in found] == [(each, "failed", 2, None, f"no luck with {each}") for each in ids]
    delays = [BY_NAME[queue].backoff.delay_seconds(2, each) for each in ids]
    assert [row[5] for row in found] == pytest.approx(delays, abs=1e-5)
    assert claimed(worker, queue) == []


@QUEUE
def test_after_the_last_attempt_it_is_a_dead_letter(worker: Database, admin: Admin, queue: str) -> None:
    tired = put_one(admin, queue, TENANT, "1 minute", attempts=1, max_attempts=2)
    fresh = put_one(admin, queue, TENANT, attempts=1, max_attempts=3)
    rows = claimed(worker, queue)
    with worker.transaction(TENANT) as connection:
        returned = fail(connection, BY_NAME[queue], TENANT, [(row, "why") for row in rows], MINE)
        dead = list_dead(connection, BY_NAME[queue], TENANT, after=None, limit=10)
    assert returned.again == {fresh}
    assert list(returned.dead) == dead == [replace(rows[0], error="why", due_at=dead[0].due_at)]
    assert read(admin, queue, "status, attempts, error", [tired, fresh]) == [
        ("dead_letter", 2, "why"),
        ("failed", 2, "why"),
    ]
    change(admin, queue, tired, "due_at = now()")
    assert claimed(worker, queue) == []


def test_an_error_is_bounded_and_fit_for_the_database(worker: Database, admin: Admin) -> None:
    row_id = put_one(admin, "effects", TENANT)
    with worker.transaction(TENANT) as connection:
        rows = claim(connection, EFFECTS, at_most=1, lease_seconds=1, claim_id=MINE)
        fail(connection, EFFECTS, TENANT, [(rows[0], "\0\ud800" + "ä" * 10_000)], MINE)
    (error,) = read_one(admin, "effects", "error", row_id)
    assert error == "?" + "ä" * (MAX_ERROR_CHARACTERS - 2)


def test_what_the_outside_world_answered_is_kept(worker: Database, admin: Admin) -> None:
    first, second = put(admin, "effects", TENANT, count=2)
    rows = claimed(worker, "effects")
    with worker.transaction(TENANT) as connection:
        answers = [(row, {"status": status}) for row, status in zip(rows, (200, 500), strict=True)]
        assert keep_responses(connection, TENANT, answers, THEIRS) == set()
        assert keep_responses(connection, TENANT, answers, MINE) == {first, second}
        complete(connection, EFFECTS, TENANT, rows[:1], MINE)
        fail(connection, EFFECTS, TENANT, [(rows[1], "500")], MINE)
        assert keep_responses(connection, TENANT, answers, MINE) == set()
    assert read(admin, "effects", "status, response_json", [first, second]) == [
        ("completed", {"status": 200}),
        ("failed", {"status": 500}),
    ]


@QUEUE
def test_with_another_claim_nothing_can_be_done_to_a_row(worker: Database, admin: Admin, queue: str) -> None:
    row_id = put_one(admin, queue, TENANT)
    rows = claimed(worker, queue)
    before = read_one(admin, queue, "q.*", row_id)
    with worker.transaction(TENANT) as connection:
        assert relock(connection, BY_NAME[queue], TENANT, rows, THEIRS) == set()
        assert complete(connection, BY_NAME[queue], TENANT, rows, THEIRS) == set()
        assert release(connection, BY_NAME[queue], TENANT, rows, THEIRS, delay_seconds=0) == set()
        returned = fail(connection, BY_NAME[queue], TENANT, [(rows[0], "why")], THEIRS)
        assert (returned.again, returned.dead) == (frozenset(), ())
    assert read_one(admin, queue, "q.*", row_id) == before
