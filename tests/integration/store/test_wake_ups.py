"""Wake-ups about a transaction's work: sent after its commit, and never after a rollback."""

from collections.abc import Collection, Iterator
from contextlib import suppress
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from signet.core.errors import Rejected
from signet.engine.documents.commands import Create
from signet.ids import make_id
from signet.store.database import Connection, Database, PoolSettings
from signet.store.outbox.queue import (
    EVENTS,
    claim,
    fail,
    insert_triggers,
    make_trigger,
    release,
    release_expired,
    requeue_dead,
)
from signet.store.wake_ups import MAX_WAKE_UPS, WakeUp, WakingConnection, add_wake_up, take_wake_ups
from tests.support.company import INVOICE, Company, make_company
from tests.support.database.runtime_roles import as_role


class HeardWakeUps:
    """The wake-ups that were sent. Each also checks that the pool has its connection back."""

    def __init__(self) -> None:
        self.wake_ups: list[WakeUp] = []
        self.database: Database | None = None

    def __call__(self, wake_ups: Collection[WakeUp]) -> None:
        self.wake_ups.extend(wake_ups)
        if self.database is not None:
            with self.database.tenantless_transaction() as connection:
                connection.execute("SELECT 1")


@pytest.fixture
def heard() -> HeardWakeUps:
    return HeardWakeUps()


@pytest.fixture
def telling(owner_url: str, heard: HeardWakeUps) -> Iterator[Database]:
    """Yield a database with one connection: a wake-up sent before its return would wait for ever."""
    database = Database(as_role(owner_url, "signet_api"), PoolSettings(size=1), wake=heard)
    heard.database = database
    yield database
    database.close()


@pytest.fixture
def company(telling: Database, heard: HeardWakeUps) -> Company:
    company = make_company(telling)
    company.publish("invoice")
    heard.wake_ups.clear()
    return company


def make(company: Company) -> None:
    company.documents.mutate(company.caller(), Create("invoice", {**INVOICE, "number": f"R-{uuid4()}"}))


def trigger(connection: Connection, company: Company) -> None:
    insert_triggers(connection, company.tenant_id, [make_trigger(make_id(), "continue", {})])


def test_a_document_that_is_born_wakes_its_tenants_worker(company: Company, heard: HeardWakeUps) -> None:
    make(company)
    assert heard.wake_ups == [WakeUp(company.tenant_id, "events")]


def test_what_only_reads_wakes_nobody(company: Company, telling: Database, heard: HeardWakeUps) -> None:
    with telling.snapshot(company.tenant_id) as connection:
        connection.execute("SELECT 1")
    assert heard.wake_ups == []


def test_what_is_rolled_back_wakes_nobody(company: Company, telling: Database, heard: HeardWakeUps) -> None:
    with pytest.raises(Rejected), telling.transaction(company.tenant_id) as connection:
        trigger(connection, company)
        raise Rejected("VALUE_INVALID", "no")
    # The next transaction of the same connection does not send them either.
    with telling.transaction(company.tenant_id) as connection:
        connection.execute("SELECT 1")
    assert heard.wake_ups == []


def test_all_that_join_a_transaction_are_told_with_it(
    company: Company, telling: Database, heard: HeardWakeUps
) -> None:
    with telling.shared_transaction(company.tenant_id):
        make(company)
        make(company)
        assert heard.wake_ups == []
    assert heard.wake_ups == [WakeUp(company.tenant_id, "events")]


@pytest.mark.parametrize("is_refused", [True, False])
def test_an_act_that_comes_last_is_done_however_the_transaction_ends(
    company: Company, telling: Database, heard: HeardWakeUps, is_refused: bool
) -> None:
    def act() -> None:
        with telling.transaction(company.tenant_id) as connection:
            trigger(connection, company)

    with suppress(Rejected), telling.shared_transaction(company.tenant_id):
        with telling.shared_transaction(company.tenant_id):
            telling.run_last(act)
        assert heard.wake_ups == []
        if is_refused:
            raise Rejected("VALUE_INVALID", "no")
    assert heard.wake_ups == [WakeUp(company.tenant_id, "events")]


