"""Recent figures of a queue, and sums over all tenants: bounded, and without names of tenants."""

from typing import LiteralString
from uuid import UUID

import psycopg
import pytest

from signet.store.database import Database
from signet.store.operations.overview import list_partitioned
from signet.store.outbox.measures import QueueFigures, measure_queue, read_pace
from tests.support.database.attacks import NO_PRIVILEGE
from tests.support.database.queue_rows import (
    BY_NAME,
    OTHER_TENANT,
    QUEUE,
    TENANT,
    Admin,
    change,
    put,
    put_one,
)
from tests.support.database.runtime_roles import as_role

BAD_PARAMETER = "22023"


@QUEUE
def test_the_pace_is_of_what_was_done_in_the_time(database: Database, admin: Admin, queue: str) -> None:
    for seconds in range(1, 101):
        row_id = put_one(admin, queue, TENANT, status="completed", attempts=1 if seconds > 3 else 2)
        waited = f"completed_at = now(), due_at = now() - interval '{seconds} seconds'"
        change(admin, queue, row_id, waited)
    long_ago = put_one(admin, queue, TENANT, status="completed", attempts=3)
    change(admin, queue, long_ago, "completed_at = now() - interval '2 hours'")
    put(admin, queue, TENANT, "1 hour", status="processing", count=2)
    put(admin, queue, TENANT, "-1 hour", status="processing")
    put(admin, queue, OTHER_TENANT, "1 hour", status="processing", count=5)
    with database.transaction(TENANT) as connection:
        pace = read_pace(connection, BY_NAME[queue], TENANT, since_seconds=3_600)
    assert (pace.done, pace.retried, pace.expired) == (100, 3, 2)
    waits = (pace.p50_seconds, pace.p95_seconds, pace.p99_seconds)
    assert [round(wait or 0, 2) for wait in waits] == [50.5, 95.05, 99.01]


@QUEUE
def test_where_nothing_was_done_there_is_no_pace(database: Database, queue: str) -> None:
    with database.transaction(TENANT) as connection:
        pace = read_pace(connection, BY_NAME[queue], TENANT, since_seconds=3_600)
    assert (pace.done, pace.retried, pace.p50_seconds, pace.expired) == (0, 0, None, 0)


@QUEUE
def test_the_sums_are_of_all_tenants(database: Database, admin: Admin, queue: str) -> None:
    for tenant_id in (TENANT, OTHER_TENANT):
        admin.execute(
            "INSERT INTO tenants (tenant_id, name, settings) VALUES (%s, 'any', '{}')", (tenant_id,)
        )
    put(admin, queue, TENANT, "-1 hour", count=2)
    put(admin, queue, OTHER_TENANT, "30 minutes")
    put(admin, queue, OTHER_TENANT, status="failed", count=4)
    put(admin, queue, TENANT, "-1 hour", status="processing")
    put(admin, queue, TENANT, "1 minute", status="processing")
    put(admin, queue, TENANT, status="dead_letter", count=6)
    put(admin, queue, TENANT, status="completed", count=7)
    with database.tenantless_transaction() as connection:
        found = measure_queue(connection, BY_NAME[queue])
        (other,) = {name for name in BY_NAME if name != queue}
        assert measure_queue(connection, BY_NAME[other]) == QueueFigures(0, 0, 0, 0, 0, None)
    assert (found.pending, found.failed, found.processing, found.expired) == (3, 4, 2, 1)
    assert found.dead_letter == 6
    assert 1_800 <= (found.oldest_due_seconds or 0) < 3_600


@pytest.mark.parametrize("queue", ["runs", "", "workflow_events_outbox", None])
def test_only_a_queue_can_be_measured(owner_url: str, queue: str | None) -> None:
    with psycopg.connect(as_role(owner_url, "signet_api")) as connection:
        with pytest.raises(psycopg.Error) as caught:
            connection.execute("SELECT measure_queue(%s)", [queue])
    assert caught.value.sqlstate == BAD_PARAMETER


def test_a_table_of_the_callers_own_is_not_measured(owner_url: str, admin: Admin) -> None:
    with psycopg.connect(as_role(owner_url, "signet_api")) as connection:
        with connection.transaction(force_rollback=True):
            statement: LiteralString = (
                "CREATE TEMP TABLE workflow_events_outbox (status text, lease_until timestamptz)"
            )
            try:
                connection.execute(statement)
            except psycopg.errors.InsufficientPrivilege:
                pytest.skip("who may make no tables needs no wall against them")
            connection.execute("INSERT INTO pg_temp.workflow_events_outbox VALUES ('pending', NULL)")
            connection.execute("GRANT SELECT ON pg_temp.workflow_events_outbox TO PUBLIC")
            connection.execute("SET LOCAL search_path = pg_temp, public")
            assert connection.execute("SELECT pending FROM measure_queue('events')").fetchone() == (0,)


def test_whoever_measures_still_sees_no_row_of_another_tenant(owner_url: str, admin: Admin) -> None:
    put(admin, "events", TENANT, status="dead_letter")
    with psycopg.connect(as_role(owner_url, "signet_api"), autocommit=True) as connection:
        assert connection.execute("SELECT dead_letter FROM measure_queue('events')").fetchone() == (1,)
        assert connection.execute("SELECT count(*) FROM workflow_events_outbox").fetchone() == (0,)
        with pytest.raises(psycopg.Error) as caught:
            connection.execute("SELECT due_tenants('events', 1)")
    assert caught.value.sqlstate == NO_PRIVILEGE


def test_partitions_are_named_from_this_month_on(database: Database, admin: Admin) -> None:
    (months,) = admin.execute(
        "SELECT array_agg(to_char(now() AT TIME ZONE 'UTC' + make_interval(months => n), 'YYYY-MM')"
        " ORDER BY n) FROM generate_series(0, 2) AS n"
    ).fetchone() or (None,)
    admin.execute("SELECT create_month_partitions('2001-02-01', 1)")
    put(admin, "events", TENANT, created_at="2000-01-01", count=3)
    admin.execute("SELECT pg_stat_force_next_flush()")
    admin.execute("SELECT 1")
    with database.transaction(UUID(int=9)) as connection:
        found = {each.name: each for each in list_partitioned(connection)}
    assert found["workflow_step_executions"].months == months
    assert found["workflow_events_outbox"].default_rows == 3
    assert found["workflow_side_effects_outbox"].default_rows == 0
