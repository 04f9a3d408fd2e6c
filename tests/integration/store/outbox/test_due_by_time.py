"""The look for tenants by time finds what the walk over all of them found, and reads less."""

import json
import re
from collections.abc import Iterator
from datetime import timedelta
from random import Random
from typing import Any, LiteralString
from uuid import UUID

import psycopg
import pytest
from psycopg import sql

from signet.store.outbox.due_tenants import coming_tenants, due_tenants, seconds_to_next
from signet.store.outbox.queue import EVENTS
from signet.wiring.process import MIGRATIONS_FOLDER
from tests.support.database.queue_rows import BY_NAME, OTHER_TENANT, OWN, QUEUE, TENANT, put
from tests.support.database.runtime_roles import as_role
from tests.support.dead_rows import count_buffers

Admin = psycopg.Connection[tuple[Any, ...]]
# The functions of before, from the files that made them.
WALK = ("0007_create_outboxes.sql", r"queue text, at_most integer\)")
WALK_SINCE = ("0062_bound_giving_back.sql", r"queue text, at_most integer, since [^)]*\)")
TENANTS = [UUID(int=number) for number in range(1, 9)]
# What one scan reads at most, so that a tenant with more rows hides the others.
READ_EARLY = 2_000
WAITING_TENANTS = 10_000
STATUSES = ("pending", "failed", "processing", "completed", "dead_letter")
ROUNDS = 30


@pytest.fixture
def old_walks(admin: Admin) -> Iterator[None]:
    for file, arguments in (WALK, WALK_SINCE):
        text = (MIGRATIONS_FOLDER / file).read_text()
        found = re.search(rf"CREATE FUNCTION due_tenants\({arguments}.*?\n\$\$;", text, re.DOTALL)
        assert found is not None
        admin.execute(found[0].replace("due_tenants", "walk_tenants", 1).encode())
    yield


def insert(admin: Admin, queue: str, rows: list[dict[str, Any]]) -> None:
    """Insert rows with their tenant, status, and the seconds for which they have been due."""
    columns, values = OWN[queue]
    admin.execute(
        sql.SQL(
            "INSERT INTO {} (tenant_id, created_at, id, instance_id, event_idempotency_key, status, due_at,"
            " claim_id, lease_until, {})"
            " SELECT row.tenant, now() - make_interval(months => row.months), row.id, row.id, sha256('a'),"
            " row.status, now() - make_interval(secs => row.due),"
            " CASE WHEN row.status = 'processing' THEN row.id END,"
            " CASE WHEN row.status = 'processing' THEN now() - make_interval(secs => row.leased) END, {}"
            " FROM (SELECT gen_random_uuid() AS id, r.* FROM json_to_recordset(%s) AS"
            " r (tenant uuid, months int, status text, due float8, leased float8, count int),"
            " generate_series(1, r.count)) AS row"
        ).format(sql.Identifier(BY_NAME[queue].table), sql.SQL(columns), sql.SQL(values)),
        [json.dumps(rows)],
    )


def draw_rows(rng: Random) -> list[dict[str, Any]]:
    # Few different times, so that many rows are due at the same one.
    times = [rng.uniform(-3_600, 3_600) for _ in range(rng.randint(1, 6))]
    rows = [
        {
            "tenant": str(rng.choice(TENANTS)),
            "months": rng.randint(0, 3),
            "status": rng.choice(STATUSES),
            "due": rng.choice(times),
            "leased": rng.choice(times),
            "count": rng.randint(1, 3),
        }
        for _ in range(rng.randint(0, 25))
    ]
    if rng.random() < 0.4:  # a backlog that hides the others
        backlog = {"tenant": str(rng.choice(TENANTS)), "status": "pending", "due": rng.choice(times)}
        rows.append({**backlog, "months": 0, "leased": 0, "count": READ_EARLY + rng.randint(-5, 500)})
    return rows


def compare(admin: Admin, queue: str, rng: Random) -> None:
    """Ask both in one transaction, as of one moment."""
    at_most = rng.choice((1, 2, 3, 8, 1_000))
    new: LiteralString = "SELECT * FROM due_tenants({}) ORDER BY oldest_due_at, tenant_id"
    old: LiteralString = "SELECT * FROM walk_tenants({}) ORDER BY oldest_due_at, tenant_id"
    plain: LiteralString = "%s, %s"
    bounded: LiteralString = (
        "%s, %s, now() - %s::interval, %s::uuid[], ARRAY(SELECT now() - unnest(%s::interval[]))"
    )
    known = rng.sample(TENANTS, rng.randint(0, 4))
    since = timedelta(seconds=rng.uniform(0, 3_600))
    known_since = [timedelta(seconds=rng.uniform(0, 4_000)) for _ in known]
    for arguments, values in (
        (plain, [queue, at_most]),
        (bounded, [queue, at_most, since, known, known_since]),
    ):
        found = admin.execute(sql.SQL(new).format(sql.SQL(arguments)), values).fetchall()
        walked = admin.execute(sql.SQL(old).format(sql.SQL(arguments)), values).fetchall()
        assert found == walked, (queue, at_most, since, known, known_since)


