"""Corrections: an operator changes what a held document says, and it goes on."""

from typing import Any

import pytest

from signet.core.errors import Rejected
from signet.engine.cache import CompiledCache
from signet.engine.instances.actions import Instances
from signet.engine.instances.corrections import Correction, Corrections
from tests.support.moved_instances import ASK, decide, olga, version_of
from tests.support.operated_instances import check, submitted
from tests.support.workflow_stage import CALL, CONTRACT, Made, WorkflowStage

# An action that fails while the amount is small; people are asked behind the first one, in front of the gate.
FILL = {
    "kind": "update",
    "payload": {"text": {"type": "string", "min_length": 2}},
    "set": {"number": "{payload.text}"},
}
WITH_ACTION = {**CONTRACT, "actions": {**CONTRACT["actions"], "fill": FILL}}
LOCKED = {"transition": "approve", "edit": "locked", "stable": True}
STABLE = {**WITH_ACTION, "slots": {**CONTRACT["slots"], "approval": LOCKED}}
ACT = {
    "id": "act",
    "type": "action",
    "config": {"action": "fill", "run_as": "system", "payload": {"text": {"$expr": "entity.number"}}},
}
ACTING: dict[str, Any] = {"nodes": [ACT]}
ASKING_FIRST = {"nodes": [ASK, CALL], "edges": [{"source": "ask", "target": "call", "on": "approved"}]}
WHY = "the number was misread"


@pytest.fixture(autouse=True)
def asked_person(anna: str) -> str:
    return anna


@pytest.fixture
def corrections(stage: WorkflowStage) -> Corrections:
    return Corrections(stage.standing.company.database, stage.caches(), CompiledCache())


def correct(stage: WorkflowStage, corrections: Corrections, made: Made, **more: Any) -> Correction:
    version = stage.version_of(made.id)
    return corrections.correct(olga(stage), made.id, version, {"number": "R-1"}, WHY, **more)


def held(stage: WorkflowStage, contract: Any = WITH_ACTION, **slots: Any) -> Made:
    made = stage.create(stage.publish(contract, **slots), number="1")
    stage.ask(made.id, "submit")
    stage.drain()
    assert stage.instance(made.instance_id)["status"] == "paused"
    return made


@pytest.mark.parametrize("contract", [WITH_ACTION, STABLE], ids=["editable", "locked"])
def test_what_was_wrong_is_corrected_and_tried_again(
    stage: WorkflowStage, corrections: Corrections, contract: Any
) -> None:
    made = held(stage, contract, approval=ACTING)
    done = correct(stage, corrections, made)
    assert (done.status, done.version) == ("submitted", stage.version_of(made.id))
    stage.drain()
    assert stage.status_of(made.id) == "active"
    closing = "SELECT closing FROM incidents WHERE entity_id = %s"
    assert stage.standing.rows(closing, made.id) == [("withdrawn",)]
    editors = "SELECT 'olga' = ANY (editor_ids) FROM documents WHERE id = %s"
    assert stage.standing.row(editors, made.id) == (True,)
    check(stage, made)


def test_the_request_of_the_way_stays(stage: WorkflowStage, corrections: Corrections) -> None:
    made = held(stage, checks=ACTING)
    correct(stage, corrections, made)
    stage.drain()
    assert stage.status_of(made.id) == "active"
    requests = "SELECT status FROM transition_requests WHERE document_id = %s"
    assert stage.standing.rows(requests, made.id) == [("performed",)]
    check(stage, made)


def test_people_are_asked_about_what_it_says_now(
    stage: WorkflowStage, corrections: Corrections, anna: str
) -> None:
    made = stage.create(stage.publish(WITH_ACTION, approval=ASKING_FIRST), number="1")
    stage.ask(made.id, "submit")
    stage.drain()
    decide(stage, made, anna)
    stage.answer(made.instance_id, error="gone")
    stage.drain()
    assert stage.instance(made.instance_id)["status"] == "paused"
    correct(stage, corrections, made)
    stage.drain()
    assert stage.instance(made.instance_id)["current_nodes"] == ["usr:approval:ask"]
    asked = "SELECT status, document_version FROM approval_requests WHERE document_id = %s ORDER BY id"
    first, second = stage.standing.rows(asked, made.id)
    assert (first[0], second) == ("voided", ("open", stage.version_of(made.id)))
    decide(stage, made, anna)
    stage.answer(made.instance_id, body={})
    stage.drain()
    assert stage.status_of(made.id) == "active"
    check(stage, made)


