"""Waits on AWS: a wake-up comes at their moment, and not with the sweep after it."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from tests.support.services.deployed_functions import SimulatedDeployment, deployed
from tests.support.services.message_queues import MessageQueues, QueueMessage, standing_queues
from tests.support.workflow_stage import Made, WorkflowStage, standing_stage


@pytest.fixture(scope="module")
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        yield made


@pytest.fixture
def queues() -> Iterator[MessageQueues]:
    with standing_queues() as made:
        yield made


@pytest.fixture
def deployment(stage: WorkflowStage, queues: MessageQueues) -> Iterator[SimulatedDeployment]:
    stage.drain()
    stage.standing.run("DELETE FROM workflow_events_outbox")
    with deployed(stage.standing.admin_url, queues) as made:
        yield made


def wake(stage: WorkflowStage) -> QueueMessage:
    return QueueMessage(1, "events", f'{{"tenant":"{stage.tenant_id}","kind":"events"}}')


def submit(stage: WorkflowStage, **wait: Any) -> Made:
    nodes = {"nodes": [{"id": "wait", "type": "wait_timer", "config": wait}]}
    made = stage.create(stage.publish(approval=nodes))
    stage.ask(made.id, "submit")
    return made


def pass_time(stage: WorkflowStage, document: Made, time: timedelta) -> None:
    for table, column, key in (
        ("workflow_step_executions", "resume_at", "instance_id"),
        ("workflow_events_outbox", "due_at", "instance_id"),
    ):
        statement: Any = f"UPDATE {table} SET {column} = {column} - %s WHERE {key} = %s"
        stage.standing.run_unguarded(statement, time, document.instance_id)


def test_a_wait_of_seconds_has_a_message_that_waits_so_long(
    stage: WorkflowStage, deployment: SimulatedDeployment, queues: MessageQueues
) -> None:
    document = submit(stage, **{"for": "PT31S"})
    deployment.deliver(wake(stage))
    (message,) = queues.waiting
    assert (message.body, message.delay_seconds) == (wake(stage).body, 31)
    pass_time(stage, document, timedelta(seconds=31))
    deployment.deliver(*queues.pick("events"))
    assert stage.status_of(document.id) == "active"
    assert queues.waiting == [], "nobody is woken in vain"


def test_a_wait_that_no_message_can_last_has_one_from_the_sweep_before(
    stage: WorkflowStage, deployment: SimulatedDeployment, queues: MessageQueues
) -> None:
    document = submit(stage, **{"for": "PT20M"})
    deployment.deliver(wake(stage))
    assert deployment.sweep() == {"events": 0, "effects": 0}
    assert queues.waiting == []
    pass_time(stage, document, timedelta(minutes=18))
    assert deployment.sweep() == {"events": 0, "effects": 0}
    (message,) = queues.waiting
    assert message.body == wake(stage).body and 100 < message.delay_seconds <= 120
    deployment.sweep()
    assert len(queues.waiting) == 1, "the next sweep need not send it again"
    pass_time(stage, document, timedelta(minutes=2))
    deployment.deliver(*queues.pick("events"))
    assert stage.status_of(document.id) == "active"
