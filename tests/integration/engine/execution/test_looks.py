"""Answers of a worker about what is left to do, and answers of claims that are lost."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest

from signet.core.errors import Transient
from signet.engine.execution.wave import MAX_INSTANCES
from signet.engine.execution.worker import Worked
from signet.store.database import Database
from signet.store.pipeline import DeferredStatement
from tests.support.workflow_stage import WorkflowStage, standing_stage

DUE = "SELECT status, attempts FROM workflow_events_outbox WHERE instance_id = %s ORDER BY id"


@pytest.fixture(scope="module")
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        yield made


@pytest.fixture(autouse=True)
def nothing_due(stage: WorkflowStage) -> None:
    stage.drain()


def test_who_has_done_all_that_is_due_says_so(stage: WorkflowStage) -> None:
    worker, entity_type = stage.worker(), stage.publish()
    stage.create(entity_type)
    assert [worker.work(stage.tenant_id) for _ in range(2)] == [Worked.ALL, Worked.NOTHING]


def test_behind_a_full_claim_there_is_more(stage: WorkflowStage) -> None:
    worker, entity_type = stage.worker(), stage.publish()
    for number in range(MAX_INSTANCES + 1):
        stage.create(entity_type, number=f"M-{number}")
    assert worker.has_more_after(stage.tenant_id)
    # The turn of what has just come finds the last one; the oldest may still wait.
    while worker.has_more_after(stage.tenant_id):
        pass
    assert worker.work(stage.tenant_id) is Worked.NOTHING


def test_what_a_wave_has_left_to_the_next_is_more(
    stage: WorkflowStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("signet.engine.execution.wave.MAX_ROUNDS", 1)
    worker, made = stage.worker(), stage.create(stage.publish(checks={"nodes": [SCRIPT]}))
    stage.ask(made.id, "submit")
    results: list[Worked] = []
    while results[-1:] not in ([Worked.ALL], [Worked.NOTHING]):
        results.append(worker.work(stage.tenant_id))
    assert results[:-1] == [Worked.MORE] * (len(results) - 1) and len(results) > 1
    assert stage.status_of(made.id) == "active"


def test_leases_are_looked_for_also_where_something_was_claimed(stage: WorkflowStage) -> None:
    entity_type = stage.publish()
    lost, other = stage.create(entity_type), stage.create(entity_type, number="L-2")
    stage.standing.run(
        "UPDATE workflow_events_outbox SET status = 'processing', attempts = 1, claim_id = gen_random_uuid(),"
        " lease_until = now() - interval '1 second' WHERE instance_id = %s",
        lost.instance_id,
    )
    worker = stage.worker()
    assert worker.work(stage.tenant_id) is Worked.MORE
    assert stage.nodes(other.instance_id) != []
    assert worker.work(stage.tenant_id) is Worked.ALL
    assert stage.standing.rows(DUE, lost.instance_id) == [("completed", 2)]


class LosingDatabase(Database):
    """A database that loses the answers of claims, so often, after their commit."""

    losses = 0

    def claim(self, tenant_id: UUID, statement: DeferredStatement) -> list[tuple[Any, ...]]:
        rows = super().claim(tenant_id, statement)
        if self.losses:
            self.losses -= 1
            raise Transient("OUTCOME_UNKNOWN", "the connection broke during the commit")
        return rows


@pytest.mark.parametrize("losses", [1, 2])
def test_what_a_claim_holds_whose_answer_is_lost_goes_back_without_an_attempt(
    stage: WorkflowStage, losses: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = stage.create(stage.publish())
    with stage.another_database() as database:
        monkeypatch.setattr(database, "__class__", LosingDatabase)
        monkeypatch.setattr(database, "losses", losses, raising=False)
        worker = stage.worker(database=database)
        if losses == 1:
            assert worker.work(stage.tenant_id) is Worked.NOTHING
        else:
            with pytest.raises(Transient):
                worker.work(stage.tenant_id)
        assert stage.standing.rows(DUE, made.instance_id) == [("pending", 0)]
        stage.make_due()
        assert worker.work(stage.tenant_id) is Worked.ALL
    assert stage.standing.rows(DUE, made.instance_id) == [("completed", 1)]


SCRIPT = {"id": "rate", "type": "script", "config": {"set": {"is_large": "entity.amount > 50"}}}
