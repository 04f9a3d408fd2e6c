"""Rows that are done while another transaction keeps an old snapshot, and the buffers of queries then."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import psycopg
from psycopg import sql
from psycopg.rows import tuple_row

from signet.store.database import Connection
from tests.support.database.queue_rows import BY_NAME, put

DEAD_ROWS = 10_000


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
        admin.execute(statement.format(table), (tenant_id,))


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
