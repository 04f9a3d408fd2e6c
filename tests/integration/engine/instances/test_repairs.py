"""Repairs of what is held: the steps say all that happened, and what people approved stays or is voided."""

from typing import Any, LiteralString

import pytest

from signet.core.errors import Rejected
from signet.core.runtime.projection import DRIFT
from signet.engine.approvals.inbox import Approvals
from signet.engine.cache import CompiledCache
from signet.engine.instances.repairs import Repairs
from tests.support.operated_instances import check, operating_on, submitted, version
from tests.support.workflow_stage import CALL, CONTRACT, Made, WorkflowStage

LOOK = {"id": "look", "type": "approval", "config": {"approvers": [{"by": "user", "user": "anna"}]}}
APPROVED_THEN_CALLED: dict[str, Any] = {
    "nodes": [LOOK, CALL],
    "edges": [{"source": "look", "target": "call"}],
}
REQUESTS: LiteralString = (
    "SELECT status, coalesce(applied, false) FROM approval_requests WHERE instance_id = %s ORDER BY id"
)


def repairing_on(stage: WorkflowStage) -> Repairs:
    return Repairs(stage.standing.company.database, stage.caches(), CompiledCache())


def approve(stage: WorkflowStage, document: Made) -> None:
    (request_id,) = stage.standing.row(
        "SELECT id FROM approval_requests WHERE document_id = %s AND status = 'open'", document.id
    )
    company = stage.standing.company
    Approvals(company.database, stage.caches()).decide(
        company.caller("anna", "voter"), request_id, "approved", "seen"
    )
    stage.drain()


@pytest.fixture
def stranded(stage: WorkflowStage, anna: str) -> Made:
    """Make a document that is approved, and whose call behind the approval was given up."""
    document = submitted(stage, approval=APPROVED_THEN_CALLED)
    approve(stage, document)
    stage.answer(document.instance_id, error="gone")
    stage.drain()
    assert stage.instance(document.instance_id)["status"] == "paused"
    return document


def test_a_retry_keeps_what_was_approved(stage: WorkflowStage, stranded: Made) -> None:
    instances, olga = operating_on(stage)
    instances.retry(olga, stranded.instance_id, version(stage, stranded), "the bank is back")
    stage.drain()
    assert stage.standing.rows(REQUESTS, stranded.instance_id) == [("approved", False)]
    stage.answer(stranded.instance_id)
    stage.drain()
    assert stage.status_of(stranded.id) == "active"
    assert stage.standing.rows(REQUESTS, stranded.instance_id) == [("approved", True)]
    check(stage, stranded)


def test_a_skipped_step_is_there_in_a_rebuild(stage: WorkflowStage, stranded: Made) -> None:
    _, olga = operating_on(stage)
    (token,) = stage.instance(stranded.instance_id)["active_tokens"]
    repairing_on(stage).skip(olga, stranded.instance_id, version(stage, stranded), token["id"], "by phone")
    check(stage, stranded)
    stage.drain()
    assert stage.status_of(stranded.id) == "active"
    check(stage, stranded)


def test_what_is_sent_back_is_asked_again(stage: WorkflowStage, stranded: Made) -> None:
    _, olga = operating_on(stage)
    back = "sys:state:submitted"
    repairing_on(stage).go_to(olga, stranded.instance_id, version(stage, stranded), back, "look again")
    stage.drain()
    assert stage.standing.rows(REQUESTS, stranded.instance_id) == [("voided", False), ("open", False)]
    check(stage, stranded)


STABLE_CONTRACT = {
    **CONTRACT,
    "slots": {**CONTRACT["slots"], "approval": {"transition": "approve", "edit": "locked", "stable": True}},
}


def drift(stage: WorkflowStage, document: Made) -> None:
    """Edit in spite of the edit window, as a defect or a server's owner could."""
    editable = "UPDATE workflow_instances SET edit_window = 'editable' WHERE id = %s"
    stage.standing.run(editable, document.instance_id)
    stage.edit(document.id, amount=9)
    stage.drain()


def go_to_submitted(stage: WorkflowStage, document: Made) -> None:
    _, olga = operating_on(stage)
    place, seen = "sys:state:submitted", version(stage, document)
    repairing_on(stage).go_to(olga, document.instance_id, seen, place, "look at what it says now")


def test_after_a_drift_people_decide_on_what_the_document_says_now(stage: WorkflowStage, anna: str) -> None:
    document = submitted(stage, STABLE_CONTRACT, approval=APPROVED_THEN_CALLED)
    approve(stage, document)
    drift(stage, document)
    assert stage.instance(document.instance_id)["reason"] == DRIFT
    _, olga = operating_on(stage)
    (token,) = stage.instance(document.instance_id)["active_tokens"]
    with pytest.raises(Rejected) as refused:
        repairing_on(stage).skip(olga, document.instance_id, version(stage, document), token["id"], "why")
    assert refused.value.remedy.startswith("Send it to the state of its document by go_to")
    go_to_submitted(stage, document)
    stage.drain()
    assert stage.standing.rows(REQUESTS, document.instance_id) == [("voided", False), ("open", False)]
    about = "SELECT document_version FROM approval_requests WHERE document_id = %s AND status = 'open'"
    assert stage.standing.row(about, document.id) == (stage.version_of(document.id),)
    closings = "SELECT closing, closed_by FROM incidents WHERE entity_id = %s"
    assert stage.standing.rows(closings, document.id) == [("resumed", "olga")]
    check(stage, document)


def test_a_drift_of_what_people_approved_sends_nothing_on(stage: WorkflowStage, anna: str) -> None:
    """Behind its gate, the document would go on with content that nobody approved."""
    filing = {"transition": "approve", "position": "after", "edit": "locked", "stable": True}
    contract = {**CONTRACT, "slots": {**CONTRACT["slots"], "posting": filing}}
    document = submitted(stage, contract, approval={"nodes": [LOOK]}, posting={"nodes": [CALL]})
    approve(stage, document)
    drift(stage, document)
    assert stage.instance(document.instance_id)["reason"] == DRIFT
    for place in ("sys:state:active", "sys:state:submitted", "sys:slot:posting:in"):
        _, olga = operating_on(stage)
        with pytest.raises(Rejected) as refused:
            seen = version(stage, document)
            repairing_on(stage).go_to(olga, document.instance_id, seen, place, "go on")
        assert refused.value.code == "INSTANCE_TARGET_NOT_POSSIBLE"


def test_nobody_goes_anywhere_while_a_person_pauses_it(stage: WorkflowStage, anna: str) -> None:
    instances, olga = operating_on(stage)
    document = submitted(stage, STABLE_CONTRACT, approval=APPROVED_THEN_CALLED)
    instances.pause(olga, document.instance_id, version(stage, document), DRIFT)
    with pytest.raises(Rejected) as refused:
        go_to_submitted(stage, document)
    assert refused.value.code == "INSTANCE_NOT_RUNNING"
