"""Claims and looks for tenants while another transaction keeps an old snapshot, and 300,000 rows are done."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any
from uuid import UUID

import psycopg
from psycopg.rows import tuple_row

from bench.company import durable_server
from signet.engine.dispatch.claim_bounds import ClaimBounds
from signet.engine.dispatch.due_looks import DueLooks
from signet.ids import make_id
from signet.store.outbox.queue import EVENTS, EVER, claim_due

DEAD_ROWS = 300_000
TENANT = UUID(int=1)
# Spread over the table, as the rows of many documents are.
PUT = """
INSERT INTO workflow_events_outbox (tenant_id, created_at, id, instance_id, entity_version, event_type,
                                    event_idempotency_key, due_at)
SELECT %(tenant)s, now(), gen_random_uuid(), gen_random_uuid(), 0, 'bench', sha256('a'),
       now() - make_interval(secs => %(newest)s + %(oldest)s * random())
FROM generate_series(1, %(count)s)"""
BEGIN_WORK = """
UPDATE workflow_events_outbox SET status = 'processing', claim_id = id,
    lease_until = due_at + interval '1 minute'
WHERE due_at < now() - interval '2 minutes'"""
END_WORK = """
UPDATE workflow_events_outbox SET status = 'completed', completed_at = now(), claim_id = NULL,
    lease_until = NULL
WHERE status = 'processing'"""


def measure(dead_rows: int = DEAD_ROWS) -> Iterator[str]:
    with durable_server() as url, psycopg.connect(url, autocommit=True) as admin:
        admin.execute(f"SET signet.tenant_id = '{TENANT}'")
        admin.execute("INSERT INTO tenants (tenant_id, name, settings) VALUES (%s, 'bench', '{}')", (TENANT,))
        admin.execute(PUT, {"tenant": TENANT, "newest": 0, "oldest": 1, "count": 10})
        _claim(admin, EVER)  # The first one of a session plans it.
        yield _describe("a claim, nothing done", *_claim(admin, EVER))
        looks = DueLooks(EVENTS)
        _look(admin, looks)  # The first one of a session reads the catalogue.
        yield _describe("a look for tenants, nothing done", *_look(admin, looks))
        admin.execute(PUT, {"tenant": TENANT, "newest": 600, "oldest": 36_000, "count": dead_rows})
        with psycopg.connect(url) as other:
            other.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
            other.execute("SELECT count(*) FROM pg_class")
            admin.execute(BEGIN_WORK)
            admin.execute(END_WORK)
            bounds = ClaimBounds()
            yield _describe(
                f"a claim that looks at everything, {dead_rows} done", *_claim(admin, EVER, bounds)
            )
            yield _describe(f"a claim after it, {dead_rows} done", *_claim(admin, bounds.find(TENANT)))
            looks = DueLooks(EVENTS)
            yield _describe("a look for tenants at everything", *_look(admin, looks))
            yield _describe("a look for tenants after it", *_look(admin, looks))


def _claim(
    admin: psycopg.Connection[Any], since: datetime, bounds: ClaimBounds | None = None
) -> tuple[int, float]:
    """Claim in a transaction that is rolled back. Return the buffers and the milliseconds."""
    due = claim_due(EVENTS, at_most=25, lease_seconds=60, claim_id=make_id(), since=since)
    with admin.transaction(force_rollback=True):
        plan: Any = admin.execute(
            f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {due.text}".encode(), due.values
        ).fetchone()
    if bounds is not None:
        with admin.transaction(force_rollback=True):
            rows = admin.execute(due.text.encode(), due.values).fetchall()
        bounds.note(TENANT, since, [EVENTS.row(*row) for row in rows])
    (read,) = plan[0]
    return read["Plan"]["Shared Hit Blocks"] + read["Plan"]["Shared Read Blocks"], read["Execution Time"]


def _look(admin: psycopg.Connection[Any], looks: DueLooks) -> tuple[int, float]:
    """Look for tenants with work, and return the buffers and the milliseconds of the statements."""
    counted: list[tuple[int, float]] = []

    class Explaining(psycopg.Cursor[Any]):
        def execute(self, query: Any, params: Any = None, **more: Any) -> "Explaining":
            plain = psycopg.Cursor(self.connection, row_factory=tuple_row)
            plan: Any = plain.execute(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {query}", params).fetchone()
            (read,) = plan[0]
            buffers = read["Plan"]["Shared Hit Blocks"] + read["Plan"]["Shared Read Blocks"]
            counted.append((buffers, read["Execution Time"]))
            return super().execute(query, params, **more)

    admin.cursor_factory = Explaining
    looks.list_tenants(admin, at_most=10)
    admin.cursor_factory = psycopg.Cursor
    return sum(buffers for buffers, _ in counted), sum(milliseconds for _, milliseconds in counted)


def _describe(what: str, buffers: int, milliseconds: float) -> str:
    return f"{what}: {buffers} buffers, {milliseconds:.1f} ms"