def test_behind_a_gate_only_what_is_held_is_tried_again(
    stage: WorkflowStage, corrections: Corrections
) -> None:
    behind = {"nodes": [CALL, ACT], "edges": [{"source": "call", "target": "act"}]}
    made = stage.create(stage.publish(WITH_ACTION, posting=behind), number="1")
    stage.ask(made.id, "submit")
    stage.drain()
    stage.answer(made.instance_id, body={})
    stage.drain()
    assert (stage.status_of(made.id), stage.instance(made.instance_id)["status"]) == ("active", "paused")
    done = correct(stage, corrections, made)
    assert done.nodes == ["usr:posting:act"]
    stage.drain()
    calls = "SELECT count(*) FROM workflow_side_effects_outbox WHERE instance_id = %s"
    assert stage.standing.row(calls, made.instance_id) == (1,)
    assert stage.instance(made.instance_id)["status"] == "completed"
    closing = "SELECT closing, closed_by FROM incidents WHERE entity_id = %s"
    assert stage.standing.rows(closing, made.id) == [("retried", "olga")]
    check(stage, made)


def test_what_people_approved_is_not_corrected(
    stage: WorkflowStage, corrections: Corrections, anna: str
) -> None:
    made = stage.create(stage.publish(WITH_ACTION, approval={"nodes": [ASK]}, posting=ACTING), number="1")
    stage.ask(made.id, "submit")
    stage.drain()
    decide(stage, made, anna)
    assert (stage.status_of(made.id), stage.instance(made.instance_id)["status"]) == ("active", "paused")
    with pytest.raises(Rejected, match="people approved") as refused:
        correct(stage, corrections, made)
    assert (refused.value.code, "Amend it" in refused.value.remedy) == ("CORRECTION_NOT_POSSIBLE", True)


def test_the_contract_and_the_version_hold(stage: WorkflowStage, corrections: Corrections) -> None:
    made = held(stage, approval=ACTING)
    with pytest.raises(Rejected) as conflict:
        corrections.correct(olga(stage), made.id, 99, {"number": "R-1"}, WHY)
    assert conflict.value.code == "DOCUMENT_VERSION_CONFLICT"
    version = stage.version_of(made.id)
    with pytest.raises(Rejected) as invalid:
        corrections.correct(olga(stage), made.id, version, {"amount": "much"}, WHY)
    assert invalid.value.code == "FIELDS_INVALID"
    with pytest.raises(Rejected) as unknown:
        corrections.correct(olga(stage), made.instance_id, 1, {}, WHY)
    assert unknown.value.code == "DOCUMENT_NOT_FOUND"
    with pytest.raises(Rejected) as denied:
        corrections.correct(stage.standing.company.caller("carl", "clerk"), made.id, version, {}, WHY)
    assert denied.value.code == "PERMISSION_DENIED"


def test_without_an_incident_it_is_edited(stage: WorkflowStage, corrections: Corrections) -> None:
    made = submitted(stage, approval={"nodes": [ASK]})
    with pytest.raises(Rejected, match="no incident is open"):
        correct(stage, corrections, made)


def test_a_document_without_a_workflow_is_corrected_before_its_restart(
    stage: WorkflowStage, corrections: Corrections, operators: Instances
) -> None:
    made = held(stage, STABLE, approval=ACTING)
    operators.cancel(olga(stage), made.instance_id, version_of(stage, made), "not like this", "leave")
    done = correct(stage, corrections, made)
    assert (done.instance_id, done.nodes, done.version) == (None, [], stage.version_of(made.id))


def test_a_dry_run_changes_nothing(stage: WorkflowStage, corrections: Corrections) -> None:
    made = held(stage, approval=ACTING)
    before = stage.instance(made.instance_id), stage.version_of(made.id)
    done = correct(stage, corrections, made, dry_run=True)
    assert done.version == before[1] + 1
    assert (stage.instance(made.instance_id), stage.version_of(made.id)) == before


@pytest.mark.parametrize("dry_run", [False, True])
def test_a_correction_that_a_rule_stops_is_kept_unless_it_only_was_tried(
    stage: WorkflowStage, corrections: Corrections, dry_run: bool
) -> None:
    made = held(stage, WITH_ACTION, approval=ACTING)
    (entity_type,) = stage.standing.row("SELECT entity_type FROM documents WHERE id = %s", made.id)
    stage.add_rule(str(entity_type), "no_such", "entity.number == 'R-1'", on="update")
    with pytest.raises(Rejected, match="no_such is against it"):
        correct(stage, corrections, made, dry_run=dry_run)
    kept = stage.standing.rows(
        "SELECT rule, operation, actor_id FROM rule_executions WHERE is_rejection AND document_id = %s",
        made.id,
    )
    assert kept == ([] if dry_run else [("no_such", "update", "olga")])
