"""The limit: a process that writes the same rows set-based, with no engine and values made beforehand.

One message holds the whole transaction of up to a hundred documents; nothing is read, locked or decided.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from time import perf_counter
from typing import Any
from uuid import UUID

import psycopg

from bench.counting import read_peak_memory
from bench.engine.processes import Task, serve
from bench.engine.rows import BenchRowMaker, Row, Rows, WaitingDocument
from bench.engine.workflow import compile_workflow, make_data, simulate_steps
from signet.store.schema.server import act_as

MODULE = "bench.engine.plain_client"
BATCH = 100

# This plan is right for tables of any size: every row is found by its key.
_BY_KEY = "SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off"
_READ_WAITING = """
SELECT d.tenant_id, d.id, d.creator_id, i.id, e.id, e.created_at, v.snapshot, v.hash, a.hash
FROM documents d
JOIN workflow_instances i
  ON i.tenant_id = d.tenant_id AND i.entity_type = d.entity_type AND i.entity_id = d.id
JOIN workflow_events_outbox e ON e.tenant_id = d.tenant_id AND e.instance_id = i.id
JOIN document_versions v ON v.tenant_id = d.tenant_id AND v.document_id = d.id AND v.version = d.version
JOIN audit_log a ON a.tenant_id = d.tenant_id AND a.subject_type = 'document' AND a.subject_id = d.id::text
WHERE d.tenant_id = current_tenant_id() AND i.status = 'running' AND a.seq = 1
ORDER BY d.id"""
_CLAIM = """
UPDATE workflow_events_outbox
SET status = 'processing', attempts = 1, claim_id = gen_random_uuid(), lease_until = now() + interval '1 hour'
WHERE tenant_id = current_tenant_id() AND id = ANY (%(ids)s)"""

_INSERT_RECEIPTS = """
INSERT INTO workflow_step_receipts (tenant_id, instance_id, idempotency_key, step_execution_id, created_at)
SELECT current_tenant_id(), instance_id, key, step_id, now()
FROM json_to_recordset(%(rows)s::json) AS row (instance_id uuid, key bytea, step_id uuid)"""
_INSERT_STEPS = """
INSERT INTO workflow_step_executions (
    tenant_id, created_at, id, instance_id, seq, end_seq, node_id, node_type, token_id, entity_version,
    version_after, status, idempotency_key, started_at, completed_at, duration_ms, output_json, actor_user_id)
SELECT current_tenant_id(), created_at, id, instance_id, seq, end_seq, node_id, node_type, token_id,
       entity_version, version_after, status, key, now(), CASE WHEN end_seq IS NOT NULL THEN now() END, 0,
       output, actor_id
FROM json_to_recordset(%(rows)s::json) AS row (
    created_at timestamptz, id uuid, instance_id uuid, seq bigint, end_seq bigint, node_id text,
    node_type text, token_id text, entity_version bigint, version_after bigint, status text, key bytea,
    output jsonb, actor_id text)"""
_END_GATES = """
UPDATE workflow_step_executions s
SET status = 'completed', end_seq = row.end_seq, version_after = row.version_after, completed_at = now(),
    output_json = row.output
FROM json_to_recordset(%(rows)s::json) AS row (
    id uuid, created_at timestamptz, end_seq bigint, version_after bigint, output jsonb)
WHERE s.tenant_id = current_tenant_id() AND s.created_at = row.created_at AND s.id = row.id"""
_UPDATE_DOCUMENTS = """
UPDATE documents d
SET status = row.status, version = row.version, updated_at = now()
FROM json_to_recordset(%(rows)s::json) AS row (id uuid, status text, version bigint)
WHERE d.tenant_id = current_tenant_id() AND d.id = row.id"""
_INSERT_VERSIONS = """
INSERT INTO document_versions (tenant_id, document_id, version, id, snapshot, hash, actor_id, created_at)
SELECT current_tenant_id(), document_id, version, id, snapshot, hash, 'bench', now()
FROM json_to_recordset(%(rows)s::json) AS row (
    document_id uuid, version bigint, id uuid, snapshot text, hash text)"""
_INSERT_AUDIT = """
INSERT INTO audit_log (tenant_id, id, subject_type, subject_id, seq, previous_hash, hash, content, action,
                       actor_id, created_at, epoch, xid)
SELECT current_tenant_id(), id, 'document', subject_id, seq, previous_hash, hash, content, action, actor_id,
       now(), 1, pg_current_xact_id()
FROM json_to_recordset(%(rows)s::json) AS row (
    id uuid, subject_id text, seq bigint, previous_hash text, hash text, content text, action text,
    actor_id text)"""
_UPDATE_INSTANCES = """
UPDATE workflow_instances i
SET status = 'completed', version = row.version, entity_version = row.entity_version, active_tokens = '[]',
    current_nodes = '{}', edit_window = NULL, edit_window_node = NULL, context_json = row.context,
    last_step_execution_id = row.last_step_id, completed_at = now(), updated_at = now()
