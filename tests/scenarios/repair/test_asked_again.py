"""A request for what an operator has ended, behind a gate: a failed call keeps its first id."""

from typing import Any, Literal, LiteralString
from uuid import UUID

import pytest

from signet.core.runtime.operator_actions import Sequel
from signet.ids import make_id
from signet.store.outbox.queue import EFFECTS, claim, complete, fail
from tests.support.repair.contract import LOOK, changed, slot
from tests.support.repair.scene import RepairScene
from tests.support.workflow_stage import CALL, Made, WorkflowStage

SENT = "usr:booking:call"
# People ask for the booking, behind the approval.
REQUESTED = changed(transitions={"book": {"from": ["approved"], "to": "active", "kind": "requested"}})
CALLS: LiteralString = (
    "SELECT e.id, coalesce(e.first_id, e.id) FROM workflow_side_effects_outbox e"
    " JOIN workflow_instances i ON i.tenant_id = e.tenant_id AND i.id = e.instance_id"
    " WHERE i.entity_id = %s ORDER BY e.id"
)


@pytest.fixture
def scene(stage: WorkflowStage) -> RepairScene:
    scene = RepairScene(stage)
    scene.hire()
    scene.publish(REQUESTED, {"approval": slot(LOOK), "booking": slot(CALL)})
    return scene


def failed(scene: RepairScene, error: str) -> Made:
    """Let the call of an approved document fail for the last time."""
    stage, document = scene.stage, scene.stage.create(scene.entity_type)
    stage.drain()
    stage.ask(document.id, "submit")
    stage.drain()
    scene.vote(document)
    stage.drain()
    stage.ask(document.id, "book")
    stage.drain()
    stage.standing.run("UPDATE workflow_side_effects_outbox SET max_attempts = 1")
    with stage.database.transaction(stage.tenant_id) as connection:
        own = make_id()
        rows = claim(connection, EFFECTS, at_most=9, lease_seconds=60, claim_id=own)
        fail(connection, EFFECTS, stage.tenant_id, [(row, error) for row in rows], own)
    stage.wake(stage.instance_of(document.id))
    stage.drain()
    assert scene.describe(document) == "approved, held: EFFECT_DEAD"
    return document


def end(scene: RepairScene, document: Made, act: Literal["cancel", "fail"], then: Sequel | None) -> Any:
    row = scene.row_of(document)
    do = scene.instances.cancel if act == "cancel" else scene.instances.fail
    return do(scene.olga, row["id"], row["version"], "why", then)


def list_calls(scene: RepairScene, document: Made) -> list[tuple[UUID, UUID]]:
    """Return (own id, the id that the receiver gets) of each call, the oldest first."""
    return scene.stage.standing.rows(CALLS, document.id)


@pytest.mark.parametrize("error", ["ANSWERED: 503", "TIMED_OUT: no answer within 20 s"])
@pytest.mark.parametrize(("act", "then"), [("cancel", None), ("cancel", "leave"), ("fail", None)])
def test_a_failed_call_goes_on_under_its_first_id(
    scene: RepairScene, error: str, act: Literal["cancel", "fail"], then: Sequel | None
) -> None:
    document = failed(scene, error)
    # The second end comes before the call was tried again.
    for left in ([SENT], []):
        assert list(end(scene, document, act, then).may_have_left) == left
        scene.stage.drain()
        scene.stage.ask(document.id, "book")
        scene.stage.drain()
    first = list_calls(scene, document)[0][0]
    assert [known for _, known in list_calls(scene, document)] == [first] * 3
    scene.deliver()
    assert scene.describe(document) == "active" and scene.receiver.accepted == [first]


def test_a_delivered_call_is_not_made_again(scene: RepairScene) -> None:
    """Its answer came after the operator had ended the instance."""
    stage, document = scene.stage, scene.stage.create(scene.entity_type)
    stage.drain()
    stage.ask(document.id, "submit")
    stage.drain()
    scene.vote(document)
    stage.drain()
    stage.ask(document.id, "book")
    stage.drain()
    own = make_id()
    with stage.database.transaction(stage.tenant_id) as connection:
        rows = claim(connection, EFFECTS, at_most=9, lease_seconds=60, claim_id=own)
    end(scene, document, "cancel", None)
    with stage.database.transaction(stage.tenant_id) as connection:
        complete(connection, EFFECTS, stage.tenant_id, rows, own)
    stage.ask(document.id, "book")
    stage.drain()
    assert scene.describe(document) == "active" and len(list_calls(scene, document)) == 1
