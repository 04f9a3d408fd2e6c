"""Rows that are done while another transaction keeps an old snapshot, and the buffers of queries then."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, LiteralString
from uuid import UUID

import psycopg
from psycopg import sql
from psycopg.rows import tuple_row

from signet.store.database import Connection
from tests.support.database.queue_rows import BY_NAME, put

DEAD_ROWS = 10_000
# What ends of other instances: a step of each, and what was asked of its document.
_BEGIN_STEPS: LiteralString = """
    INSERT INTO workflow_step_executions (
        tenant_id, created_at, id, instance_id, seq, node_id, node_type, token_id, entity_version,
        version_after, status, idempotency_key, started_at, actor_user_id)
    SELECT %(tenant)s, now(), gen_random_uuid(), gen_random_uuid(), 1, 'ended', 'approval', 'T', 1, 1,
           'running', sha256('a'), now(), 'carl'
    FROM generate_series(1, %(count)s)"""
_END_STEPS: LiteralString = (
    "UPDATE workflow_step_executions SET status = 'completed', end_seq = 1, completed_at = now()"
    " WHERE tenant_id = %(tenant)s AND node_id = 'ended'"
)
_BEGIN_REQUESTS: LiteralString = """
    INSERT INTO transition_requests (
        tenant_id, id, document_id, transition, document_version, actor_id, created_at)
    SELECT %(tenant)s, gen_random_uuid(), gen_random_uuid(), 'ended', 1, 'carl', now()
    FROM generate_series(1, %(count)s)"""
_END_REQUESTS: LiteralString = (
    "UPDATE transition_requests SET status = 'performed', ended_at = now()"
    " WHERE tenant_id = %(tenant)s AND transition = 'ended'"
)
_WHAT_ENDS: dict[str, tuple[LiteralString, LiteralString]] = {
    "steps": (_BEGIN_STEPS, _END_STEPS),
    "requests": (_BEGIN_REQUESTS, _END_REQUESTS),
}


@contextmanager
def old_snapshot(url: str) -> Iterator[None]:
    with psycopg.connect(url) as other:
        other.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        other.execute("SELECT count(*) FROM pg_class")
        yield


def leave_dead_rows(admin: psycopg.Connection[Any], queue: str, tenant_id: UUID) -> None:
    """Claim and complete rows of an hour ago; their entries stay in the indexes of what is due and leased."""
    put(admin, queue, tenant_id, "1 hour", count=DEAD_ROWS)
    table = sql.Identifier(BY_NAME[queue].table)
    for change in (
        # Spread over the table, as the rows of many documents are.
        "due_at = due_at - random() * interval '1 hour'",
        "status = 'processing', claim_id = id, lease_until = due_at",
        "status = 'completed', completed_at = now(), claim_id = NULL, lease_until = NULL",
    ):
        statement = sql.SQL(
            "UPDATE {} SET " + change + " WHERE tenant_id = %s AND due_at < now() - interval '30 minutes'"
            " AND status IN ('pending', 'processing')"
        )
        with admin.transaction():
            # In the order of an index of times they would lie in the table as in that index.
            admin.execute("SET LOCAL enable_indexscan = off; SET LOCAL enable_bitmapscan = off")
            admin.execute(statement.format(table), (tenant_id,))


def leave_ended(superuser: psycopg.Connection[Any], what: str, tenant_id: UUID) -> None:
    """Begin and end steps or requests of instances that are not there any more."""
    superuser.execute("SET session_replication_role = replica")
    for statement in _WHAT_ENDS[what]:
        superuser.execute(statement, {"tenant": tenant_id, "count": DEAD_ROWS})
    superuser.execute("SET session_replication_role = origin")


class _ExplainingCursor(psycopg.Cursor[Any]):
    """A cursor that adds up the buffers of what it is given, beside doing it."""

    counted: list[int]

    def execute(self, query: Any, params: Any = None, **more: Any) -> "_ExplainingCursor":
        with self.connection.transaction(force_rollback=True):
            plain = psycopg.Cursor(self.connection, row_factory=tuple_row)
            plan: Any = plain.execute(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {query}", params).fetchone()
        read = plan[0] if isinstance(plan[0], list) else json.loads(plan[0])
        top = read[0]["Plan"]
        self.counted.append(top["Shared Hit Blocks"] + top["Shared Read Blocks"])
        return super().execute(query, params, **more)


def count_buffers(connection: Connection, act: Callable[[], object]) -> int:
    """Return how many buffers the statements of `act` read."""
    counted: list[int] = []
    kind = type("Explaining", (_ExplainingCursor,), {"counted": counted})
    before = connection.cursor_factory
    connection.cursor_factory = kind
    try:
        act()
    finally:
        connection.cursor_factory = before
    return sum(counted)
