"""Failures in a wave: the instances that fail with it, those that do not, and the cost."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import LiteralString
from uuid import UUID

import psycopg
import pytest
from psycopg import sql

from signet.core.errors import Transient
from signet.engine.cache import CompiledCache
from signet.engine.instances.actions import Instances
from tests.support.drained_waves import drain, work_once
from tests.support.workflow_stage import Made, WorkflowStage

ASK_RULE = {"id": "known", "type": "rule", "config": {"rules": ["known"]}}


def make_several(stage: WorkflowStage, entity_type: str, count: int) -> list[Made]:
    return [stage.create(entity_type) for _ in range(count)]


def errors_of(stage: WorkflowStage, instance_id: UUID) -> list[str]:
    rows = stage.standing.rows(
        "SELECT error FROM workflow_events_outbox WHERE instance_id = %s AND error IS NOT NULL", instance_id
    )
    return [error for (error,) in rows]


@pytest.mark.parametrize("table", ["rules", "workflow_definitions"])
def test_a_statement_that_was_in_somebodys_way_is_nobodys_failure(stage: WorkflowStage, table: str) -> None:
    """Meet a lock in a query before the first write: the wave ends and is repeated."""
    entity_type = stage.publish(checks={"nodes": [ASK_RULE]})
    stage.add_rule(entity_type, "known", "entity.amount > 5", on="delete")
    documents = make_several(stage, entity_type, 3)
    for document in documents:
        stage.ask(document.id, "submit")
    with (
        psycopg.connect(stage.standing.admin_url) as other,
        stage.another_database(lock_seconds=0.02) as database,
    ):
        other.execute(sql.SQL("LOCK TABLE {} IN ACCESS EXCLUSIVE MODE").format(sql.Identifier(table)))
        with pytest.raises(Transient) as caught:
            drain(stage.worker(database=database), [stage.tenant_id])
        assert caught.value.code == "DATABASE_CONTENDED"
    for document in documents:
        assert stage.triggers(document.instance_id) == [("pending", 0)] * 2
        assert errors_of(stage, document.instance_id) == []
    stage.make_due()
    stage.drain()
    assert {stage.status_of(document.id) for document in documents} == {"active"}


CAUSE: LiteralString = (
    "ALTER TABLE workflow_step_executions ADD CONSTRAINT poison"
    " CHECK (node_id <> 'sys:state:submitted' OR instance_id <> {}) NOT VALID"
)
NO_CAUSE: LiteralString = "ALTER TABLE workflow_step_executions DROP CONSTRAINT IF EXISTS poison"


@contextmanager
def poison(stage: WorkflowStage, document: Made) -> Iterator[None]:
    """Make the database refuse one row of this instance's third round."""
    statement = sql.SQL(CAUSE).format(sql.Literal(document.instance_id))
    stage.standing.admin.execute(statement)
    try:
        yield
    finally:
        stage.standing.run(NO_CAUSE)


def test_one_that_the_database_refuses_takes_nobody_along(stage: WorkflowStage) -> None:
    """Fail one of a hundred documents in a late round: only its trigger fails."""
    documents = make_several(stage, stage.publish(), 100)
    stage.drain()
    for document in documents:
        stage.ask(document.id, "submit")
    bad = documents[41]
    with poison(stage, bad):
        drained = work_once(stage.worker(), stage.tenant_id)
        assert (drained.waves, drained.instances) == (100, 99)
        assert {stage.status_of(each.id) for each in documents if each is not bad} == {"active"}
        for each in documents:
            own = ("failed", 1) if each is bad else ("completed", 1)
            assert stage.triggers(each.instance_id)[1:] == [own]
        assert (stage.status_of(bad.id), stage.instance(bad.instance_id)["version"]) == ("draft", 2)
        # Half of the first delay is fixed; the trigger before it in the claim was completed earlier.
        (error, is_later) = stage.standing.row(
            "SELECT bad.error, bad.due_at >= before.completed_at + interval '0.5 seconds'"
            " FROM workflow_events_outbox bad, workflow_events_outbox before"
            " WHERE bad.instance_id = %s AND bad.status = 'failed'"
            " AND before.instance_id = %s AND before.event_type = 'transition_requested'",
            bad.instance_id,
            documents[40].instance_id,
        )
        assert is_later and error.startswith("CheckViolation: ") and "poison" in error
    stage.make_due()
    stage.drain()
    assert stage.status_of(bad.id) == "active"
    assert stage.triggers(bad.instance_id)[1:] == [("completed", 2)]


