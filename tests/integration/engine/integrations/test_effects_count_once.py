"""WF-11 for effects: each is one row, is delivered under one id, and is recorded once."""

from hashlib import sha256
from typing import Any, LiteralString
from uuid import UUID, uuid4

import orjson
import pytest

from signet.core.runtime.idempotency_keys import effect_key, event_key
from signet.ids import created_at_of, make_id
from signet.outbound.connector import Delivery, OutboundMessage
from signet.store.instances.waves import write_steps
from signet.store.outbox.queue import EFFECTS, release_expired
from signet.store.tenants.tenants import read_now
from tests.support.effects import Answering, add_endpoint, effects
from tests.support.operated_instances import check, operating_on, version
from tests.support.workflow_stage import CALL, Made, WorkflowStage

ROWS: LiteralString = "SELECT id FROM workflow_side_effects_outbox WHERE instance_id = %s ORDER BY id"
EVENTS: LiteralString = "SELECT id FROM workflow_events_outbox WHERE instance_id = %s ORDER BY id"
RECEIPTS: LiteralString = (
    "SELECT source_table, event_idempotency_key FROM workflow_outbox_receipts"
    " WHERE instance_id = %s ORDER BY 1"
)
STATUSES: LiteralString = (
    "SELECT e.status, s.status FROM workflow_side_effects_outbox e"
    " JOIN workflow_step_executions s ON s.id = e.step_execution_id WHERE e.instance_id = %s ORDER BY e.id"
)
END_WAVE: LiteralString = "SELECT end_wave('[]', '[]', %s, '[]', '{}', '{}', %s)"
PAYLOAD = {"payload": {"number": "R-1"}}


def write_effect(stage: WorkflowStage, instance_id: UUID, step_id: UUID, key: bytes | None = None) -> UUID:
    """Write the step and the effect as new rows of a wave, as a wave that is run again does."""
    effect_id = make_id()
    row = {
        "id": str(effect_id),
        "created_at": created_at_of(effect_id).isoformat(),
        "instance_id": str(instance_id),
        "step_id": str(step_id),
        "effect_type": "webhook",
        "endpoint": "erp",
        "payload": PAYLOAD,
        "idempotency_key": f"\\x{(key or effect_key(step_id, 'webhook', PAYLOAD)).hex()}",
        "trace_id": None,
    }
    with stage.database.transaction(stage.tenant_id) as connection:
        now = read_now(connection)
        write_steps(connection, [call_step(instance_id, step_id)], now)
        connection.execute(END_WAVE, [orjson.dumps([row]).decode(), now])
    return effect_id


def call_step(instance_id: UUID, step_id: UUID) -> dict[str, Any]:
    """Describe a step that has just made its call."""
    return {
        "id": str(step_id),
        "created_at": created_at_of(step_id).isoformat(),
        "instance_id": str(instance_id),
        "seq": 1,
        "node_id": "usr:checks:call",
        "node_type": "webhook_out",
        "token_id": "",
        "entity_version": 1,
        "version_after": 1,
        "status": "running",
        "run_as": "actor",
        "idempotency_key": f"\\x{sha256(step_id.bytes).hexdigest()}",
        "actor_id": "carl",
    }


def write_event(stage: WorkflowStage, instance_id: UUID, key: bytes) -> None:
    event_id = make_id()
    row: dict[str, Any] = {
        "id": str(event_id),
        "created_at": created_at_of(event_id).isoformat(),
        "instance_id": str(instance_id),
        "event_type": "continue",
        "payload": {},
        "trace_id": None,
        "entity_version": 1,
        "idempotency_key": f"\\x{key.hex()}",
    }
    with stage.database.transaction(stage.tenant_id) as connection:
        now = read_now(connection)
        connection.execute(
            "SELECT write_edits('{}', '[]', '[]', '[]', %s, %s)", [orjson.dumps([row]).decode(), now]
        )


@pytest.fixture
def waiting(stage: WorkflowStage) -> Made:
    """Make a document whose slot waits for the answer of a call, alone in its queue."""
    stage.standing.run("DELETE FROM workflow_side_effects_outbox")
    add_endpoint(stage)
    document = stage.create(stage.publish(checks={"nodes": [CALL]}))
    stage.ask(document.id, "submit")
    stage.drain()
    return document


def test_wf_11_the_same_effect_written_again_is_the_same_row(stage: WorkflowStage) -> None:
    instance_id, step_id = uuid4(), make_id()
    first = write_effect(stage, instance_id, step_id)
    for _ in range(3):
        write_effect(stage, instance_id, step_id)
    assert stage.standing.rows(ROWS, instance_id) == [(first,)]
    key = effect_key(step_id, "webhook", PAYLOAD)
    assert stage.standing.rows(RECEIPTS, instance_id) == [("side_effects", key)]


