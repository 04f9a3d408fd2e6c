"""The acts of an incident are those that the server accepts, and one of them leads on."""

from typing import Any

import pytest

from signet.core.errors import Rejected
from signet.core.incidents.remedies import find_remedy
from signet.engine.cache import CompiledCache
from signet.engine.instances.incidents import Incident, IncidentFilter, Incidents
from tests.support.repair.contract import CONTRACT, LOOK, RUN, slot
from tests.support.repair.scene import RepairScene
from tests.support.workflow_stage import CALL, Made, WorkflowStage

SENT, RUNNING = "usr:booking:call", "usr:filing:run"
DEAD = "approved, held: EFFECT_DEAD"


@pytest.fixture
def scene(stage: WorkflowStage) -> RepairScene:
    scene = RepairScene(stage)
    scene.hire()
    return scene


def held(scene: RepairScene, *, is_approved: bool) -> Made:
    """Make a document whose call was given up, behind an approval or not."""
    stage = scene.stage
    scene.publish(CONTRACT, {"booking": slot(CALL), **({"approval": slot(LOOK)} if is_approved else {})})
    made = stage.create(scene.entity_type)
    stage.drain()
    stage.ask(made.id, "submit")
    stage.drain()
    if is_approved:
        scene.vote(made)
        stage.drain()
    stage.answer(made.instance_id, error="ANSWERED: 400")
    stage.drain()
    assert scene.describe(made) == DEAD
    return made


def incident_of(scene: RepairScene, document: Made) -> Incident:
    incidents = Incidents(scene.database, CompiledCache(), scene.instances)
    wanted = IncidentFilter(document_id=document.id)
    (found,) = incidents.list_newest(scene.olga.principal, wanted, before=None, limit=9)
    return found


def acts_of(scene: RepairScene, document: Made) -> dict[str, tuple[str, ...]]:
    """Return the acts with what may follow an end."""
    return {act.name: tuple(act.then) for act in incident_of(scene, document).acts}


def cancel(scene: RepairScene, document: Made, then: Any = None, *, dry_run: bool = False) -> Any:
    row = scene.row_of(document)
    return scene.instances.cancel(scene.olga, row["id"], row["version"], "why", then, dry_run=dry_run)


def test_a_call_behind_an_approval_is_retried_or_skipped_and_nothing_else(scene: RepairScene) -> None:
    document = held(scene, is_approved=True)
    assert acts_of(scene, document) == {"retry": (), "skip": ()}
    row = scene.row_of(document)
    given = (scene.olga, document.instance_id, row["version"], SENT, "why")
    with pytest.raises(Rejected) as refused:
        scene.instances.cancel_token(*given)
    assert refused.value.code == "INSTANCE_TOKEN_NOT_CANCELLABLE"
    for then in ("restart", "leave"):
        with pytest.raises(Rejected) as refused:
            cancel(scene, document, then)
        assert refused.value.code == "INSTANCE_TARGET_REPEATS"
    scene.repairs.skip(*given)
    scene.stage.drain()
    assert scene.describe(document) == "active"


def test_an_end_names_what_may_follow_and_each_of_it_is_accepted(scene: RepairScene) -> None:
    document = held(scene, is_approved=False)
    acts = acts_of(scene, document)
    assert acts["cancel"] == acts["fail"] == ("restart", "leave") and "cancel_token" not in acts
    for then in acts["cancel"]:
        assert cancel(scene, document, then, dry_run=True).status == "cancelled"
    assert cancel(scene, document, "leave").follows == "incident"
    assert "restart" in acts_of(scene, document)
    assert scene.restarts.report(scene.olga, document.id).outcome == "safe"


def test_what_may_not_begin_again_is_not_listed(scene: RepairScene) -> None:
    """An older release left documents where they could not begin again."""
    stage = scene.stage
    scene.publish(CONTRACT, {"approval": slot(LOOK), "booking": slot(CALL)})
    document = stage.create(scene.entity_type)
    stage.drain()
    stage.ask(document.id, "submit")
    stage.drain()
    scene.vote(document)
    stage.drain()
    cancel(scene, document, "leave")
    assert acts_of(scene, document) == {"restart": ()}
    stage.standing.run("ALTER TABLE workflow_side_effects_outbox DISABLE TRIGGER USER")
    stage.standing.run("UPDATE workflow_side_effects_outbox SET attempts = 1, left_at = now()")
    assert acts_of(scene, document) == {}


