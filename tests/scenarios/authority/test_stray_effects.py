"""Calls that a worker which was taken over would send, though no step of its wave asks for them."""

from collections.abc import Iterator
from hashlib import sha256
from itertools import pairwise
from typing import Any, LiteralString
from uuid import UUID

import psycopg
import pytest

from signet.core.runtime.tokens import ROOT
from signet.engine.cache import CompiledCache
from signet.engine.execution.rebuild import rebuild_instance
from signet.ids import created_at_of, make_id
from signet.store.instances.waves import write_steps
from signet.store.tenants.tenants import read_now
from tests.support.effects import add_endpoint
from tests.support.workflow_stage import CALL, WorkflowStage, standing_stage

POST = {"id": "post", "type": "action", "config": {"action": "post"}}
TELL = {
    "id": "tell",
    "type": "notification",
    "config": {"channel": "email", "to": [{"by": "user", "user": "ann"}], "text": "Look"},
}
SENT: LiteralString = "SELECT count(*) FROM workflow_side_effects_outbox WHERE instance_id = %s"
STEPS: LiteralString = "SELECT id FROM workflow_step_executions WHERE instance_id = %s AND node_id = %s"
EFFECT: LiteralString = (
    "INSERT INTO workflow_side_effects_outbox (tenant_id, created_at, id, instance_id, step_execution_id,"
    " effect_type, endpoint, payload_json, event_idempotency_key, due_at)"
    " VALUES (%s, now(), %s, %s, %s, 'webhook', 'erp', '{\"payload\": {\"iban\": \"DE-OF-EVE\"}}', %s, now())"
)


@pytest.fixture(scope="module")
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        add_endpoint(made)
        yield made


def begin(stage: WorkflowStage, *nodes: Any) -> UUID:
    edges = [{"source": a["id"], "target": b["id"]} for a, b in pairwise(nodes)]
    document = stage.create(stage.publish(checks={"nodes": list(nodes), "edges": edges}))
    stage.ask(document.id, "submit")
    stage.drain()
    return document.instance_id


def find_step(stage: WorkflowStage, instance_id: UUID, node: str) -> UUID:
    ((step_id,),) = stage.standing.rows(STEPS, instance_id, f"usr:checks:{node}")
    return UUID(str(step_id))


def send(
    stage: WorkflowStage, instance_id: UUID, step_id: UUID, forged: dict[str, Any] | None = None
) -> None:
    """Write one more effect as the worker's role, with a step of its own where one is given."""
    with stage.database.transaction(stage.tenant_id) as connection:
        if forged is not None:
            write_steps(connection, [forged], read_now(connection))
        values = [stage.tenant_id, make_id(), instance_id, step_id, sha256(step_id.bytes).digest()]
        connection.execute(EFFECT, values)


def forge(instance_id: UUID, node_type: str) -> dict[str, Any]:
    step_id = make_id()
    return {
        "id": str(step_id),
        "created_at": created_at_of(step_id).isoformat(),
        "instance_id": str(instance_id),
        "seq": 900,
        "node_id": "usr:checks:call",
        "node_type": node_type,
        "token_id": ROOT,
        "entity_version": 1,
        "version_after": 1,
        "status": "running",
        "run_as": "actor",
        "idempotency_key": f"\\x{sha256(step_id.bytes).hexdigest()}",
        "actor_id": "carl",
    }


def refuse(
    stage: WorkflowStage, instance_id: UUID, step_id: UUID, forged: dict[str, Any] | None = None
) -> None:
    with pytest.raises(psycopg.Error, match="no step of this wave that sends it") as refused:
        send(stage, instance_id, step_id, forged)
    assert refused.value.sqlstate == "SG002"


def test_a_call_that_waits_is_not_sent_with_other_values(stage: WorkflowStage) -> None:
    instance_id = begin(stage, CALL)
    refuse(stage, instance_id, find_step(stage, instance_id, "call"))
    assert stage.standing.rows(SENT, instance_id) == [(1,)]


def test_a_step_of_earlier_sends_nothing_more(stage: WorkflowStage) -> None:
    """Its own effect was delivered, and pruned since."""
    instance_id = begin(stage, CALL)
    stage.standing.run("DELETE FROM workflow_side_effects_outbox WHERE instance_id = %s", instance_id)
    refuse(stage, instance_id, find_step(stage, instance_id, "call"))


def test_a_step_sends_once(stage: WorkflowStage) -> None:
    """A transaction that is kept open sees the steps of waves that came after it."""
    with stage.database.transaction(stage.tenant_id) as connection:
        read_now(connection)
        instance_id = begin(stage, CALL)
        step_id = find_step(stage, instance_id, "call")
        values = [stage.tenant_id, make_id(), instance_id, step_id, sha256(step_id.bytes).digest()]
        with pytest.raises(psycopg.Error, match="no step of this wave that sends it"):
            connection.execute(EFFECT, values)
        connection.rollback()


def test_no_step_at_all_sends_nothing(stage: WorkflowStage) -> None:
    refuse(stage, begin(stage, CALL), make_id())


def test_the_step_of_another_instance_sends_nothing(stage: WorkflowStage) -> None:
    first, other = begin(stage, CALL), begin(stage, CALL)
    step = forge(first, "webhook_out")
    refuse(stage, other, UUID(step["id"]), step)


def test_a_node_that_sends_nothing_sends_nothing(stage: WorkflowStage) -> None:
    instance_id = begin(stage, CALL)
    step = forge(instance_id, "action")
    refuse(stage, instance_id, UUID(step["id"]), step)


def test_a_wave_sends_what_its_steps_ask_for(stage: WorkflowStage) -> None:
    """A notification that waits for nothing has ended in the same wave."""
    instance_id = begin(stage, POST, TELL, CALL)
    assert stage.standing.rows(SENT, instance_id) == [(2,)]


def test_a_forged_step_that_sends_is_found(stage: WorkflowStage) -> None:
    """A wave writes such rows, so both pass. The row of the instance does not follow from them."""
    instance_id = begin(stage, CALL)
    step = forge(instance_id, "webhook_out")
    send(stage, instance_id, UUID(step["id"]), step)
    assert rebuild_instance(stage.database, CompiledCache(), stage.tenant_id, instance_id)