@pytest.fixture
def worker_database(owner_url: str, heard: HeardWakeUps) -> Iterator[Database]:
    database = Database(as_role(owner_url, "signet_worker"), PoolSettings(size=2), wake=heard)
    yield database
    database.close()


def test_what_goes_back_wakes_somebody_when_it_is_due(
    company: Company, worker_database: Database, heard: HeardWakeUps
) -> None:
    tenant_id, claim_id = company.tenant_id, make_id()
    for _ in range(2):
        make(company)
    heard.wake_ups.clear()
    with worker_database.transaction(tenant_id) as connection:
        one, two = claim(connection, EVENTS, at_most=5, lease_seconds=60, claim_id=claim_id)
    with worker_database.transaction(tenant_id) as connection:
        fail(connection, EVENTS, tenant_id, [(one, "no")], claim_id)
        release(connection, EVENTS, tenant_id, [two], claim_id, delay_seconds=0.2)
    assert {(each.queue, each.delay_seconds > 0) for each in heard.wake_ups} == {("events", True)}
    later = max(each.delay_seconds for each in heard.wake_ups)
    with worker_database.transaction(tenant_id) as connection:
        query = "SELECT max(due_at) <= now() + %s * interval '1 second' FROM workflow_events_outbox"
        assert connection.execute(query, (later,)).fetchone() == (True,)


def test_rows_of_a_dead_worker_and_dead_letters_that_come_back_wake_somebody(
    company: Company, worker_database: Database, heard: HeardWakeUps
) -> None:
    tenant_id, claim_id = company.tenant_id, make_id()
    make(company)
    heard.wake_ups.clear()
    with worker_database.transaction(tenant_id) as connection:
        (row,) = claim(connection, EVENTS, at_most=5, lease_seconds=0, claim_id=claim_id)
    with worker_database.transaction(tenant_id) as connection:
        assert release_expired(connection, EVENTS, tenant_id, at_most=5).again == {row.id}
    assert heard.wake_ups == [WakeUp(tenant_id, "events")]
    heard.wake_ups.clear()
    with worker_database.transaction(tenant_id) as connection:
        claim(connection, EVENTS, at_most=5, lease_seconds=60, claim_id=claim_id)
        fail(connection, EVENTS, tenant_id, [(row, "no")], claim_id, final=[row.id])
    heard.wake_ups.clear()
    with worker_database.transaction(tenant_id) as connection:
        assert requeue_dead(connection, EVENTS, tenant_id, [row.id]) == {row.id}
    assert heard.wake_ups == [WakeUp(tenant_id, "events")]


@given(st.floats(0, 100_000, allow_nan=False))
def test_nobody_comes_too_early_and_hardly_anybody_too_late(seconds: float) -> None:
    connection = WakingConnection.__new__(WakingConnection)
    add_wake_up(connection, uuid4(), "events", seconds)
    (wake_up,) = take_wake_ups(connection)
    assert seconds <= wake_up.delay_seconds <= max(seconds * 1.1 + 1, seconds)


@given(st.floats(0, 100_000, allow_nan=False))
def test_who_is_waited_for_comes_to_the_second(seconds: float) -> None:
    connection = WakingConnection.__new__(WakingConnection)
    add_wake_up(connection, uuid4(), "events", seconds, is_exact=True)
    (wake_up,) = take_wake_ups(connection)
    assert seconds <= wake_up.delay_seconds <= seconds + 1


def test_of_too_many_moments_the_soonest_are_told() -> None:
    connection, tenant_id = WakingConnection.__new__(WakingConnection), uuid4()
    delays = range(2 * MAX_WAKE_UPS, 0, -1)
    for seconds in [*delays, 5_000]:
        add_wake_up(connection, tenant_id, "events", seconds, is_exact=True)
    told = {wake_up.delay_seconds for wake_up in take_wake_ups(connection)}
    assert told == set(range(1, MAX_WAKE_UPS + 1))


def test_there_is_an_end_to_what_one_transaction_tells() -> None:
    connection = WakingConnection.__new__(WakingConnection)
    for _ in range(MAX_WAKE_UPS + 10):
        add_wake_up(connection, uuid4(), "events")
    assert len(take_wake_ups(connection)) == MAX_WAKE_UPS
    assert len(take_wake_ups(connection)) == 0
