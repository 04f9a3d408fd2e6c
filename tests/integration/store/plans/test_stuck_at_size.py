"""The search for stuck instances: it reads what is open once, and what ended not, also without statistics."""

from collections.abc import Iterator
from typing import Any, LiteralString
from uuid import UUID

import psycopg
import pytest

from signet.store.database import Database
from signet.store.instances import write as instances
from signet.store.instances.write import list_stuck
from signet.store.statements import Statements
from tests.support.database.queue_rows import BY_NAME
from tests.support.dead_rows import DEAD_ROWS, count_buffers, leave_dead_rows, leave_ended, old_snapshot

TENANT = UUID(int=7)
WAITING, LIVE_TRIGGERS, STUCK, FEW = 2_000, 20, 3, 50
# Ended steps and completed triggers. Of them, triggers of what may be stuck are read, and nothing else.
ENDED_EACH = 5
FILL: tuple[LiteralString, ...] = (
    "SET session_replication_role = replica",
    "INSERT INTO tenants (tenant_id, name, settings) VALUES (%(tenant)s, 'large', '{}')",
    """
    INSERT INTO workflow_instances (
        tenant_id, id, kind, definition_id, definition_version, entity_type, entity_id, subject_id,
        begin_node, begin_version, active_tokens, started_at, updated_at)
    SELECT %(tenant)s, gen_random_uuid(), 'envelope', gen_random_uuid(), 1, 'invoice', gen_random_uuid(), 'x',
           'sys:start', 1, CASE WHEN n <= %(live)s + %(stuck)s THEN '[{"state": "ready"}]'::jsonb
                                ELSE '[{"state": "waiting"}]' END, now(), now() - n * interval '1 hour'
    FROM generate_series(1, %(waiting)s) n
    """,
    """
    INSERT INTO workflow_step_executions (
        tenant_id, created_at, id, instance_id, seq, end_seq, node_id, node_type, token_id, entity_version,
        version_after, status, idempotency_key, started_at, actor_user_id)
    SELECT tenant_id, now(), gen_random_uuid(), id, n, CASE WHEN n <= %(ended)s THEN n END, 'sys:state:draft',
           'state', 'T', 1, 1, CASE WHEN n <= %(ended)s THEN 'completed' ELSE 'running' END,
           sha256('a'), now(), 'carl'
    FROM workflow_instances, generate_series(1, %(ended)s + 1) n
    """,
    """
    INSERT INTO workflow_events_outbox (
        tenant_id, created_at, id, instance_id, entity_version, event_type, event_idempotency_key, status,
        due_at)
    SELECT tenant_id, now(), gen_random_uuid(), id, 1, 'mutation', sha256('a'),
           CASE WHEN n = 1 AND rank <= %(live)s THEN 'pending' ELSE 'completed' END, now()
    FROM (SELECT *, row_number() OVER (ORDER BY updated_at DESC) AS rank FROM workflow_instances) AS ranked,
         generate_series(1, %(ended)s) n
    """,
)


def fill(superuser: psycopg.Connection[tuple[object, ...]], waiting: int) -> None:
    values = {
        "tenant": TENANT,
        "waiting": waiting,
        "live": LIVE_TRIGGERS,
        "stuck": STUCK,
        "ended": ENDED_EACH,
    }
    for statement in FILL:
        superuser.execute(statement, values)


def walk(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for inner in plan.get("Plans", ()):
        yield from walk(inner)


def count_read(plan: dict[str, Any], table: str) -> int:
    """Return the rows of the table and of its partitions that the plan read, kept or not."""
    return sum(
        int((node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"])
        for node in walk(plan)
        if node.get("Relation Name", "").startswith(table)
    )


@pytest.mark.parametrize("is_analysed", [False, True])
def test_only_what_is_open_is_read_and_only_once(
    database: Database, superuser: psycopg.Connection[tuple[object, ...]], is_analysed: bool
) -> None:
    fill(superuser, WAITING)
    if is_analysed:
        superuser.execute("ANALYZE")
    statements, values = (
        Statements(instances.__file__),
        {
            "tenant_id": TENANT,
            "idle_seconds": 600,
            "gap_seconds": 900,
            "limit": 100,
            "after_at": None,
            "after_id": None,
        },
    )
    with database.transaction(TENANT) as connection:
        assert len(list_stuck(connection, TENANT, idle_seconds=600, limit=100)) == STUCK
        explained = connection.execute(
            f"EXPLAIN (ANALYZE, FORMAT JSON) {statements.list_stuck}", values
        ).fetchone()
    assert explained is not None
    plan = explained[0][0]["Plan"]  # type: ignore[index]
    assert count_read(plan, "workflow_instances") == WAITING
    assert count_read(plan, "workflow_step_executions") == WAITING
    assert count_read(plan, "workflow_events_outbox") <= LIVE_TRIGGERS + (LIVE_TRIGGERS + STUCK) * ENDED_EACH


@pytest.mark.parametrize("what", ["events", "effects", "steps", "requests"])
def test_an_old_snapshot_does_not_make_it_grow(
    database: Database, superuser: psycopg.Connection[tuple[object, ...]], owner_url: str, what: str
) -> None:
    def count() -> int:
        with database.transaction(TENANT) as connection:
            return count_buffers(
                connection, lambda: list_stuck(connection, TENANT, idle_seconds=600, limit=100)
            )

    fill(superuser, FEW)
    superuser.execute("SET session_replication_role = origin")
    count()  # The first one of a session reads the catalogue too.
    without = count()
    with old_snapshot(owner_url):
        if what in BY_NAME:
            leave_dead_rows(superuser, what, TENANT)
        else:
            leave_ended(superuser, what, TENANT)
        assert count() <= 3 * without < DEAD_ROWS
