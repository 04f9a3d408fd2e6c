"""Requests while a workflow is paused are served, refused with the reason, or withdrawn: never parked."""

from collections.abc import Mapping
from typing import Any

import pytest

from signet.core.errors import Rejected
from signet.engine.documents.commands import WithdrawRequest
from signet.engine.instances.actions import Instances
from tests.support.fixtures.workers import anna, operators, stage
from tests.support.moved_instances import ASK, CALLING, olga, version_of
from tests.support.operated_instances import check, submitted
from tests.support.workflow_stage import CONTRACT, Made, WorkflowStage

__all__ = ["anna", "operators", "stage"]

ASKING: dict[str, Any] = {"nodes": [ASK]}
HELD = {"nodes": [{**ASK, "config": {"approvers": [{"by": "role", "role": "no"}]}}]}
STATE, WAITING = "sys:state:draft", "usr:checks:ask"


def pause(stage: WorkflowStage, operators: Instances, made: Made) -> None:
    operators.pause(olga(stage), made.instance_id, version_of(stage, made), "the auditors are here")


def drift(stage: WorkflowStage, approval: Mapping[str, Any] = CALLING, **more: Any) -> Made:
    """Return a document that the engine has paused: it was edited where nothing may change it."""
    locked = {"transition": "approve", "edit": "locked", "stable": True}
    contract = {**CONTRACT, "slots": {**CONTRACT["slots"], "approval": locked}}
    made = submitted(stage, {**contract, **more}, approval=approval)
    window = "UPDATE workflow_instances SET edit_window = 'editable' WHERE id = %s"
    stage.standing.run(window, made.instance_id)
    stage.edit(made.id, amount=7)
    stage.drain()
    row = stage.instance(made.instance_id)
    assert (row["status"], row["reason"]) == ("paused", "WORKFLOW_VERSION_DRIFT")
    return made


def requests(stage: WorkflowStage, made: Made) -> list[tuple[Any, ...]]:
    return stage.standing.rows(
        "SELECT transition, status, outcome FROM transition_requests WHERE document_id = %s ORDER BY id",
        made.id,
    )


def withdraw(stage: WorkflowStage, made: Made, user_id: str = "carl") -> None:
    (request_id,) = stage.standing.row(
        "SELECT id FROM transition_requests WHERE document_id = %s ORDER BY id DESC LIMIT 1", made.id
    )
    stage.mutate(WithdrawRequest(made.id, request_id), user_id)


def test_r9_an_interrupt_of_what_the_engine_paused_is_served(stage: WorkflowStage) -> None:
    made = drift(stage)
    stage.ask(made.id, "cancel")
    stage.drain()
    assert stage.status_of(made.id) == "cancelled"
    assert requests(stage, made)[-1][:2] == ("cancel", "performed")
    assert stage.instance(made.instance_id)["status"] == "completed"
    check(stage, made)


def test_a_drift_of_what_is_held_is_one_incident_and_ends_with_its_instance(stage: WorkflowStage) -> None:
    made = drift(stage, approval=HELD)
    codes = "SELECT code FROM incidents WHERE entity_id = %s AND closed_at IS NULL ORDER BY seq"
    assert stage.standing.rows(codes, made.id) == [("APPROVAL_NOBODY_ELIGIBLE",), ("WORKFLOW_VERSION_DRIFT",)]
    stage.ask(made.id, "cancel")
    stage.drain()
    assert stage.status_of(made.id) == "cancelled"
    assert stage.standing.rows(codes, made.id) == []
    assert stage.instance(made.instance_id)["status"] == "completed"
    check(stage, made)


def test_r9_an_interrupt_that_cannot_pass_is_refused(stage: WorkflowStage) -> None:
    cancel = {**CONTRACT["transitions"]["cancel"], "condition": "entity.amount > 50"}
    made = drift(stage, transitions={**CONTRACT["transitions"], "cancel": cancel})
    stage.ask(made.id, "cancel")
    stage.drain()
    ((_, status, outcome),) = requests(stage, made)[-1:]
    assert status == "refused" and "entity.amount > 50" in outcome
    assert stage.instance(made.instance_id)["status"] == "paused"
    check(stage, made)


def test_r9_what_a_person_paused_serves_nothing(stage: WorkflowStage, operators: Instances) -> None:
    made = submitted(stage, approval=CALLING)
    pause(stage, operators, made)
    with pytest.raises(Rejected, match="the auditors are here") as refused:
        stage.ask(made.id, "cancel")
    assert (refused.value.code, "resume" in refused.value.remedy) == ("INSTANCE_PAUSED", True)
    assert [status for _, status, _ in requests(stage, made)] == ["performed"]


