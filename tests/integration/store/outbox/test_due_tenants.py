"""Tenants with due work: the only query across tenants, and it returns nothing more."""

from collections.abc import Iterator
from typing import Any, LiteralString
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg import sql

from tests.support.database.attacks import NO_PRIVILEGE
from tests.support.database.queue_rows import put
from tests.support.database.runtime_roles import as_role

Connection = psycopg.Connection[tuple[Any, ...]]
TABLES: dict[str, LiteralString] = {
    "events": "workflow_events_outbox",
    "effects": "workflow_side_effects_outbox",
}
CALL: LiteralString = "SELECT tenant_id, due_count, now() - oldest_due_at FROM due_tenants(%s, %s)"
COUNTED_AT_MOST = 1000
BAD_PARAMETER = "22023"
ANNE, BERT, CARL = UUID(int=1), UUID(int=2), UUID(int=3)


@pytest.fixture
def asker(owner_url: str) -> Iterator[Connection]:
    with psycopg.connect(as_role(owner_url, "signet_worker"), autocommit=True) as connection:
        yield connection


def due(asker: Connection, queue: str, at_most: int = 10) -> list[tuple[UUID, int]]:
    return [(tenant_id, count) for tenant_id, count, _ in asker.execute(CALL, [queue, at_most])]


@pytest.mark.parametrize("queue", TABLES)
def test_a_tenant_is_named_once_with_what_is_due(asker: Connection, admin: Connection, queue: str) -> None:
    put(admin, queue, ANNE, "1 hour", count=3)
    put(admin, queue, ANNE, "1 minute", status="failed", created_at="2000-01-01")
    put(admin, queue, ANNE, "1 minute", status="processing")
    put(admin, queue, BERT, "2 hours", status="failed")
    put(admin, queue, CARL, "3 hours", status="processing", count=2)
    assert due(asker, queue) == [(CARL, 2), (BERT, 1), (ANNE, 5)]
    assert due(asker, {"events": "effects", "effects": "events"}[queue]) == []


@pytest.mark.parametrize("queue", TABLES)
@pytest.mark.parametrize(
    ("status", "due_for"),
    [("pending", "-1 hour"), ("failed", "-1 hour"), ("processing", "-1 hour"), ("completed", "1 hour"),
     ("dead_letter", "1 hour")],
)  # fmt: skip
def test_what_is_not_due_is_not_told(
    asker: Connection, admin: Connection, queue: str, status: str, due_for: str
) -> None:
    put(admin, queue, ANNE, due_for, status=status, count=2)
    assert due(asker, queue) == []
    put(admin, queue, BERT, "1 second")
    assert due(asker, queue) == [(BERT, 1)]


def test_who_has_waited_longest_comes_first_and_a_backlog_takes_one_place(
    asker: Connection, admin: Connection
) -> None:
    put(admin, "events", ANNE, "1 hour", count=COUNTED_AT_MOST + 500)
    put(admin, "events", ANNE, "1 hour", status="processing", count=10)
    small = [uuid4() for _ in range(5)]
    for minutes, tenant_id in enumerate(small, start=1):
        put(admin, "events", tenant_id, f"{minutes} minutes")
    longest_first = [(tenant_id, 1) for tenant_id in reversed(small)]
    assert due(asker, "events") == [(ANNE, COUNTED_AT_MOST), *longest_first]
    assert due(asker, "events", 3) == [(ANNE, COUNTED_AT_MOST), *longest_first[:2]]
    admin.execute(
        "UPDATE workflow_events_outbox SET due_at = now() - interval '1 second' WHERE tenant_id = %s", [ANNE]
    )
    admin.execute("UPDATE workflow_events_outbox SET lease_until = due_at WHERE claim_id IS NOT NULL")
    assert due(asker, "events", 3) == longest_first[:3], "nobody is kept out by another one's backlog"


def test_how_long_the_oldest_has_waited(asker: Connection, admin: Connection) -> None:
    put(admin, "effects", ANNE, "1 minute", created_at="2000-01-01")
    put(admin, "effects", ANNE, "1 hour", status="processing")
    row = asker.execute(
        "SELECT oldest_due_at <= now() - interval '1 hour', oldest_due_at > now() - interval '2 hours'"
        " FROM due_tenants('effects', 1)"
    ).fetchone()
    assert row == (True, True)


