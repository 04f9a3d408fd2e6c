"""The engine's bench measures what it says: this workflow, these rows, work that is done."""

import re
from functools import partial

import pytest

from bench.counting import Admin, count_wire, read_peak_memory
from bench.engine import workflow
from bench.engine.measure import measure_server
from bench.engine.processes import child_processes
from bench.engine.runs import LIMIT, Load, opened_arena
from signet.core.canonical_json import canonical_bytes
from signet.core.compiler.compiler import compile_effective
from signet.core.compiler.envelope import make_envelope
from signet.core.contracts.reader import parse_contract
from signet.core.runtime.projection import Step, project
from signet.core.runtime.workflow import Workflow
from signet.store.database import Database

_READ_STEPS = """
SELECT seq, end_seq, node_id, token_id, status, entity_version, version_after, output_json
FROM workflow_step_executions WHERE instance_id = %s"""


def test_a_document_is_of_one_kilobyte() -> None:
    sizes = {len(canonical_bytes(workflow.make_data(number))) for number in (0, 7, 12_345, 99_999_999)}
    assert sizes == {1_024}


def test_the_workflow_is_of_ten_steps_with_two_gates() -> None:
    compiled = workflow.compile_workflow()
    types = [compiled.nodes[one.step.node].type.name for one in workflow.simulate_steps(compiled, {})]
    assert types == [
        *("start", "state", "slot_in", "script", "slot_out"),
        *("lifecycle_gate", "state", "lifecycle_gate", "state", "end"),
    ]


def test_another_workflow_is_not_measured() -> None:
    contract, _ = parse_contract(workflow.read_contract_file())
    assert contract is not None
    without_patch = compile_effective(make_envelope(contract), None).artifact
    assert without_patch is not None
    with pytest.raises(RuntimeError, match="completed after 7 steps with 2 gates"):
        workflow.simulate_steps(Workflow(without_patch), workflow.make_data(1))


def test_the_limit_writes_the_rows_of_an_engine(owner_url: str, superuser: Admin) -> None:
    """The projection of its steps is its instance; its document, versions and chain agree with them."""
    with opened_arena(owner_url, 2) as arena, child_processes(LIMIT.module, owner_url, 2) as children:
        run = arena.run(Load(waiting=4, tenants=2, repetitions=1), children, LIMIT.task)
    assert run.steps == 40 and run.wal > 0 and run.memory > 0
    instances = superuser.execute(
        "SELECT id, begin_node, begin_version, status, version, entity_version, active_tokens, context_json,"
        " current_nodes FROM workflow_instances"
    ).fetchall()
    compiled = workflow.compile_workflow()
    assert len(instances) == 4
    for identifier, begin_node, begin_version, *rest in instances:
        steps = [_read_step(row) for row in superuser.execute(_READ_STEPS, [identifier]).fetchall()]
        found = project(compiled, str(begin_node), int(str(begin_version)), steps)
        nodes = found.position.current_nodes()
        assert rest == [found.status, found.version, found.entity_version, [], found.context, nodes]
    documents = superuser.execute(
        "SELECT d.status, d.version, v.snapshot::json->>'status',"
        " (SELECT count(*) FROM document_versions o WHERE o.document_id = d.id),"
        " ARRAY(SELECT a.seq FROM audit_log a LEFT JOIN audit_log p ON p.hash = a.previous_hash"
        "       WHERE a.subject_id = d.id::text AND (a.seq = 1 OR p.seq = a.seq - 1) ORDER BY a.seq)"
        " FROM documents d JOIN document_versions v ON v.document_id = d.id AND v.version = d.version"
    ).fetchall()
    assert documents == [("active", 3, "active", 3, [1, 2, 3])] * 4
    history = superuser.execute(
        "SELECT entry, count(*) FROM workflow_event GROUP BY entry ORDER BY entry"
    ).fetchall()
    assert history == [("completed", 4), ("started", 4)]
    receipts = superuser.execute(
        "SELECT count(*) FROM workflow_step_receipts r JOIN workflow_step_executions s"
        " ON s.id = r.step_execution_id AND s.idempotency_key = r.idempotency_key"
    ).fetchone()
    triggers = superuser.execute("SELECT DISTINCT status FROM workflow_events_outbox").fetchall()
    assert (receipts, triggers) == ((40,), [("completed",)])


def _read_step(row: tuple[object, ...]) -> Step:
    seq, end_seq, node, token, status, version, version_after, output = row
    assert isinstance(output, dict)
    return Step(
        int(str(seq)),
        int(str(end_seq)),
        str(node),
        str(token),
        str(status),
        int(str(version)),
        int(str(version_after)),
        output["chosen_edge_ids"],
        output.get("variables", {}),
    )


def test_the_lines(owner_url: str, superuser: Admin) -> None:
    loads = (Load(2, 1, 1), Load(2, 2, 1))
    lines = list(measure_server(owner_url, loads, singles=1, seconds=1))
    text = "\n".join(lines)
    assert lines[0].startswith("each document: 10 steps, 2 of them gates; 1,024 bytes")
    assert text.count("limit, 2 processes") == text.count("engine, 1 process ") == 2
    assert text.count("engine, 2 processes") == 2
    # The number of waves depends on how busy the machine is.
    assert re.search(r"100 documents, one worker: \d+ waves?, \d+ rounds, \d+\.\d statements a round", text)
    assert "2 waiting, 1 tenant\n" in text and "2 waiting, 2 tenants\n" in text
    assert lines[-1].startswith("pgbench, one step a transaction")


def test_work_that_is_not_done_is_not_measured(owner_url: str, superuser: Admin) -> None:
    with opened_arena(owner_url, 1) as arena, child_processes(LIMIT.module, owner_url, 1) as children:
        with pytest.raises(RuntimeError, match="1 instances still run"):
            arena.run(Load(waiting=1, tenants=1, repetitions=1), children, "prepare")


def test_a_process_that_does_not_start_is_an_error() -> None:
    with pytest.raises(RuntimeError, match="a process of the benchmark ended"):
        with child_processes("bench.engine.nothing", "", 1):
            pass


def test_the_wire_is_counted(owner_url: str, database: Database) -> None:
    def act(selects: int) -> None:
        with database.tenantless_transaction() as connection:
            for _ in range(selects):
                connection.execute("SELECT 1")

    none, two = (count_wire(database, partial(act, selects)) for selects in (0, 2))
    assert (two.statements - none.statements, two.round_trips - none.round_trips) == (2, 2)
    assert two.transactions == none.transactions == 1


def test_memory_is_read() -> None:
    assert 10_000_000 < read_peak_memory() < 10_000_000_000
