"""The functions behind the queues, as Lambda calls them: with real batches, over real wiring."""

from collections.abc import Iterator
from uuid import uuid4

import pytest

from functions.wake_up_records import EVENTS_RESERVE_MS
from signet.engine.integrations.effects import Effects
from tests.engine.waves.stage import WorkflowStage, standing_stage
from tests.simulation.deployment import SimulatedDeployment, deployed
from tests.simulation.message_queues import MessageQueues, QueueMessage, standing_queues

NOTICE = {
    "id": "tell",
    "type": "notification",
    "config": {"channel": "in_app", "to": [{"by": "user", "user": "carl"}], "text": "Look"},
}


@pytest.fixture(scope="module")
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        made.add_member("ada")
        yield made


@pytest.fixture
def queues() -> Iterator[MessageQueues]:
    with standing_queues() as made:
        yield made


@pytest.fixture
def deployment(stage: WorkflowStage, queues: MessageQueues) -> Iterator[SimulatedDeployment]:
    stage.drain()
    with deployed(stage.standing.admin_url, queues) as made:
        yield made


def wake(stage: WorkflowStage, number: int = 1, queue: str = "events") -> QueueMessage:
    return QueueMessage(number, queue, f'{{"tenant":"{stage.tenant_id}","kind":"{queue}"}}')


def undone(stage: WorkflowStage, table: str = "workflow_events_outbox") -> int:
    (count,) = stage.standing.admin.execute(
        f"SELECT count(*) FROM {table} WHERE status <> 'completed'"
    ).fetchone() or (0,)
    return int(count)


def test_a_wake_up_moves_everything_that_is_due(
    stage: WorkflowStage, deployment: SimulatedDeployment
) -> None:
    contract = stage.publish()
    made = [stage.create(contract) for _ in range(3)]
    assert deployment.deliver(wake(stage)) == {"batchItemFailures": []}
    assert undone(stage) == 0
    assert all(stage.nodes(one.instance_id) for one in made)


def test_a_wave_with_an_effect_wakes_whoever_delivers(
    stage: WorkflowStage, deployment: SimulatedDeployment, queues: MessageQueues
) -> None:
    made = stage.create(stage.publish(checks={"nodes": [NOTICE]}))
    stage.ask(made.id, "submit")
    deployment.deliver(wake(stage))
    assert [message.queue for message in queues.waiting] == ["effects"]
    deployment.deliver(*queues.pick("effects"))
    assert undone(stage, "workflow_side_effects_outbox") == 0
    # The end of the effect wakes the workflow.
    assert [message.queue for message in queues.waiting] == ["events"]


def test_a_message_that_cannot_be_read_comes_again_and_takes_no_other_along(
    stage: WorkflowStage, deployment: SimulatedDeployment
) -> None:
    stage.create(stage.publish())
    poison = [
        QueueMessage(1, "events", "no JSON"),
        QueueMessage(2, "events", '{"tenant": "nobody", "kind": "events"}'),
        QueueMessage(3, "events", '{"kind": "events"}'),
        QueueMessage(4, "events", f'{{"tenant": "{uuid4()}", "kind": "events", "node": "x"}}'),
        QueueMessage(5, "events", "[]"),
        QueueMessage(6, "events", ""),
    ]
    answer = deployment.deliver(*poison, wake(stage, 7))
    failed = {failure["itemIdentifier"] for failure in answer["batchItemFailures"]}
    assert len(failed) == len(poison)
    assert undone(stage) == 0


def test_a_batch_of_nothing_but_poison_is_answered_for_message_by_message(
    deployment: SimulatedDeployment,
) -> None:
    answer = deployment.deliver(QueueMessage(1, "events", "{"), QueueMessage(2, "events", "{"))
    assert len(answer["batchItemFailures"]) == 2


def test_a_tenant_that_is_not_there_has_nothing_to_do(deployment: SimulatedDeployment) -> None:
    message = QueueMessage(1, "events", f'{{"tenant":"{uuid4()}","kind":"events"}}')
    assert deployment.deliver(message) == {"batchItemFailures": []}


def test_what_is_not_done_in_time_wakes_the_next(
    stage: WorkflowStage, deployment: SimulatedDeployment, queues: MessageQueues
) -> None:
    made = stage.create(stage.publish())
    deployment.context.remaining_ms = EVENTS_RESERVE_MS - 1
    assert deployment.deliver(wake(stage)) == {"batchItemFailures": []}
    assert stage.nodes(made.instance_id) == []
    assert [message.body for message in queues.waiting] == [wake(stage).body]
    deployment.context.remaining_ms = 300_000
    deployment.deliver(*queues.pick("events"))
    assert undone(stage) == 0


def test_what_nobody_foresaw_fails_the_message_of_its_tenant_alone(
    stage: WorkflowStage, deployment: SimulatedDeployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    def break_down(self: Effects, tenant_id: object) -> int:
        raise RuntimeError("a bug")

    monkeypatch.setattr(Effects, "work", break_down)
    answer = deployment.deliver(wake(stage, 1, "effects"))
    assert len(answer["batchItemFailures"]) == 1


def test_the_sweep_sends_what_nobody_was_woken_for(
    stage: WorkflowStage, deployment: SimulatedDeployment, queues: MessageQueues
) -> None:
    stage.create(stage.publish())
    assert deployment.sweep() == {"events": 1, "effects": 0}
    assert [message.body for message in queues.waiting] == [wake(stage).body]
    deployment.deliver(*queues.pick("events"))
    assert deployment.sweep() == {"events": 0, "effects": 0}


def test_an_effects_message_in_the_wrong_queue_does_no_harm(
    stage: WorkflowStage, deployment: SimulatedDeployment
) -> None:
    body = wake(stage, 1, "effects").body
    assert deployment.deliver(QueueMessage(1, "events", body)) == {"batchItemFailures": []}
