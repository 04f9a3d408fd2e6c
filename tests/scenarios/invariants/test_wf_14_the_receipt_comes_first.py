"""WF-14: no node acts before its step's receipt is written: receipt, step, and only then the action."""

from typing import Any
from uuid import UUID

import pytest

from signet.authoring.actions import ActionInput, ActionResult
from signet.core.runtime.idempotency_keys import step_key
from signet.engine.cache import CompiledCache
from signet.engine.execution import wave
from signet.engine.execution.claim import Claim, LostReceipt
from signet.engine.execution.wave import Waves
from signet.ids import make_id
from signet.store.instances.waves import write_steps
from signet.store.outbox.queue import EVENTS, claim
from tests.support.workflow_stage import CALL, Made, WorkflowStage, stopped

RUN: dict[str, Any] = {"id": "run", "type": "action", "config": {"action": "run"}}
TELL: dict[str, Any] = {
    "id": "tell",
    "type": "notification",
    "config": {"channel": "email", "to": [{"by": "user", "user": "ann"}], "text": "Look"},
}
GATE = "sys:gate:submit"


def publish(stage: WorkflowStage, nodes: list[dict[str, Any]], calls: list[UUID]) -> str:
    def run(given: ActionInput) -> ActionResult:
        calls.append(given.document.id)
        return ActionResult(output={"total": 1})

    entity_type = stage.publish(**({"checks": {"nodes": nodes}} if nodes else {}))
    stage.registry.action(entity_type, "run")(run)
    return entity_type


def put_receipt(stage: WorkflowStage, document: Made, node: str) -> None:
    """Write the receipt of a step that does not exist."""
    stage.standing.run(
        "INSERT INTO workflow_step_receipts (tenant_id, instance_id, idempotency_key, step_execution_id,"
        " created_at) VALUES (%s, %s, %s, %s, now())",
        stage.tenant_id,
        document.instance_id,
        step_key(document.instance_id, node, "T", 1),
        make_id(),
    )


def run_wave(stage: WorkflowStage) -> None:
    """Claim triggers and run one wave, without the worker's handling of its errors."""
    claim_id = make_id()
    with stage.database.transaction(stage.tenant_id) as connection:
        triggers = claim(connection, EVENTS, at_most=100, lease_seconds=60, claim_id=claim_id)
    Waves(stage.database, stage.caches(), CompiledCache(), stopped).run(
        Claim(claim_id, stage.tenant_id, triggers)
    )


def footprint(stage: WorkflowStage, documents: list[Made]) -> list[Any]:
    return [
        (
            stage.instance(document.instance_id),
            stage.steps(document.instance_id),
            stage.version_of(document.id),
            stage.status_of(document.id),
            stage.standing.rows(
                "SELECT id FROM workflow_side_effects_outbox WHERE instance_id = %s", document.instance_id
            ),
        )
        for document in documents
    ]


@pytest.mark.parametrize(
    ("nodes", "node"),
    [([RUN], "usr:checks:run"), ([CALL], "usr:checks:call"), ([TELL], "usr:checks:tell"), ([], GATE)],
    ids=["action", "call", "notification", "gate"],
)
def test_wf_14_where_a_receipt_was_lost_nobody_acts(
    stage: WorkflowStage, nodes: list[dict[str, Any]], node: str
) -> None:
    """Stop the instance that lost its receipt, and all others of its wave."""
    calls: list[UUID] = []
    entity_type = publish(stage, nodes, calls)
    documents = [stage.create(entity_type) for _ in range(3)]
    stage.drain()
    for document in documents:
        stage.ask(document.id, "submit")
    put_receipt(stage, documents[1], node)
    before = footprint(stage, documents)
    with pytest.raises(LostReceipt):
        run_wave(stage)
    assert calls == []
    assert footprint(stage, documents) == before
    stage.expire_leases()
    stage.drain()
    # The worker moves the others and records the failure of this one, whose row still matches its steps.
    assert footprint(stage, documents[1:2]) == before[1:2]
    assert documents[1].id not in calls
    assert stage.triggers(documents[1].instance_id)[1][0] == "failed"
    for document in (documents[0], documents[2]):
        assert calls.count(document.id) == (1 if nodes == [RUN] else 0)
        assert node in stage.nodes(document.instance_id)


def test_wf_14_a_node_acts_when_its_receipt_and_its_step_are_written(
    stage: WorkflowStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []

    def write(connection: Any, rows: Any, now: Any) -> int:
        order.extend(f"written {row['node_id']} {row['status']}" for row in rows)
        return write_steps(connection, rows, now)

    def run(given: ActionInput) -> ActionResult:
        order.append("run")
        return ActionResult(output={"total": 1})

    monkeypatch.setattr(wave, "write_steps", write)
    entity_type = stage.publish(checks={"nodes": [RUN]})
    stage.registry.action(entity_type, "run")(run)
    document = stage.create(entity_type)
    stage.ask(document.id, "submit")
    stage.drain()
    acted = order.index("run")
    assert order[acted - 1] == "written usr:checks:run running"
    assert order[acted + 1].startswith("written sys:slot:checks:out")


def test_wf_14_a_step_is_written_only_with_its_receipt(stage: WorkflowStage) -> None:
    """Write two steps of which one has a receipt already: only the other is written and counted."""
    document = stage.create(stage.publish())
    stage.drain()
    (written,) = (step for step in stage.whole_steps(document.instance_id) if step["node_id"] == "sys:start")
    rows = []
    for node, key in (("known", written["idempotency_key"]), ("new", "\\x" + "ab" * 32)):
        rows.append(
            {
                **{name: written[name] for name in ("instance_id", "token_id", "entity_version", "run_as")},
                "id": make_id(),
                "created_at": written["created_at"],
                "seq": 90,
                "end_seq": 90,
                "node_id": node,
                "node_type": "start",
                "version_after": 1,
                "status": "completed",
                "idempotency_key": key,
                "actor_id": "carl",
            }
        )
    with stage.database.transaction(stage.tenant_id) as connection:
        (now,) = connection.execute("SELECT now()").fetchone() or (None,)
        assert write_steps(connection, rows, now) == 1  # type: ignore[arg-type]
    nodes = stage.nodes(document.instance_id)
    assert "new" in nodes and "known" not in nodes
