"""Two workers at one queue, step by step: no row for both, none lost, none for a worker that is too late."""

import threading
from collections.abc import Callable
from typing import Any
from uuid import UUID

import psycopg
import pytest

from signet.store.database import Connection, Database
from signet.store.outbox.effect_acts import keep_responses
from signet.store.outbox.queue import (
    EFFECTS,
    ClaimedRow,
    claim,
    complete,
    fail,
    release,
    release_expired,
    relock,
)
from tests.support.database.queue_rows import (
    BY_NAME,
    MINE,
    QUEUE,
    TENANT,
    THEIRS,
    Admin,
    change,
    claimed,
    ids_of,
    put,
    put_one,
    read_one,
)
from tests.support.shared_company import WAIT_SECONDS


def take(connection: Connection, queue: str, claim_id: UUID, at_most: int = 10) -> list[Any]:
    return claim(connection, BY_NAME[queue], at_most=at_most, lease_seconds=60, claim_id=claim_id)


def expire(admin: Admin, queue: str, row_id: UUID) -> None:
    change(admin, queue, row_id, "lease_until = now()")


class Meanwhile:
    """A call in a thread of its own, and its answer."""

    def __init__(self, act: Callable[[], object]) -> None:
        self._answer: list[object] = []
        self._thread = threading.Thread(target=lambda: self._answer.append(act()), daemon=True)
        self._thread.start()

    def answer(self) -> object:
        self._thread.join(WAIT_SECONDS)
        assert self._answer, "it did not end"
        return self._answer[0]