@pytest.mark.parametrize("queue", ["runs", "", "workflow_events_outbox", 'x" OR true', None])
def test_only_a_queue_can_be_asked_about(asker: Connection, queue: str | None) -> None:
    with pytest.raises(psycopg.Error) as caught:
        asker.execute(CALL, [queue, 1])
    assert caught.value.sqlstate == BAD_PARAMETER


@pytest.mark.parametrize("at_most", [0, -1, 1001, None])
def test_the_answer_is_bounded(asker: Connection, at_most: int | None) -> None:
    with pytest.raises(psycopg.Error) as caught:
        asker.execute(CALL, ["events", at_most])
    assert caught.value.sqlstate == BAD_PARAMETER


# --- nothing but ids, counts and times ---


def test_who_may_ask(owner_url: str) -> None:
    for role, may in {
        "signet_api": False,
        "signet_dispatch": True,
        "signet_worker": True,
        "signet_janitor": True,
    }.items():
        with psycopg.connect(as_role(owner_url, role)) as connection:
            if may:
                assert connection.execute(CALL, ["events", 1]).fetchall() == []
                continue
            with pytest.raises(psycopg.Error) as caught:
                connection.execute(CALL, ["events", 1])
            assert caught.value.sqlstate == NO_PRIVILEGE


@pytest.mark.parametrize("role", ["signet_api", "signet_worker", "signet_janitor"])
@pytest.mark.parametrize("table", TABLES.values())
def test_whoever_asks_still_sees_no_row_of_another_tenant(
    owner_url: str, admin: Connection, role: str, table: LiteralString
) -> None:
    for queue in TABLES:
        put(admin, queue, ANNE)
    partition = admin.execute(
        sql.SQL("SELECT DISTINCT tableoid::regclass::text FROM {}").format(sql.Identifier(table))
    ).fetchall()
    with psycopg.connect(as_role(owner_url, role), autocommit=True) as connection:
        for tenant in ("", str(BERT)):
            with connection.transaction():
                connection.execute("SELECT set_config('signet.tenant_id', %s, true)", [tenant])
                query = sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(table))
                assert connection.execute(query).fetchone() == (0,)
        for (name,) in partition:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(sql.SQL("SELECT FROM {}").format(sql.Identifier(str(name))))


@pytest.mark.parametrize("table", TABLES.values())
def test_dispatch_itself_sees_whose_and_when(owner_url: str, admin: Connection, table: LiteralString) -> None:
    for queue in TABLES:
        put(admin, queue, ANNE)
    columns = admin.execute(
        "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0", [table]
    ).fetchall()
    readable = set()
    with psycopg.connect(as_role(owner_url, "signet_dispatch"), autocommit=True) as connection:
        for (column,) in columns:
            query = sql.SQL("SELECT {} FROM {}").format(sql.Identifier(str(column)), sql.Identifier(table))
            try:
                readable |= {column for _ in connection.execute(query).fetchall()}
            except psycopg.errors.InsufficientPrivilege:
                continue
    assert readable == {"tenant_id", "status", "due_at", "lease_until", "created_at", "completed_at"}


def test_a_table_of_the_callers_own_is_not_taken_for_the_queue(asker: Connection) -> None:
    with asker.transaction(force_rollback=True):
        asker.execute("CREATE TEMP TABLE workflow_events_outbox (LIKE public.workflow_events_outbox)")
        asker.execute(
            "INSERT INTO pg_temp.workflow_events_outbox (tenant_id, created_at, id, instance_id,"
            " event_idempotency_key, entity_version, event_type, due_at, status, payload_json, depth,"
            " attempts, max_attempts, given_back)"
            " VALUES (%s, now(), %s, %s, sha256('a'), 1, 'a', now(), 'pending', '{}', 0, 0, 5, 0)",
            [ANNE, ANNE, ANNE],
        )
        asker.execute("GRANT SELECT ON pg_temp.workflow_events_outbox TO PUBLIC")
        asker.execute("SET LOCAL search_path = pg_temp, public")
        assert asker.execute("SELECT count(*) FROM workflow_events_outbox").fetchone() == (1,)
        assert due(asker, "events") == []
