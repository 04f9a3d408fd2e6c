"""Rows in the queues, written without the functions under test."""

from collections.abc import Sequence
from typing import Any, LiteralString
from uuid import UUID

import psycopg
import pytest
from psycopg import sql

from signet.ids import created_at_of, make_id
from signet.store.database import Database
from signet.store.outbox.queue import QUEUES, ClaimedRow, Queue, claim

Admin = psycopg.Connection[tuple[Any, ...]]
BY_NAME: dict[str, Queue[Any]] = {queue.name: queue for queue in QUEUES}
QUEUE = pytest.mark.parametrize("queue", BY_NAME)
TENANT, OTHER_TENANT = UUID(int=1), UUID(int=2)
MINE, THEIRS = UUID(int=11), UUID(int=12)
LEASE_SECONDS = 60
# Each queue's own columns, and their values.
OWN: dict[str, tuple[LiteralString, LiteralString]] = {
    "events": ("entity_version, event_type, depth", "7, 'mutation', 2"),
    "effects": ("step_execution_id, effect_type, endpoint", "row.id, 'webhook', 'erp'"),
}


def put(
    admin: Admin,
    queue: str,
    tenant_id: UUID,
    due: str = "0",
    *,
    status: str = "pending",
    count: int = 1,
    attempts: int = 0,
    max_attempts: int = 5,
    created_at: str | None = None,
) -> list[UUID]:
    """Write rows that have been due for this long; the lease of a processing row ran out then."""
    columns, values = OWN[queue]
    ids = [make_id() for _ in range(count)]
    insert = sql.SQL(
        "INSERT INTO {} (tenant_id, created_at, id, instance_id, payload_json, event_idempotency_key,"
        " trace_id, status, attempts, max_attempts, due_at, claim_id, lease_until, {})"
        " SELECT %(tenant)s, coalesce(%(created_at)s, row.created_at), row.id, row.id, '{{\"a\": 1}}',"
        " sha256('a'), '00-test', %(status)s, %(attempts)s, %(max_attempts)s, now() - %(due)s::interval,"
        " CASE WHEN %(is_claimed)s THEN row.id END,"
        " CASE WHEN %(is_claimed)s THEN now() - %(due)s::interval END, {}"
        " FROM unnest(%(ids)s::uuid[], %(times)s::timestamptz[]) AS row (id, created_at)"
    ).format(sql.Identifier(BY_NAME[queue].table), sql.SQL(columns), sql.SQL(values))
    admin.execute(
        insert,
        {
            "tenant": tenant_id,
            "created_at": created_at,
            "status": status,
            "attempts": attempts,
            "max_attempts": max_attempts,
            "due": due,
            "is_claimed": status == "processing",
            "ids": ids,
            "times": [created_at_of(row_id) for row_id in ids],
        },
    )
    return ids


def put_one(admin: Admin, queue: str, tenant_id: UUID, due: str = "0", **values: Any) -> UUID:
    (row_id,) = put(admin, queue, tenant_id, due, **values)
    return row_id


def read(admin: Admin, queue: str, columns: LiteralString, ids: Sequence[UUID]) -> list[tuple[Any, ...]]:
    """Return the columns of the rows, in the order of the ids."""
    query = sql.SQL(
        "SELECT {} FROM {} q JOIN unnest(%s::uuid[]) WITH ORDINALITY AS row (id, n) USING (id) ORDER BY n"
    )
    return admin.execute(
        query.format(sql.SQL(columns), sql.Identifier(BY_NAME[queue].table)), [list(ids)]
    ).fetchall()


def read_one(admin: Admin, queue: str, columns: LiteralString, row_id: UUID) -> tuple[Any, ...]:
    (found,) = read(admin, queue, columns, [row_id])
    return found


def change(admin: Admin, queue: str, row_id: UUID, assignments: LiteralString) -> None:
    update = sql.SQL("UPDATE {} SET {} WHERE id = %s")
    done = admin.execute(update.format(sql.Identifier(BY_NAME[queue].table), sql.SQL(assignments)), [row_id])
    assert done.rowcount == 1


def claimed(
    worker: Database, queue: str, *, at_most: int = 10, claim_id: UUID = MINE, tenant_id: UUID = TENANT
) -> list[Any]:
    with worker.transaction(tenant_id) as connection:
        return claim(
            connection,
            BY_NAME[queue],
            at_most=at_most,
            lease_seconds=LEASE_SECONDS,
            claim_id=claim_id,
        )


def ids_of(rows: Sequence[ClaimedRow]) -> list[UUID]:
    return [row.id for row in rows]