def wait_until_blocked(admin: Admin) -> None:
    """Wait until a backend waits for a lock."""
    for _ in range(100_000):
        if admin.execute(
            "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        ).rowcount:
            return
    raise AssertionError("nobody waits")


# --- no row for both ---


@QUEUE
def test_what_one_is_taking_the_other_passes_over(worker: Database, admin: Admin, queue: str) -> None:
    ids = put(admin, queue, TENANT, count=5)
    with worker.transaction(TENANT) as one, worker.transaction(TENANT) as two:
        first, second = take(one, queue, MINE, 2), take(two, queue, THEIRS, 2)
        assert (ids_of(first), ids_of(second)) == (ids[:2], ids[2:4])
    assert ids_of(claimed(worker, queue)) == ids[4:]


@QUEUE
def test_one_that_goes_alone_goes_to_one_of_them(worker: Database, admin: Admin, queue: str) -> None:
    twice = put(admin, queue, TENANT, "1 hour", attempts=BY_NAME[queue].alone_from, count=2)
    fresh = put(admin, queue, TENANT, count=2)
    with worker.transaction(TENANT) as one, worker.transaction(TENANT) as two:
        assert ids_of(take(one, queue, MINE)) == twice[:1]
        assert ids_of(take(two, queue, THEIRS)) == twice[1:]
        with worker.transaction(TENANT) as three:
            assert ids_of(take(three, queue, UUID(int=13))) == fresh


@QUEUE
def test_a_claim_that_is_not_committed_leaves_the_row_to_others(
    worker: Database, admin: Admin, queue: str
) -> None:
    row_id = put_one(admin, queue, TENANT)
    with pytest.raises(ConnectionAbortedError), worker.transaction(TENANT) as connection:
        assert ids_of(take(connection, queue, MINE)) == [row_id]
        raise ConnectionAbortedError
    assert [(row.id, row.attempts) for row in claimed(worker, queue, claim_id=THEIRS)] == [(row_id, 1)]


@QUEUE
def test_many_at_once_share_a_backlog(worker: Database, admin: Admin, queue: str) -> None:
    """Expect each row once, in every order of the workers."""
    ids = put(admin, queue, TENANT, count=60)
    taken: list[list[UUID]] = [[] for _ in range(4)]
    begin = threading.Barrier(len(taken), timeout=WAIT_SECONDS)

    def work(number: int) -> None:
        begin.wait()
        while rows := claimed(worker, queue, at_most=3, claim_id=UUID(int=100 + number)):
            taken[number] += ids_of(rows)

    threads = [threading.Thread(target=work, args=[number]) for number in range(len(taken))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT_SECONDS)
    assert sorted(row_id for each in taken for row_id in each) == ids
    for number, each in enumerate(taken):
        for row_id in each:
            assert read_one(admin, queue, "claim_id, attempts", row_id) == (UUID(int=100 + number), 1)


# --- no row lost ---


@QUEUE
def test_a_row_that_commits_late_under_a_lower_id_is_found(
    worker: Database, admin: Admin, owner_url: str, queue: str
) -> None:
    with psycopg.connect(owner_url) as slow:
        early = put_one(slow, queue, TENANT, "1 hour")
        late = put_one(admin, queue, TENANT)
        assert early < late
        assert ids_of(claimed(worker, queue)) == [late]
        slow.commit()
    assert ids_of(claimed(worker, queue)) == [early]


@QUEUE
def test_a_release_of_leases_passes_over_who_is_at_work(worker: Database, admin: Admin, queue: str) -> None:
    """Skip a row whose lease ran out but which its worker still locks: it may finish."""
    slow, lost = put(admin, queue, TENANT, count=2)
    rows = claimed(worker, queue)
    expire(admin, queue, slow)
    expire(admin, queue, lost)
    with worker.transaction(TENANT) as one:
        assert relock(one, BY_NAME[queue], TENANT, rows[:1], MINE) == {slow}
        with worker.transaction(TENANT) as other:
            assert release_expired(other, BY_NAME[queue], TENANT, at_most=10).again == {lost}
        assert complete(one, BY_NAME[queue], TENANT, rows[:1], MINE) == {slow}
    with worker.transaction(TENANT) as other:
        assert release_expired(other, BY_NAME[queue], TENANT, at_most=10).again == frozenset()


@QUEUE
def test_two_that_release_leases_do_not_wait_for_each_other(
    worker: Database, admin: Admin, queue: str
) -> None:
    ids = put(admin, queue, TENANT, "1 minute", status="processing", count=2)
    with worker.transaction(TENANT) as one, worker.transaction(TENANT) as two:
        first = release_expired(one, BY_NAME[queue], TENANT, at_most=1).again
        second = release_expired(two, BY_NAME[queue], TENANT, at_most=1).again
    assert len(first) == len(second) == 1 and first | second == set(ids)


# --- no result of a worker that is too late ---


@QUEUE
@pytest.mark.parametrize("is_taken_again", [True, False], ids=["claimed again", "only freed"])
def test_whose_lease_ran_out_can_no_longer_say_anything(
    worker: Database, admin: Admin, queue: str, is_taken_again: bool
) -> None:
    row_id = put_one(admin, queue, TENANT)
    mine: list[Any] = claimed(worker, queue)
    expire(admin, queue, row_id)
    with worker.transaction(TENANT) as connection:
        assert release_expired(connection, BY_NAME[queue], TENANT, at_most=1).again == {row_id}
    theirs = claimed(worker, queue, claim_id=THEIRS) if is_taken_again else []
    before = read_one(admin, queue, "q.*", row_id)
    with worker.transaction(TENANT) as connection:
        assert relock(connection, BY_NAME[queue], TENANT, mine, MINE) == set()
        assert complete(connection, BY_NAME[queue], TENANT, mine, MINE) == set()
        assert release(connection, BY_NAME[queue], TENANT, mine, MINE, delay_seconds=0) == set()
        returned = fail(connection, BY_NAME[queue], TENANT, [(mine[0], "why")], MINE)
        assert (returned.again, returned.dead) == (frozenset(), ())
        if BY_NAME[queue] is EFFECTS:
            assert keep_responses(connection, TENANT, [(mine[0], {})], MINE) == set()
    assert read_one(admin, queue, "q.*", row_id) == before
    with worker.transaction(TENANT) as connection:
        assert complete(connection, BY_NAME[queue], TENANT, theirs, THEIRS) == set(ids_of(theirs))


def lose_row(connection: Connection, queue: str, rows: list[ClaimedRow], way: str) -> object:
    if way == "relock":
        return relock(connection, BY_NAME[queue], TENANT, rows, MINE)
    if way == "complete":
        return complete(connection, BY_NAME[queue], TENANT, rows, MINE)
    return fail(connection, BY_NAME[queue], TENANT, [(row, "why") for row in rows], MINE).again


@QUEUE
@pytest.mark.parametrize("way", ["relock", "complete", "fail"])
def test_who_waits_for_the_row_while_it_is_freed_finds_it_gone(
    worker: Database, admin: Admin, queue: str, way: str
) -> None:
    """Check the claim again after the wait: the row has lost it meanwhile."""
    lost, kept = put(admin, queue, TENANT, count=2)
    rows = claimed(worker, queue)
    expire(admin, queue, lost)

    def act() -> object:
        with worker.transaction(TENANT) as connection:
            return lose_row(connection, queue, rows, way)

    with worker.transaction(TENANT) as other:
        assert release_expired(other, BY_NAME[queue], TENANT, at_most=1).again == {lost}
        waiting = Meanwhile(act)
        wait_until_blocked(admin)
    assert waiting.answer() == {kept}
    assert read_one(admin, queue, "status, claim_id, attempts", lost) == ("pending", None, 1)


@QUEUE
def test_who_holds_a_row_keeps_it_to_the_end_of_the_transaction(
    worker: Database, admin: Admin, queue: str
) -> None:
    row_id = put_one(admin, queue, TENANT)
    rows = claimed(worker, queue)
    expire(admin, queue, row_id)
    with worker.transaction(TENANT) as one:
        assert relock(one, BY_NAME[queue], TENANT, rows, MINE) == {row_id}
        with worker.transaction(TENANT) as two:
            assert release_expired(two, BY_NAME[queue], TENANT, at_most=1).again == frozenset()
            assert take(two, queue, THEIRS) == []
        returned = fail(one, BY_NAME[queue], TENANT, [(rows[0], "why")], MINE)
    assert returned.again == {row_id}
    assert read_one(admin, queue, "status, attempts, error", row_id) == ("failed", 1, "why")