@QUEUE
def test_the_look_by_time_finds_what_the_walk_found(admin: Admin, old_walks: None, queue: str) -> None:
    for tenant_id in TENANTS:
        admin.execute("INSERT INTO tenants (tenant_id, name, settings) VALUES (%s, 'any', '{}')", [tenant_id])
    for seed in range(ROUNDS):
        rng = Random(seed)
        with admin.transaction(force_rollback=True):
            insert(admin, queue, draw_rows(rng))
            for _ in range(3):
                compare(admin, queue, rng)


@QUEUE
def test_ten_thousand_tenants_that_wait_cost_next_to_nothing(
    admin: Admin, owner_url: str, queue: str
) -> None:
    admin.execute(
        "SELECT create_month_partitions('2025-01-01', 24), create_month_partitions('2027-01-01', 4)"
    )
    rows = [
        {
            "tenant": str(UUID(int=number)),
            "months": 0,
            "status": "pending",
            "due": -3_600,
            "leased": 0,
            "count": 1,
        }
        for number in range(1, WAITING_TENANTS + 1)
    ]
    insert(admin, queue, rows)
    with psycopg.connect(as_role(owner_url, "signet_worker")) as connection:
        assert due_tenants(connection, BY_NAME[queue], at_most=1_000) == []
        counted = count_buffers(connection, lambda: due_tenants(connection, BY_NAME[queue], at_most=1_000))
    assert counted <= 2_000


def test_what_comes_soon_is_told_to_the_second_and_once(admin: Admin, owner_url: str) -> None:
    put(admin, "events", TENANT, "-30 seconds", count=3)
    put(admin, "events", TENANT, "-60 seconds")
    put(admin, "events", OTHER_TENANT, "-90 seconds", status="failed")
    put(admin, "events", OTHER_TENANT, "-40 seconds", status="processing")
    put(admin, "events", OTHER_TENANT, "1 second")
    put(admin, "events", OTHER_TENANT, "-200 seconds")
    with psycopg.connect(as_role(owner_url, "signet_worker")) as connection:
        found = coming_tenants(connection, EVENTS, ahead_seconds=120, at_most=10)
        assert [one.tenant_id for one in found] == [TENANT, TENANT, OTHER_TENANT]
        assert len(coming_tenants(connection, EVENTS, ahead_seconds=120, at_most=1)) == 1
        assert coming_tenants(connection, EVENTS, ahead_seconds=10, at_most=10) == []


def test_how_soon_the_next_is_due(admin: Admin, owner_url: str) -> None:
    with psycopg.connect(as_role(owner_url, "signet_worker"), autocommit=True) as connection:
        assert seconds_to_next(connection, EVENTS, within_seconds=60) is None
        put(admin, "events", TENANT, "-1 hour")
        put(admin, "events", TENANT, "1 hour")
        assert seconds_to_next(connection, EVENTS, within_seconds=60) is None
        put(admin, "events", TENANT, "-50 seconds")
        seconds = seconds_to_next(connection, EVENTS, within_seconds=60)
        assert seconds is not None and 0 < seconds <= 50
        put(admin, "events", OTHER_TENANT, "-20 seconds", status="processing")
        seconds = seconds_to_next(connection, EVENTS, within_seconds=60)
        assert seconds is not None and seconds <= 20, "a lease ends then"


@pytest.mark.parametrize(
    "call",
    [
        "coming_tenants('runs', '1 minute', 1)",
        "coming_tenants('events', '16 minutes', 1)",
        "coming_tenants('events', '1 minute', 10001)",
        "seconds_to_next('runs', '1 minute')",
        "seconds_to_next('events', '-1 minute')",
    ],
)
def test_looks_ahead_are_bounded(admin: Admin, owner_url: str, call: LiteralString) -> None:
    with psycopg.connect(as_role(owner_url, "signet_worker")) as connection:
        with pytest.raises(psycopg.errors.InvalidParameterValue):
            connection.execute(sql.SQL("SELECT {}").format(sql.SQL(call)))
