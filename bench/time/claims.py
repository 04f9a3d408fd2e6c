"""Buffers of a claim beside a million timers that wait, and of the look for tenants beside ten thousand."""

from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

import psycopg

from bench.company import durable_server
from signet.ids import make_id
from signet.store.database import Connection
from signet.store.outbox.due_tenants import MAX_TENANTS, due_tenants
from signet.store.outbox.queue import EVENTS, EVER
from signet.store.outbox.trigger_claims import claim_and_look
from signet.store.schema.server import act_as

WAITING, CLAIMED, TENANTS = 1_000_000, 100, 10_000
# Of a year and four months of partitions: waits for years keep old months alive.
MONTHS = 28
MOST_TIMES, MOST_A_DESCENT, MOST_BUFFERS = 1.3, 4, 2_000
# The first due row, those after it, and the leases.
LOOKS = 3
TENANT = UUID(int=1)
PUT = """
INSERT INTO workflow_events_outbox (tenant_id, created_at, id, instance_id, entity_version, event_type,
                                    event_idempotency_key, due_at)
SELECT coalesce(%(tenant)s, ('00000000-0000-7000-8000-' || lpad(to_hex(number), 12, '0'))::uuid),
       now() - make_interval(days => number %% %(days)s), gen_random_uuid(), gen_random_uuid(), 0, 'bench',
       sha256('a'), now() + make_interval(secs => %(from)s + number * %(step)s)
FROM generate_series(1, %(count)s) AS number"""


def measure(waiting: int = WAITING, tenants: int = TENANTS) -> Iterator[str]:
    with durable_server() as url, psycopg.connect(url, autocommit=True) as admin:
        partitions = _make_months(admin)
        admin.execute("INSERT INTO tenants (tenant_id, name, settings) VALUES (%s, 'bench', '{}')", (TENANT,))
        yield from _measure_claims(url, admin, waiting, partitions)
        admin.execute("TRUNCATE workflow_events_outbox")
        _put(admin, None, tenants, days=700, start=3_600.0, step=1.0)
        counted = _count(url, lambda connection: _look(connection))
        yield (
            f"a look for tenants, {tenants:,} wait and none is due, {partitions} partitions: "
            f"{counted} buffers (at most {MOST_BUFFERS:,})"
        )


def _measure_claims(url: str, admin: psycopg.Connection[Any], waiting: int, partitions: int) -> Iterator[str]:
    _put(admin, TENANT, CLAIMED, days=1, start=-60.0, step=0.01)
    empty = _count(url, _claim)
    yield f"a claim of {CLAIMED}, nothing else waits, {partitions} partitions: {empty} buffers"
    # Nobody analyses the table in between.
    admin.execute("ALTER TABLE workflow_events_outbox_default SET (autovacuum_enabled = off)")
    _put(admin, TENANT, waiting, days=700, start=3_600.0, step=30.0)
    most = round(MOST_TIMES * empty) + MOST_A_DESCENT * LOOKS * partitions
    for statistics in ("stale", "fresh"):
        if statistics == "fresh":
            admin.execute("ANALYZE workflow_events_outbox")
        counted = _count(url, _claim)
        yield (
            f"a claim of {CLAIMED}, {waiting:,} timers wait, statistics {statistics}: {counted} buffers, "
            f"{counted / empty:.2f} times (at most {most}: {MOST_TIMES} times, and {MOST_A_DESCENT} for "
            f"each of {LOOKS * partitions} descents)"
        )


def _make_months(admin: psycopg.Connection[Any]) -> int:
    admin.execute(
        "SELECT create_month_partitions((date_trunc('month', now()) - interval '24 months')::date, 24)"
    )
    row = admin.execute(
        "SELECT count(*) FROM pg_inherits WHERE inhparent = 'workflow_events_outbox'::regclass"
    ).fetchone()
    count = int(str(row[0])) if row else 0
    if count < MONTHS:
        raise RuntimeError(f"{count} partitions, and not {MONTHS}")
    return count


def _put(
    admin: psycopg.Connection[Any], tenant: UUID | None, count: int, *, days: int, start: float, step: float
) -> None:
    admin.execute(PUT, {"tenant": tenant, "count": count, "days": days, "from": start, "step": step})


def _claim(connection: Connection) -> tuple[str, Any]:
    statement = claim_and_look(
        at_most=CLAIMED + 1, lease_seconds=60, claim_id=make_id(), since=EVER, looks_at_leases=True
    )
    return statement.text, statement.values


def _look(connection: Connection) -> tuple[str, Any]:
    assert due_tenants(connection, EVENTS, at_most=MAX_TENANTS) == []
    return "SELECT * FROM due_tenants('events', %(at_most)s)", {"at_most": MAX_TENANTS}


def _count(url: str, write: Callable[[Connection], tuple[str, Any]]) -> int:
    """Count the buffers of a statement in a session that has planned it, and roll it back."""
    with psycopg.connect(act_as(url, "signet_worker"), autocommit=True) as connection:
        connection.execute(f"SET signet.tenant_id = '{TENANT}'".encode())
        counted = 0
        for _ in range(3):  # the first ones plan it
            with connection.transaction(force_rollback=True):
                text, values = write(connection)
                plan: Any = connection.execute(
                    f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {text}".encode(), values
                ).fetchone()
            (read,) = plan[0]
            counted = read["Plan"]["Shared Hit Blocks"] + read["Plan"]["Shared Read Blocks"]
        return counted