FROM json_to_recordset(%(rows)s::json) AS row (
    id uuid, version bigint, entity_version bigint, context jsonb, last_step_id uuid)
WHERE i.tenant_id = current_tenant_id() AND i.id = row.id"""
_INSERT_HISTORY = """
INSERT INTO workflow_event (tenant_id, created_at, id, subject_kind, subject_id, entry, actor_id,
                            step_execution_id)
SELECT current_tenant_id(), created_at, id, 'instance', instance_id, entry, actor_id, step_id
FROM json_to_recordset(%(rows)s::json) AS row (
    created_at timestamptz, id uuid, instance_id uuid, entry text, actor_id text, step_id uuid)"""
_UPDATE_EVENTS = """
UPDATE workflow_events_outbox e
SET status = 'completed', completed_at = now(), claim_id = NULL, lease_until = NULL
FROM json_to_recordset(%(rows)s::json) AS row (id uuid, created_at timestamptz)
WHERE e.tenant_id = current_tenant_id() AND e.created_at = row.created_at AND e.id = row.id"""


class PlainClient:
    def __init__(self, url: str) -> None:
        self._connection = psycopg.connect(
            act_as(url, "signet_worker"), autocommit=True, prepare_threshold=None
        )
        self._connection.execute(_BY_KEY)
        self._workflow = compile_workflow()
        self._steps = simulate_steps(self._workflow, make_data(0))
        self._messages: list[bytes] = []

    def prepare(self, index: int, count: int, tenant_ids: Sequence[str]) -> Mapping[str, Any]:
        """Prepare this process's share of the batches: every `count`th."""
        shares = [
            (tenant_id, waiting[begin : begin + BATCH])
            for tenant_id in map(UUID, tenant_ids)
            for waiting in [self._read_waiting(tenant_id)]
            for begin in range(0, len(waiting), BATCH)
        ][index::count]
        self._messages = [self._compose(tenant_id, documents) for tenant_id, documents in shares]
        return {"memory": read_peak_memory()}

    def write(self, index: int, count: int, tenant_ids: Sequence[str]) -> Mapping[str, Any]:
        """Write the prepared messages."""
        begin = perf_counter()
        for message in self._messages:
            self._connection.execute(message)
        return {"seconds": perf_counter() - begin, "memory": read_peak_memory()}

    def _read_waiting(self, tenant_id: UUID) -> list[WaitingDocument]:
        with self._transaction(tenant_id):
            rows = self._connection.execute(_READ_WAITING).fetchall()
        return [WaitingDocument(*row) for row in rows]

    def _compose(self, tenant_id: UUID, documents: Sequence[WaitingDocument]) -> bytes:
        """Return the message of one batch, with its triggers claimed before.

        Claiming is no part of the measurement, but a trigger's status cannot skip it.
        """
        with self._transaction(tenant_id):
            self._connection.execute(_CLAIM, {"ids": [document.event_id for document in documents]})
        maker = BenchRowMaker(self._workflow, self._steps, datetime.now(UTC))
        for document in documents:
            maker.add(document)
        writer = psycopg.ClientCursor(self._connection)
        statements = [
            "BEGIN",
            f"SELECT set_config('signet.tenant_id', '{tenant_id}', true)",
            *(
                writer.mogrify(statement, {"rows": json.dumps(rows, default=str)})
                for statement, rows in _list_statements(maker.rows)
            ),
            "COMMIT",
        ]
        return "; ".join(statements).encode()

    @contextmanager
    def _transaction(self, tenant_id: UUID) -> Iterator[None]:
        with self._connection.transaction():
            self._connection.execute("SELECT set_config('signet.tenant_id', %s, true)", [str(tenant_id)])
            yield


def _open_tasks(url: str) -> Mapping[str, Task]:
    client = PlainClient(url)
    return {"prepare": client.prepare, "write": client.write}


def _list_statements(rows: Rows) -> Iterator[tuple[str, list[Row]]]:
    yield _INSERT_RECEIPTS, rows.receipts
    yield _INSERT_STEPS, rows.steps
    yield _UPDATE_DOCUMENTS, rows.documents
    yield _INSERT_VERSIONS, rows.versions
    yield _INSERT_AUDIT, rows.audit
    yield _END_GATES, rows.ended_gates
    yield _UPDATE_INSTANCES, rows.instances
    yield _INSERT_HISTORY, rows.history
    yield _UPDATE_EVENTS, rows.events


if __name__ == "__main__":
    serve(_open_tasks)
