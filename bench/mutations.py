"""Mutates per second beside pgbench writing the same rows, on one durable server in one run."""

import random
import threading
import time
from collections.abc import Sequence

import psycopg

from bench.company import BenchTenant, durable_server, let_references_write, make_tenants, open_database
from bench.counting import count_wire, read_wal
from bench.pgbench import CLIENTS, run_pgbench
from signet.engine.documents.commands import Operation, Update
from signet.engine.documents.mutate import Documents
from signet.store.database import Database
from signet.wiring.process import spare_what_is_loaded

SECONDS = 6.0
CONNECTIONS = CLIENTS
MANY_TENANTS = 20
DOCUMENTS = 2_000
BATCH = 100

# Writes the rows of one update, one statement each, and nothing else: no lock, no read, no check, no hash.
SCRIPT = """\\set n random(1, {count})
BEGIN;
SELECT set_config('signet.tenant_id', t, true), set_config('bench.id', d, true) FROM bench_ids WHERE n = :n;
UPDATE documents SET version = version + 1, data = data || '{{"tax_total": 5}}', updated_at = now()
  WHERE tenant_id = current_tenant_id() AND id = current_setting('bench.id')::uuid;
INSERT INTO document_versions (tenant_id, document_id, version, id, snapshot, hash, actor_id, created_at)
  VALUES (current_tenant_id(), current_setting('bench.id')::uuid, nextval('bench_version'), gen_random_uuid(),
          repeat('x', 1000), repeat('0', 64), 'bench', now());
INSERT INTO audit_log (tenant_id, id, subject_type, subject_id, seq, previous_hash, hash, content, action,
                       actor_id, created_at, epoch, xid)
  VALUES (current_tenant_id(), gen_random_uuid(), 'document', current_setting('bench.id'),
          nextval('bench_version'), repeat('0', 64), repeat('0', 64), repeat('x', 600), 'update', 'bench',
          now(), 1, pg_current_xact_id());
INSERT INTO workflow_outbox_receipts VALUES (current_tenant_id(), current_setting('bench.id')::uuid, 'events',
          sha256(gen_random_uuid()::text::bytea), now());
INSERT INTO workflow_events_outbox (tenant_id, created_at, id, instance_id, entity_version, event_type,
                                    payload_json, event_idempotency_key, due_at)
  VALUES (current_tenant_id(), now(), gen_random_uuid(), current_setting('bench.id')::uuid, 1, 'mutation',
          '{{"action": "update"}}', sha256(gen_random_uuid()::text::bytea), now());
COMMIT;
"""


def measure(seconds: float = SECONDS) -> list[str]:
    with durable_server() as url:
        database = open_database(url, CONNECTIONS)
        hot, *tenants = make_tenants(database, [DOCUMENTS, *[DOCUMENTS // MANY_TENANTS] * MANY_TENANTS])
        alone = open_database(url, 1)
        spare_what_is_loaded()
        lines = [_describe_one(url, alone, hot)]
        alone.close()
        pgbench = {
            name: _run_pgbench(url, chosen, seconds) for name, chosen in [("one", [hot]), ("many", tenants)]
        }
        for name, chosen in [("one", [hot]), ("many", tenants)]:
            single = _run_single(database, chosen, seconds)
            ratio = single / pgbench[name]
            lines.append(
                f"{name:4} tenant(s): pgbench {pgbench[name]:7.0f}/s   mutate() {single:7.0f}/s"
                f"   ratio {ratio:.2f}   goal ≥ 0.40"
            )
        one_by_one = _run_single(database, [hot], seconds, threads=1)
        batch = _run_batches(database, hot, seconds)
        lines.append(
            f"one connection: mutate() {one_by_one:7.0f}/s   mutate_many of {BATCH} {batch:7.0f}/s"
            f"   ratio {batch / one_by_one:.1f}   goal ≥ 5"
        )
        database.close()
    return lines


def _run_single(
    database: Database, tenants: Sequence[BenchTenant], seconds: float, threads: int = CONNECTIONS
) -> float:
    """Return the updates a second of threads that update documents one at a time, each its own documents."""
    counts = [0] * threads
    versions = {
        key: version for tenant in tenants for key, version in _read_versions(database, tenant).items()
    }
    end = time.perf_counter() + seconds

    def work(index: int) -> None:
        documents, choose = Documents(database), random.Random(index)
        while time.perf_counter() < end:
            tenant = choose.choice(tenants)
            document_id = choose.choice(tenant.document_ids[index::threads])
            operation = Update(
                document_id, versions[str(document_id)], {"tax_total": choose.randrange(1_000)}
            )
            versions[str(document_id)] = documents.mutate(tenant.author(), operation).version
            counts[index] += 1

    workers = [threading.Thread(target=work, args=(index,)) for index in range(threads)]
    begin = time.perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return sum(counts) / (time.perf_counter() - begin)


def _run_batches(database: Database, tenant: BenchTenant, seconds: float) -> float:
    documents, caller, done = Documents(database), tenant.author(), 0
    versions = _read_versions(database, tenant)
    begin = time.perf_counter()
    while time.perf_counter() - begin < seconds:
        ids = random.sample(list(tenant.document_ids), BATCH)
        operations: list[Operation] = [Update(i, versions[str(i)], {"tax_total": done % 1_000}) for i in ids]
        documents.mutate_many(caller, operations)
        for document_id in ids:
            versions[str(document_id)] += 1
        done += BATCH
    return done / (time.perf_counter() - begin)


def _read_versions(database: Database, tenant: BenchTenant) -> dict[str, int]:
    with database.transaction(tenant.tenant_id) as connection:
        rows = connection.execute("SELECT id::text, version FROM documents").fetchall()
    return {str(row[0]): int(str(row[1])) for row in rows}


def _run_pgbench(url: str, tenants: Sequence[BenchTenant], seconds: float) -> float:
    pairs = [(str(tenant.tenant_id), str(i)) for tenant in tenants for i in tenant.document_ids]
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute("DROP TABLE IF EXISTS bench_ids")
        admin.execute("CREATE TABLE bench_ids (n integer PRIMARY KEY, t text, d text)")
        admin.execute("CREATE SEQUENCE IF NOT EXISTS bench_version START 1000000")
        with admin.cursor() as cursor:
            rows = [(n, *pair) for n, pair in enumerate(pairs, start=1)]
            cursor.executemany("INSERT INTO bench_ids VALUES (%s, %s, %s)", rows)
        admin.execute("GRANT SELECT ON bench_ids TO signet_api")
        let_references_write(admin)
        admin.execute("GRANT USAGE ON SEQUENCE bench_version TO signet_api")
        admin.execute("VACUUM ANALYZE")
    return run_pgbench(url, "signet_api", {SCRIPT.format(count=len(pairs)): 1}, seconds)


def _describe_one(url: str, database: Database, tenant: BenchTenant) -> str:
    """Describe the cost of one update: statements on the wire, and bytes in the server's log."""
    documents, document_id = Documents(database), tenant.document_ids[0]
    documents.mutate(tenant.author(), Update(document_id, 1, {"tax_total": 1}))
    operation = Update(document_id, 2, {"tax_total": 2})
    with psycopg.connect(url, autocommit=True) as admin:
        before = read_wal(admin)
        wire = count_wire(database, lambda: documents.mutate(tenant.author(), operation))
        wal = read_wal(admin) - before
    return f"one update: {wire.statements} statements, {wire.round_trips} round trips, {wal} bytes of WAL"
