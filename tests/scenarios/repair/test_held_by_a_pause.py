"""A person's pause holds what was not sent, and names what may have left already."""

from typing import LiteralString

import pytest

from signet.core.errors import Rejected
from signet.core.explain.instance import write_instance
from signet.engine.access.read import LAST
from signet.engine.cache import CompiledCache, ContractCache
from signet.engine.instances.effect_acts import EffectActs
from signet.engine.instances.explain import explain
from signet.outbound.connector import Delivery
from signet.store.incidents.incidents import read_held_instances
from signet.store.outbox.effect_acts import list_effects
from tests.support.repair.contract import CONTRACT, TELL, slot
from tests.support.repair.scene import RepairScene
from tests.support.workflow_stage import CALL, Made, WorkflowStage

BUSY = Delivery(503, "ANSWERED: 503")
SENT = "usr:booking:call"
ROWS: LiteralString = "SELECT status, attempts FROM workflow_side_effects_outbox ORDER BY id"


@pytest.fixture
def scene(stage: WorkflowStage) -> RepairScene:
    scene = RepairScene(stage)
    scene.hire()
    scene.publish(CONTRACT, {"booking": slot(CALL)})
    return scene


@pytest.fixture
def document(scene: RepairScene) -> Made:
    """Make a document whose call waits to be sent."""
    made = scene.stage.create(scene.entity_type)
    scene.stage.drain()
    scene.stage.ask(made.id, "submit")
    scene.stage.drain()
    assert scene.describe(made) == f"approved, waits at {SENT}"
    return made


def pause(scene: RepairScene, document: Made, *, dry_run: bool = False) -> list[str]:
    """Pause it as a person does; return what may have left already."""
    version = scene.row_of(document)["version"]
    given = (scene.olga, document.instance_id, version, "do not pay")
    return list(scene.instances.pause(*given, dry_run=dry_run).may_have_left)


def resume(scene: RepairScene, document: Made) -> None:
    version = scene.row_of(document)["version"]
    scene.instances.resume(scene.olga, document.instance_id, version)
    scene.stage.drain()


def explained(scene: RepairScene, document: Made) -> str:
    company = scene.stage.standing.company
    found = explain(company.database, ContractCache(), scene.stage.tenant_id, document.instance_id)
    return "\n".join(write_instance(found))


def test_nothing_leaves_before_a_person_resumes(scene: RepairScene, document: Made) -> None:
    assert pause(scene, document) == []
    scene.deliver()
    scene.deliver()
    assert scene.receiver.accepted == [] and scene.stage.standing.rows(ROWS) == [("pending", 0)]
    text = explained(scene, document)
    assert "waits until the instance is resumed; then it goes on by itself." in text
    assert "may have left" not in text and "is tried again at" not in text
    resume(scene, document)
    due: LiteralString = "SELECT due_at <= now() FROM workflow_side_effects_outbox"
    assert scene.stage.standing.row(due) == (True,)
    scene.deliver()
    assert len(scene.receiver.accepted) == 1 and scene.describe(document) == "active"


def test_an_attempt_before_the_pause_is_named(scene: RepairScene, document: Made) -> None:
    scene.deliver(BUSY)
    assert pause(scene, document, dry_run=True) == [SENT]
    assert pause(scene, document) == [SENT]
    scene.deliver()
    assert scene.receiver.accepted == [], "its next attempt waits too"
    assert "An attempt was made before: it may have left." in explained(scene, document)


def test_no_operator_has_it_tried_meanwhile(scene: RepairScene, document: Made) -> None:
    pause(scene, document)
    acts = EffectActs(scene.database, scene.stage.caches(), CompiledCache())
    listed = acts.list_of_instance(scene.olga.principal, document.instance_id, before=None, limit=9)
    assert [(effect.status, effect.acts) for effect in listed] == [("held", ["withdraw"])]
    with pytest.raises(Rejected) as refused:
        acts.try_now(scene.olga, listed[0].id, "now")
    assert refused.value.code == "INSTANCE_PAUSED_BY_PERSON" and "Resume" in refused.value.remedy
    resume(scene, document)
    listed = acts.list_of_instance(scene.olga.principal, document.instance_id, before=None, limit=9)
    assert [(effect.status, effect.acts) for effect in listed] == [("pending", ["try_now", "withdraw"])]


def test_a_pause_of_the_engine_holds_nothing(scene: RepairScene, document: Made) -> None:
    """The calls of before are not what the engine cannot go on with."""
    pause(scene, document)
    scene.stage.standing.run("ALTER TABLE workflow_step_executions DISABLE TRIGGER USER")
    scene.stage.standing.run(
        "UPDATE workflow_step_executions SET run_as = 'system' WHERE node_id = 'sys:control:paused'"
    )
    scene.stage.standing.run("ALTER TABLE workflow_step_executions ENABLE TRIGGER USER")
    scene.deliver()
    assert len(scene.receiver.accepted) == 1


def is_by_person(scene: RepairScene, document: Made) -> bool:
    """Return what SQL says of the pause, and expect that the lists of effects and incidents use it."""
    with scene.database.transaction(scene.stage.tenant_id) as connection:
        row = connection.execute("SELECT is_paused_by_person(%s)", [document.instance_id]).fetchone()
        assert row is not None
        (held,) = read_held_instances(connection, scene.stage.tenant_id, [document.instance_id])
        effects = list_effects(connection, scene.stage.tenant_id, document.instance_id, before=LAST, limit=9)
    assert {held.is_paused_by_person, *(effect.is_paused_by_person for effect in effects)} == {row[0]}
    return bool(row[0])


def test_a_pause_that_has_ended_holds_nothing(stage: WorkflowStage) -> None:
    """Its tokens are all held, which is no pause of a person, though there was one before."""
    scene = RepairScene(stage)
    scene.hire()
    plain = {**TELL, "config": {**TELL["config"], "await": False}}
    scene.publish(CONTRACT, {"booking": slot(plain, CALL)})
    scene.seat_bench()
    made = stage.create(scene.entity_type)
    stage.drain()
    stage.ask(made.id, "submit")
    stage.drain()
    pause(scene, made)
    assert is_by_person(scene, made)
    resume(scene, made)
    stage.standing.run(
        "UPDATE workflow_side_effects_outbox SET max_attempts = 1 WHERE effect_type = 'webhook'"
    )
    scene.deliver(BUSY)
    assert scene.describe(made) == "approved, held: EFFECT_DEAD"
    assert scene.row_of(made)["status"] == "paused"
    assert not is_by_person(scene, made)
    scene.deliver()
    assert len(scene.receiver.accepted) == 1, "the message leaves"
