"""Repairs of what is held: the steps say all that happened, and what people approved stays or is voided."""

from typing import Any, LiteralString

import pytest

from signet.engine.approvals.inbox import Approvals
from signet.engine.cache import CompiledCache
from signet.engine.instances.repairs import Repairs
from tests.support.operated_instances import check, operating_on, submitted, version
from tests.support.workflow_stage import CALL, Made, WorkflowStage

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
