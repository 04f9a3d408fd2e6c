"""Retries and timeouts of authors: what fails outside is tried by itself first, then it is an incident."""

from typing import Any, LiteralString

from signet.outbound.connector import Delivery
from tests.support.effects import Answering, add_endpoint, begin, come_due, effects, rows
from tests.support.operated_instances import check, operating_on, version
from tests.support.workflow_stage import CALL, Made, WorkflowStage

FAILING = Delivery(503, "ANSWERED: 503")
OPEN: LiteralString = "SELECT code, kind FROM incidents WHERE closed_at IS NULL AND instance_id = %s"
DUE: LiteralString = (
    "SELECT extract(epoch FROM due_at - now())::float8 FROM workflow_side_effects_outbox"
    " ORDER BY id DESC LIMIT 1"
)


def declare(**more: Any) -> dict[str, Any]:
    return {**CALL, "config": {**CALL["config"], **more}}


def submit(stage: WorkflowStage, *nodes: dict[str, Any]) -> Made:
    add_endpoint(stage)
    document = stage.create(stage.publish(checks={"nodes": list(nodes)}))
    stage.ask(document.id, "submit")
    stage.drain()
    return document


def be_late(stage: WorkflowStage, document: Made) -> None:
    """Let the deadline of the open step pass, with the trigger that waits for it."""
    stage.standing.run(
        "UPDATE workflow_step_executions SET resume_at = now() - interval '1 second'"
        " WHERE instance_id = %s AND status = 'running'",
        document.instance_id,
    )
    stage.make_due()
    stage.drain()


def test_it_is_tried_as_often_and_as_far_apart_as_declared(stage: WorkflowStage) -> None:
    document = submit(stage, declare(retry={"attempts": 14, "every": "PT2M"}))
    worker = effects(stage, webhook=Answering(FAILING))
    for _ in range(13):
        worker.work(stage.tenant_id)
        ((seconds,),) = stage.standing.rows(DUE)
        assert 110 < seconds <= 120
        stage.standing.run("UPDATE endpoints SET failures = 0, rests_until = NULL")
        come_due(stage)
    assert rows(stage) == [("failed", 13)]
    assert stage.standing.rows(OPEN, document.instance_id) == []
    worker.work(stage.tenant_id)
    stage.drain()
    assert rows(stage) == [("dead_letter", 14)]
    assert stage.standing.rows(OPEN, document.instance_id) == [("EFFECT_DEAD", "outside")]
    check(stage, document)


def test_no_attempt_begins_too_late(stage: WorkflowStage) -> None:
    submit(stage, declare(retry={"attempts": 9, "every": "PT10M", "until": "PT15M"}))
    worker = effects(stage, webhook=Answering(FAILING))
    worker.work(stage.tenant_id)
    assert rows(stage) == [("failed", 1)]
    submit(stage, declare(retry={"attempts": 9, "every": "PT10M", "until": "PT10M"}))
    worker.work(stage.tenant_id)
    assert rows(stage) == [("failed", 1), ("dead_letter", 1)]


def test_a_retry_of_the_step_asks_for_the_same_again(stage: WorkflowStage) -> None:
    document = submit(stage, declare(retry={"attempts": 1}))
    connector = Answering(FAILING)
    worker = effects(stage, webhook=connector)
    worker.work(stage.tenant_id)
    stage.drain()
    instances, olga = operating_on(stage)
    instances.retry(olga, document.instance_id, version(stage, document), "it answers again")
    stage.drain()
    connector.delivery = Delivery(200, None)
    worker.work(stage.tenant_id)
    stage.drain()
    assert len({message.id for message in connector.given}) == 1
    assert stage.status_of(document.id) == "active"


def test_an_answer_that_is_late_is_waited_for_no_more(stage: WorkflowStage) -> None:
    document = submit(stage, declare(timeout="PT1H"))
    ((due,),) = stage.standing.rows(
        "SELECT due_at > now() + interval '59 minutes' FROM workflow_events_outbox"
        " WHERE instance_id = %s AND status = 'pending'",
        document.instance_id,
    )
    assert due
    be_late(stage, document)
    assert stage.standing.rows(OPEN, document.instance_id) == [("EFFECT_TIMEOUT", "outside")]
    assert rows(stage) == [("withdrawn", 0)]
    connector = Answering()
    effects(stage, webhook=connector).work(stage.tenant_id)
    assert connector.given == []
    check(stage, document)


def test_a_late_answer_takes_the_edge_for_errors(stage: WorkflowStage) -> None:
    (document,) = begin(stage, declare(timeout="PT1H"))
    be_late(stage, document)
    assert "usr:checks:failed" in stage.nodes(document.instance_id)
    assert rows(stage) == [("withdrawn", 0)]
    check(stage, document)


def test_what_is_held_can_be_late_too(stage: WorkflowStage) -> None:
    document = submit(stage, declare(timeout="PT1H"))
    gone = Delivery(410, "ANSWERED: 410", is_final=True, is_gone=True)
    effects(stage, webhook=Answering(gone)).work(stage.tenant_id)
    stage.drain()
    be_late(stage, document)
    assert stage.standing.rows(OPEN, document.instance_id) == [("EFFECT_TIMEOUT", "outside")]
    check(stage, document)


def test_an_answer_in_time_is_not_late(stage: WorkflowStage) -> None:
    document = submit(stage, declare(timeout="PT1H"))
    effects(stage, webhook=Answering()).work(stage.tenant_id)
    stage.drain()
    assert stage.status_of(document.id) == "active"
    stage.make_due()
    stage.drain()
    assert stage.standing.rows(OPEN, document.instance_id) == []
    check(stage, document)


def test_a_message_that_is_awaited_can_be_late(stage: WorkflowStage) -> None:
    told = {
        **{"channel": "email", "to": [{"by": "user", "user": "carl"}], "text": "Hi", "await": True},
        **{"retry": {"attempts": 2}, "timeout": "PT1H"},
    }
    document = submit(stage, {"id": "call", "type": "notification", "config": told})
    assert stage.standing.row("SELECT max_attempts FROM workflow_side_effects_outbox") == (2,)
    be_late(stage, document)
    assert stage.standing.rows(OPEN, document.instance_id) == [("EFFECT_TIMEOUT", "outside")]
