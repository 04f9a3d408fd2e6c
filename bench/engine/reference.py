"""pgbench writing the same rows, one step a transaction: the best that an engine of single steps could do."""

from bench.counting import Admin
from bench.engine.workflow import GATES, STEPS
from bench.pgbench import run_pgbench

ROLE = "signet_worker"

# Settings of the transaction name the document, because no statement can use the answer of another.
_BEGIN_STEP = """\\set n random(1, {documents})
BEGIN;
SELECT set_config('signet.tenant_id', tenant_id, true), set_config('bench.document', document_id, true),
       set_config('bench.instance', instance_id, true), set_config('bench.event', event_id, true),
       set_config('bench.event_at', event_at, true), set_config('bench.step', gen_random_uuid()::text, true)
  FROM bench_waiting WHERE n = :n;
INSERT INTO workflow_step_receipts (tenant_id, instance_id, idempotency_key, step_execution_id, created_at)
  VALUES (current_tenant_id(), current_setting('bench.instance')::uuid,
          sha256(current_setting('bench.step')::bytea), current_setting('bench.step')::uuid, now());
INSERT INTO workflow_step_executions (
    tenant_id, created_at, id, instance_id, seq, end_seq, node_id, node_type, token_id, entity_version,
    version_after, status, idempotency_key, started_at, completed_at, duration_ms, output_json, actor_user_id)
  VALUES (current_tenant_id(), now(), current_setting('bench.step')::uuid,
          current_setting('bench.instance')::uuid, 1, {end_seq}, 'sys.state.checked', 'state', 'T', 1, 1,
          {status}, sha256(current_setting('bench.step')::bytea), now(), now(), 0, {output},
          'bench');
"""
_END_GATE = """UPDATE documents SET version = version + 1, updated_at = now()
  WHERE tenant_id = current_tenant_id() AND id = current_setting('bench.document')::uuid;
INSERT INTO document_versions (tenant_id, document_id, version, id, snapshot, hash, actor_id, created_at)
  VALUES (current_tenant_id(), current_setting('bench.document')::uuid, nextval('bench_version'),
          gen_random_uuid(), repeat('x', {snapshot}), repeat('0', 64), 'bench', now());
INSERT INTO audit_log (tenant_id, id, subject_type, subject_id, seq, previous_hash, hash, content, action,
                       actor_id, created_at, epoch, xid)
  VALUES (current_tenant_id(), gen_random_uuid(), 'document', current_setting('bench.document'),
          nextval('bench_version'), repeat('0', 64), repeat('0', 64), repeat('x', {audit}), 'transition',
          'bench', now(), 1, pg_current_xact_id());
UPDATE workflow_step_executions SET status = 'completed', end_seq = 1, output_json = {output}
  WHERE tenant_id = current_tenant_id() AND created_at = now() AND id = current_setting('bench.step')::uuid;
COMMIT;
"""
# These are written once for a document, with its last step.
_END_INSTANCE = """UPDATE workflow_instances
  SET status = 'completed', version = version + 1, active_tokens = '[]', current_nodes = '{}',
      edit_window = NULL, edit_window_node = NULL, completed_at = now(), updated_at = now()
  WHERE tenant_id = current_tenant_id() AND id = current_setting('bench.instance')::uuid;
INSERT INTO workflow_event (tenant_id, created_at, id, subject_kind, subject_id, entry, actor_id,
                            step_execution_id)
  SELECT current_tenant_id(), now(), gen_random_uuid(), 'instance', current_setting('bench.instance')::uuid,
         entry, 'bench', current_setting('bench.step')::uuid
  FROM unnest(ARRAY['started', 'completed']) AS entry;
UPDATE workflow_events_outbox
  SET status = 'completed', completed_at = now(), claim_id = NULL, lease_until = NULL
  WHERE tenant_id = current_tenant_id() AND created_at = current_setting('bench.event_at')::timestamptz
    AND id = current_setting('bench.event')::uuid;
COMMIT;
"""
_NAME_WAITING = """
CREATE TABLE bench_waiting AS
SELECT (row_number() OVER ())::integer AS n, i.tenant_id::text AS tenant_id, i.entity_id::text AS document_id,
       i.id::text AS instance_id, e.id::text AS event_id, e.created_at::text AS event_at
FROM workflow_instances i
JOIN workflow_events_outbox e ON e.tenant_id = i.tenant_id AND e.instance_id = i.id
WHERE i.status = 'running'"""
_CLAIM = """
UPDATE workflow_events_outbox SET status = 'processing', attempts = 1, claim_id = gen_random_uuid(),
    lease_until = now() + interval '1 hour'
WHERE status = 'pending'"""
_READ_SIZES = """
SELECT (SELECT avg(octet_length(output_json::text))::integer FROM workflow_step_executions),
       (SELECT avg(octet_length(snapshot))::integer FROM document_versions),
       (SELECT avg(octet_length(content))::integer FROM audit_log WHERE action LIKE 'transition:%')"""


def measure_single_steps(url: str, admin: Admin, seconds: float) -> float:
    """Return the steps a second over the waiting documents, with rows as large as the tables already hold."""
    output, snapshot, audit = _read_integers(admin, _READ_SIZES)
    admin.execute(_CLAIM)
    admin.execute(_NAME_WAITING)
    admin.execute("ALTER TABLE bench_waiting ADD PRIMARY KEY (n)")
    admin.execute("CREATE SEQUENCE bench_version START 1000000")
    admin.execute(f"GRANT SELECT ON bench_waiting TO {ROLE}")
    admin.execute(f"GRANT USAGE ON SEQUENCE bench_version TO {ROLE}")
    admin.execute("VACUUM ANALYZE")
    (documents,) = _read_integers(admin, "SELECT count(*) FROM bench_waiting")
    # The JSON object has this size; its keys and quotes take twenty bytes.
    text = f"jsonb_build_object('chosen_edge_ids', repeat('x', {output - 20}))"
    light = _BEGIN_STEP.format(documents=documents, end_seq="1", status="'completed'", output=text)
    gate = _BEGIN_STEP.format(documents=documents, end_seq="NULL", status="'running'", output="NULL")
    scripts = {
        light + "COMMIT;\n": STEPS - GATES - 1,
        light + _END_INSTANCE: 1,
        gate + _END_GATE.format(snapshot=snapshot, audit=audit, output=text): GATES,
    }
    return run_pgbench(url, ROLE, scripts, seconds)


def _read_integers(admin: Admin, query: str) -> list[int]:
    row = admin.execute(query).fetchone()
    assert row is not None
    return [int(str(value)) for value in row]