def test_r9_other_requests_are_refused_with_what_is_served(stage: WorkflowStage) -> None:
    ask = {"from": ["submitted"], "to": "draft", "kind": "requested"}
    made = drift(stage, transitions={**CONTRACT["transitions"], "reopen": ask})
    with pytest.raises(Rejected, match="WORKFLOW_VERSION_DRIFT") as refused:
        stage.ask(made.id, "reopen")
    assert refused.value.code == "INSTANCE_PAUSED"
    assert refused.value.remedy.endswith("Served while it is paused: cancel.")


def test_r9_what_was_asked_before_the_pause_is_not_parked(stage: WorkflowStage, operators: Instances) -> None:
    made = stage.create(stage.publish(checks=ASKING))
    stage.drain()
    version = version_of(stage, made)
    stage.ask(made.id, "submit")
    operators.pause(olga(stage), made.instance_id, version, "the auditors are here")
    stage.drain()
    refusal = "INSTANCE_PAUSED: the workflow is paused: the auditors are here"
    assert requests(stage, made) == [("submit", "refused", refusal)]
    check(stage, made)


def test_what_is_held_takes_requests_as_ever(stage: WorkflowStage) -> None:
    made = submitted(stage, approval=HELD)
    assert stage.instance(made.instance_id)["status"] == "paused"
    stage.ask(made.id, "cancel")
    stage.drain()
    assert stage.status_of(made.id) == "cancelled"


def test_r9_a_person_withdraws_their_own_request(stage: WorkflowStage, anna: str) -> None:
    made = stage.create(stage.publish(checks=ASKING))
    stage.ask(made.id, "submit")
    stage.drain()
    assert stage.instance(made.instance_id)["current_nodes"] == [WAITING]
    with pytest.raises(Rejected, match="of another person"):
        withdraw(stage, made, "sam")
    withdraw(stage, made)
    stage.drain()
    assert requests(stage, made) == [("submit", "superseded", "withdrawn by the person who asked")]
    assert stage.instance(made.instance_id)["current_nodes"] == [STATE]
    (voided,) = stage.standing.row("SELECT status FROM approval_requests WHERE document_id = %s", made.id)
    assert voided == "voided"
    with pytest.raises(Rejected) as ended:
        withdraw(stage, made)
    assert ended.value.code == "REQUEST_ENDED"
    check(stage, made)
    stage.ask(made.id, "submit")
    stage.drain()
    assert stage.instance(made.instance_id)["current_nodes"] == [WAITING]


def test_r9_it_is_withdrawn_while_the_workflow_is_paused(
    stage: WorkflowStage, operators: Instances, anna: str
) -> None:
    made = stage.create(stage.publish(checks=ASKING))
    stage.ask(made.id, "submit")
    stage.drain()
    pause(stage, operators, made)
    withdraw(stage, made)
    stage.drain()
    assert stage.instance(made.instance_id)["status"] == "paused"
    operators.resume(olga(stage), made.instance_id, version_of(stage, made))
    stage.drain()
    row = stage.instance(made.instance_id)
    assert (row["status"], row["current_nodes"]) == ("running", [STATE])
    check(stage, made)


def test_a_withdrawal_that_comes_late_ends_nothing(stage: WorkflowStage, anna: str) -> None:
    """Expect a new request for the same to go on with what is under way."""
    made = stage.create(stage.publish(checks=ASKING))
    stage.ask(made.id, "submit")
    stage.drain()
    withdraw(stage, made)
    stage.ask(made.id, "submit", "sam")
    stage.drain()
    assert stage.instance(made.instance_id)["current_nodes"] == [WAITING]
    assert [status for _, status, _ in requests(stage, made)] == ["superseded", "open"]


def test_r8_a_workflow_that_began_for_a_withdrawn_request_ends(
    stage: WorkflowStage, operators: Instances, anna: str
) -> None:
    made = submitted(stage, approval=ASKING)
    operators.cancel(olga(stage), made.instance_id, version_of(stage, made), "not now", "leave")
    stage.ask(made.id, "cancel")
    withdraw(stage, made)
    stage.drain()
    assert stage.status_of(made.id) == "submitted"
    begun = Made(made.id, stage.instance_of(made.id))
    assert begun != made and stage.instance(begun.instance_id)["status"] == "cancelled"
    check(stage, begun)