def test_wf_11_the_receipt_of_an_effect_decides_also_when_its_row_is_gone(stage: WorkflowStage) -> None:
    instance_id, step_id = uuid4(), make_id()
    write_effect(stage, instance_id, step_id)
    stage.standing.run("DELETE FROM workflow_side_effects_outbox WHERE instance_id = %s", instance_id)
    write_effect(stage, instance_id, step_id)
    assert stage.standing.rows(ROWS, instance_id) == []


def test_wf_11_the_same_content_of_another_step_is_another_effect(stage: WorkflowStage) -> None:
    instance_id = uuid4()
    written = [write_effect(stage, instance_id, make_id()) for _ in range(2)]
    assert stage.standing.rows(ROWS, instance_id) == [(effect_id,) for effect_id in written]


def test_wf_11_one_key_in_both_outboxes_counts_once_in_each(stage: WorkflowStage) -> None:
    instance_id, step_id = uuid4(), make_id()
    key = event_key(instance_id, "continue", {}, 1)
    for _ in range(2):
        write_event(stage, instance_id, key)
        write_effect(stage, instance_id, step_id, key)
    assert len(stage.standing.rows(EVENTS, instance_id)) == 1
    assert len(stage.standing.rows(ROWS, instance_id)) == 1
    assert stage.standing.rows(RECEIPTS, instance_id) == [("events", key), ("side_effects", key)]


def test_wf_11_a_crash_between_delivery_and_completion(stage: WorkflowStage, waiting: Made) -> None:
    """Let the worker die when the receiver has it: it comes again under its id, and is recorded once."""
    given: list[OutboundMessage] = []

    class DiesAfterwards(Answering):
        def deliver(self, message: OutboundMessage) -> Delivery:
            given.append(message)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        effects(stage, webhook=DiesAfterwards()).work(stage.tenant_id)
    assert stage.standing.rows(STATUSES, waiting.instance_id) == [("processing", "running")]
    stage.expire_leases()
    second = Answering()
    worker = effects(stage, webhook=second)
    worker.work(stage.tenant_id)
    assert worker.work(stage.tenant_id) == 0
    stage.drain()
    ((own,),) = stage.standing.rows(ROWS, waiting.instance_id)
    assert [[one.id for one in messages].count(own) for messages in (given, second.given)] == [1, 1]
    assert stage.standing.rows(STATUSES, waiting.instance_id) == [("completed", "completed")]
    assert stage.nodes(waiting.instance_id).count("usr:checks:call") == 1
    check(stage, waiting)


def test_wf_11_a_worker_that_comes_too_late_records_nothing(stage: WorkflowStage, waiting: Made) -> None:
    """Let another worker deliver while the first still holds its answer: only one of them counts."""
    other = Answering(Delivery(200, None, {"by": "the other"}))

    class LateConnector(Answering):
        def deliver(self, message: OutboundMessage) -> Delivery:
            stage.expire_leases()
            with stage.database.transaction(stage.tenant_id) as connection:
                release_expired(connection, EFFECTS, stage.tenant_id, at_most=9)
            effects(stage, webhook=other).work(stage.tenant_id)
            return Delivery(503, "ANSWERED: 503")

    effects(stage, webhook=LateConnector()).work(stage.tenant_id)
    stage.drain()
    ((own,),) = stage.standing.rows(ROWS, waiting.instance_id)
    assert [message.id for message in other.given].count(own) == 1
    assert stage.standing.rows(STATUSES, waiting.instance_id) == [("completed", "completed")]
    (answer,) = stage.standing.row(
        "SELECT response_json -> 'body' FROM workflow_side_effects_outbox WHERE instance_id = %s",
        waiting.instance_id,
    )
    assert answer == {"by": "the other"}


def test_wf_11_a_step_that_is_retried_asks_for_one_effect_at_a_time(
    stage: WorkflowStage, waiting: Made
) -> None:
    instances, olga = operating_on(stage)
    for _ in range(2):
        stage.answer(waiting.instance_id, error="gone")
        stage.drain()
        instances.retry(olga, waiting.instance_id, version(stage, waiting), "again")
        stage.drain()
    statuses: list[Any] = stage.standing.rows(STATUSES, waiting.instance_id)
    assert statuses == [("withdrawn", "failed"), ("withdrawn", "failed"), ("pending", "running")]
