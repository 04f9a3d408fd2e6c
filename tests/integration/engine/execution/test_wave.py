"""Documents that move through their workflow, from birth to the end."""

from typing import Any, LiteralString

import pytest

from signet.engine.documents.commands import Create, RequestTransition, Update
from signet.engine.execution.worker import Worker
from tests.support.company import INVOICE, Company
from tests.support.drained_waves import drain

STEPS: LiteralString = (
    "SELECT node_id, token_id, status, end_seq, run_as FROM workflow_step_executions ORDER BY seq, end_seq"
)
INSTANCE: LiteralString = "SELECT status, version, current_nodes, edit_window, reason FROM workflow_instances"


def read(company: Company, query: LiteralString) -> list[tuple[Any, ...]]:
    with company.database.transaction(company.tenant_id) as connection:
        return connection.execute(query).fetchall()


def test_a_document_is_born_into_its_state_and_waits_there(company: Company, worker: Worker) -> None:
    company.documents.mutate(company.caller(), Create("invoice", INVOICE))
    drained = drain(worker, [company.tenant_id])
    assert (drained.waves, drained.instances, drained.steps) == (1, 1, 2)
    assert read(company, STEPS) == [
        ("sys:start", "T", "completed", 1, "actor"),
        ("sys:state:draft", "T", "running", None, "actor"),
    ]
    assert read(company, INSTANCE) == [("running", 2, ["sys:state:draft"], "editable", None)]
    assert drain(worker, [company.tenant_id]).waves == 0


def test_a_request_takes_it_through_its_gates_to_the_end(company: Company, worker: Worker) -> None:
    made = company.documents.mutate(company.caller(), Create("invoice", INVOICE))
    drain(worker, [company.tenant_id])
    company.documents.mutate(company.caller(), RequestTransition(made.document_id, 1, "submit"))
    drain(worker, [company.tenant_id])
    assert read(company, STEPS)[1:] == [
        ("sys:state:draft", "T", "completed", 3, "actor"),
        ("sys:gate:submit", "T", "completed", 4, "actor"),
        ("sys:state:submitted", "T", "completed", 5, "actor"),
        ("sys:gate:approve", "T", "completed", 6, "system"),
        ("sys:state:active", "T", "completed", 7, "actor"),
        ("sys:end", "T", "completed", 8, "actor"),
    ]
    assert read(company, INSTANCE) == [("completed", 8, [], None, None)]
    assert read(company, "SELECT status, version FROM documents") == [("active", 3)]
    assert read(company, "SELECT status, outcome FROM transition_requests") == [("performed", "submit")]
    assert read(company, "SELECT entry FROM workflow_event ORDER BY id") == [("started",), ("completed",)]


def test_the_request_may_be_there_before_the_worker(
    company: Company, worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A busy machine would end the wave after its time, and another would go on.
    monkeypatch.setattr("signet.engine.execution.wave.MAX_WAVE_SECONDS", 600.0)
    made = company.documents.mutate(company.caller(), Create("invoice", INVOICE))
    company.documents.mutate(company.caller(), Update(made.document_id, 1, {"grand_total": 7}))
    company.documents.mutate(company.caller(), RequestTransition(made.document_id, 2, "submit"))
    assert drain(worker, [company.tenant_id]).waves == 1
    assert read(company, INSTANCE) == [("completed", 8, [], None, None)]
    versions = read(company, "SELECT entity_version FROM workflow_step_executions ORDER BY seq")
    # The edit is recorded first; a token keeps the version at which it entered its node.
    assert versions == [(1,), (1,), (2,), (2,), (3,), (3,), (4,), (4,)]
