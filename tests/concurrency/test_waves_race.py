"""Two workers in two processes, one tenant: every document comes to its end, and every step happens once."""

from collections.abc import Iterator
from typing import LiteralString

import pytest

from tests.engine.callers import processes, race_from_process
from tests.engine.standing_company import IS_CAMPAIGN
from tests.engine.waves.stage import WorkflowStage, standing_stage
from tests.pooling.reaching import as_role

WORKERS, DOCUMENTS = 2, 1_000 if IS_CAMPAIGN else 200
JOIN_SECONDS = 120
POST = {"id": "post", "type": "action", "config": {"action": "post"}}
# The steps of each instance, in order.
HISTORIES: LiteralString = (
    "SELECT array_agg(concat_ws(' ', seq, end_seq, node_id, token_id, status, entity_version) ORDER BY seq)"
    " FROM workflow_step_executions GROUP BY instance_id"
)


@pytest.fixture(scope="module")
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        yield made


def test_two_workers_drain_the_documents_of_one_tenant(stage: WorkflowStage) -> None:
    """Wake each document twice, in reverse order the second time, so that the workers meet."""
    entity_type = stage.publish(checks={"nodes": [POST]})
    documents = [stage.create(entity_type) for _ in range(DOCUMENTS)]
    for document in reversed(documents):
        stage.ask(document.id, "submit")
    context = processes()
    begin, reports = context.Barrier(WORKERS), context.SimpleQueue()
    url = as_role(stage.standing.admin_url, "signet_worker")
    workers = [
        context.Process(target=race_from_process, args=(url, stage.tenant_id, begin, reports), daemon=True)
        for _ in range(WORKERS)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(JOIN_SECONDS)
    assert [worker.exitcode for worker in workers] == [0] * WORKERS
    moved = [reports.get() for _ in workers]
    assert min(moved) > 0, "one of them did nothing: this was no race"
    # Triggers of instances that the other worker held are due again.
    stage.make_due()
    stage.drain()
    statuses = "SELECT status, version, count(*) FROM documents GROUP BY status, version"
    assert stage.standing.rows(statuses) == [("active", 4, DOCUMENTS)]
    assert stage.standing.rows("SELECT DISTINCT status, attempts FROM workflow_events_outbox") == [
        ("completed", 1)
    ]
    histories = stage.standing.rows(HISTORIES)
    assert len(histories) == DOCUMENTS
    assert {tuple(history) for (history,) in histories} == {tuple(histories[0][0])}
    assert len({step.split()[2] for step in histories[0][0]}) == len(histories[0][0])
    for document in documents[:: DOCUMENTS // 20]:
        stage.check_rebuild(document.instance_id)