def test_a_gate_that_is_held_sends_back_what_is_cancelled_there(scene: RepairScene) -> None:
    stage = scene.stage
    scene.publish(CONTRACT, {"approval": slot(LOOK)})
    stage.add_rule(scene.entity_type, "closed", "entity.status == 'approved'", on="transition")
    document = stage.create(scene.entity_type)
    stage.drain()
    stage.ask(document.id, "submit")
    stage.drain()
    scene.vote(document)
    stage.drain()
    assert scene.describe(document) == "review, held: RULE_REJECTED"
    row = scene.row_of(document)
    assert "cancel_token" in acts_of(scene, document)
    state = scene.instances.cancel_token(
        scene.olga, row["id"], row["version"], row["active_tokens"][0]["id"], "no"
    )
    assert state.status == "running"
    stage.drain()
    assert scene.describe(document) == "draft"
    closed = stage.standing.rows("SELECT closing FROM incidents WHERE entity_id = %s", document.id)
    assert closed == [("rejected",)]
    stage.check_rebuild(row["id"])


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        ("ENDPOINT_UNKNOWN: the tenant has no endpoint of that name", "Make an endpoint"),
        ("SECRET_MISSING: none of the endpoint's secrets can be read", "Put the secret"),
        ("ADDRESS_REFUSED: the endpoint's name leads to a private address", "SIGNET_WEBHOOK_ADDRESSES"),
        ("ENDPOINT_INVALID: the endpoint's address wants https", "SIGNET_WEBHOOK_ADDRESSES"),
        ("TLS_FAILED: CERTIFICATE_VERIFY_FAILED", "SSL_CERT_FILE"),
        ("CONNECTOR_MISSING: nothing here delivers it", "Switch on"),
    ],
)
def test_what_was_never_sent_is_for_an_administrator(scene: RepairScene, error: str, advice: str) -> None:
    stage = scene.stage
    scene.publish(CONTRACT, {"booking": slot(CALL)})
    document = stage.create(scene.entity_type)
    stage.drain()
    stage.ask(document.id, "submit")
    stage.drain()
    stage.answer(document.instance_id, error=error)
    stage.drain()
    found = incident_of(scene, document)
    assert (found.code, found.kind) == (error.partition(":")[0], "configuration")
    remedy = find_remedy(found.code, found.kind)
    assert advice in remedy and "other system" not in remedy


# --- what follows an end ---


def broken(scene: RepairScene, place: str) -> Made:
    """Make a document whose action behind its gate fails."""
    stage = scene.stage
    scene.is_broken = True
    scene.publish(CONTRACT, {place: slot(RUN)})
    made = stage.create(scene.entity_type)
    stage.drain()
    stage.ask(made.id, "submit")
    stage.drain()
    if place == "archive":
        stage.ask(made.id, "close")
        stage.drain()
    return made


def test_what_is_left_undone_behind_a_gate_opens_an_incident(scene: RepairScene) -> None:
    document = broken(scene, "filing")
    assert scene.describe(document) == "active, held: ACTION_FAILED"
    foreseen = cancel(scene, document, dry_run=True)
    assert (foreseen.follows, foreseen.undone) == ("incident", [RUNNING])
    assert cancel(scene, document).follows == "incident"
    assert scene.describe(document) == "active, held: DOCUMENT_WITHOUT_WORKFLOW"
    assert "restart" in acts_of(scene, document)
    report = scene.restarts.report(scene.olga, document.id)
    assert (report.outcome, report.repeats) == ("safe", []), "nothing was done that could be repeated"
    scene.is_broken = False
    scene.restarts.restart(scene.olga, document.id, scene.stage.version_of(document.id), "mended")
    scene.stage.drain()
    assert scene.describe(document) == "active"


def test_in_a_final_status_what_is_left_undone_stays_an_incident(scene: RepairScene) -> None:
    """A restart would do it."""
    document = broken(scene, "archive")
    assert scene.describe(document) == "closed, held: ACTION_FAILED"
    ended = cancel(scene, document)
    assert (ended.follows, ended.undone) == ("incident", ["usr:archive:run"])
    assert scene.describe(document) == "closed, held: DOCUMENT_WITHOUT_WORKFLOW"


def test_where_people_can_ask_the_next_request_follows(scene: RepairScene) -> None:
    scene.publish(CONTRACT, {})
    document = scene.stage.create(scene.entity_type)
    scene.stage.drain()
    ended = cancel(scene, document)
    assert (ended.follows, ended.undone) == ("request", [])