def test_a_trigger_that_always_fails_goes_alone_and_pauses_its_instance_in_the_end(
    stage: WorkflowStage,
) -> None:
    bad, *others = make_several(stage, stage.publish(), 4)
    stage.drain()
    stage.ask(bad.id, "submit")
    worker = stage.worker()
    with poison(stage, bad):
        for attempt, other in enumerate([None, None, *others], start=1):
            if other is not None:
                stage.ask(other.id, "submit")
            stage.make_due()
            assert worker.work(stage.tenant_id)
            assert stage.triggers(bad.instance_id)[1][1] == attempt
            if other is not None:
                # Triggers that are due later were not in its claim.
                assert stage.triggers(other.instance_id)[1:] == [("pending", 0)]
                assert worker.work(stage.tenant_id)
                assert stage.triggers(other.instance_id)[1:] == [("completed", 1)]
        instance = stage.instance(bad.instance_id)
        assert stage.triggers(bad.instance_id)[1:] == [("dead_letter", 5)]
        assert instance["status"] == "paused" and instance["reason"].startswith("CheckViolation: ")
        assert stage.nodes(bad.instance_id)[-1] == "sys:control:paused"
        stage.check_rebuild(bad.instance_id)
        assert not worker.work(stage.tenant_id)
    requeue(stage, bad)
    stage.drain()
    assert stage.triggers(bad.instance_id)[1:] == [("completed", 1)]
    assert stage.status_of(bad.id) == "active"
    stage.check_rebuild(bad.instance_id)


def requeue(stage: WorkflowStage, document: Made) -> None:
    """Requeue the dead letters as an operator does once the cause is gone."""
    dead = stage.standing.rows(
        "SELECT id FROM workflow_events_outbox WHERE instance_id = %s AND status = 'dead_letter'",
        document.instance_id,
    )
    company = stage.standing.company
    instances = Instances(company.database, stage.caches(), CompiledCache())
    requeued = instances.requeue(company.caller(), [row_id for (row_id,) in dead])
    assert requeued.resumed == [document.instance_id]


def test_a_mistake_in_the_first_round_drops_one_instance_and_rolls_nothing_back(stage: WorkflowStage) -> None:
    """Ask a rule that the tenant does not have; the wave goes on without that instance."""
    good, bad = stage.publish(), stage.publish(checks={"nodes": [ASK_RULE]})
    documents = [stage.create(bad if number == 3 else good) for number in range(8)]
    for document in documents:
        stage.ask(document.id, "submit")
    drained = work_once(stage.worker(), stage.tenant_id)
    assert (drained.waves, drained.instances) == (1, 7)
    for number, document in enumerate(documents):
        own = ("failed", 1) if number == 3 else ("completed", 1)
        assert stage.triggers(document.instance_id) == [own] * 2
    assert stage.steps(documents[3].instance_id) == []
    assert errors_of(stage, documents[3].instance_id)[0].startswith("RULE_UNKNOWN: ")
    stage.add_rule(bad, "known", "entity.amount > 5", on="delete")
    stage.make_due()
    stage.drain()
    assert {stage.status_of(document.id) for document in documents} == {"active"}


def test_a_defect_in_the_first_round_drops_one_instance_and_rolls_nothing_back(stage: WorkflowStage) -> None:
    documents = make_several(stage, stage.publish(), 5)
    row = stage.instance(documents[2].instance_id)
    stage.put_back({**row, "active_tokens": [{**row["active_tokens"][0], "node": "sys:nowhere"}]})
    drained = work_once(stage.worker(), stage.tenant_id)
    assert (drained.waves, drained.instances) == (1, 4)
    assert [stage.triggers(document.instance_id) for document in documents] == [
        [("failed", 1)] if number == 2 else [("completed", 1)] for number in range(5)
    ]
    assert errors_of(stage, documents[2].instance_id) == ["KeyError: 'sys:nowhere'"]
    stage.put_back(row)
    stage.make_due()
    stage.drain()
    assert stage.nodes(documents[2].instance_id) == ["sys:start", "sys:state:draft"]


def test_an_instance_whose_workflow_cannot_be_loaded_is_paused_in_the_end(stage: WorkflowStage) -> None:
    """Break the workflow's hash: nothing can run, but the reason is recorded on the instance."""
    entity_type = stage.publish()
    document, other = stage.create(entity_type), stage.create(stage.publish())
    row = stage.standing.row(
        "SELECT id, compiled_hash FROM workflow_definitions WHERE entity_type = %s", entity_type
    )
    change: LiteralString = "UPDATE workflow_definitions SET compiled_hash = %s WHERE id = %s"
    stage.standing.run("ALTER TABLE workflow_definitions DISABLE TRIGGER USER")
    stage.standing.run(change, "0" * 64, row[0])
    for _ in range(5):
        stage.drain()
        stage.make_due()
    instance = stage.instance(document.instance_id)
    assert stage.triggers(document.instance_id) == [("dead_letter", 5)]
    assert instance["status"] == "paused" and instance["reason"].startswith("WORKFLOW_HASH_MISMATCH: ")
    assert stage.nodes(other.instance_id) == ["sys:start", "sys:state:draft"]
    said = stage.standing.rows(
        "SELECT entry, data ->> 'reason' FROM workflow_event WHERE subject_id = %s", document.instance_id
    )
    assert said == [("paused", instance["reason"])]
    stage.standing.run(change, row[1], row[0])
    stage.standing.run("ALTER TABLE workflow_definitions ENABLE TRIGGER USER")
    stage.check_rebuild(document.instance_id)
    requeue(stage, document)
    stage.drain()
    assert stage.nodes(document.instance_id)[1:] == ["sys:control:resumed", "sys:start", "sys:state:draft"]
    stage.check_rebuild(document.instance_id)
