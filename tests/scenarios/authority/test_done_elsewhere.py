"""A node that a newer definition has renamed or moved does nothing again for the same decision."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.scenarios.authority.acts import submit, vote
from tests.scenarios.authority.test_done_once import APPROVED, LOOK, PAY, SETTLE, held_by, linear, list_paid
from tests.scenarios.authority.test_done_once import stage as stage
from tests.support.workflow_stage import CONTRACT, Made, WorkflowStage

LOCKED = {"edit": "locked", "settled": True}
# What is approved is paid behind the gate, or at the request of a clerk.
PAID: Mapping[str, Any] = {
    **CONTRACT,
    "states": {
        "draft": {"edit": "editable", "initial": True},
        "submitted": {"edit": "locked"},
        "active": LOCKED,
        "paid": LOCKED,
    },
    "transitions": {
        "submit": {"from": ["draft"], "to": "submitted", "kind": "requested"},
        "approve": {"from": ["submitted"], "to": "active", "kind": "automatic", "rejected_to": "draft"},
        "pay": {"from": ["active"], "to": "paid", "kind": "requested"},
        "reopen": {"from": ["paid"], "to": "active", "kind": "requested"},
    },
    "slots": {
        "approval": {"transition": "approve"},
        "posting": {"transition": "approve", "position": "after"},
        "paying": {"transition": "pay", "position": "after"},
        "reopening": {"transition": "reopen"},
    },
    "actions": {
        "post": {"kind": "update", "set": {"is_posted": True}},
    },
}
DECIDED = {**PAID, "separation_of_duties": {"deciding": ["pay"]}}
TRANSFER = {**PAY, "id": "transfer"}
ASKED = {"approval": linear(LOOK)}


def approved(stage: WorkflowStage, entity_type: str, *asked: str) -> Made:
    document = stage.create(entity_type, "carl", number="P1", amount=5)
    submit(stage, document, "carl")
    assert vote(stage, document.id, "bea") == APPROVED
    ask(stage, document, *asked)
    return document


def ask(stage: WorkflowStage, document: Made, *transitions: str, user_id: str = "carl") -> None:
    for transition in transitions:
        stage.ask(document.id, transition, user_id)
        stage.drain()
        pay(stage, document)


def pay(stage: WorkflowStage, document: Made) -> None:
    """Let the bank take what is on its way."""
    instance_id = stage.instance_of(document.id)
    query = "SELECT 1 FROM workflow_side_effects_outbox WHERE instance_id = %s AND status = 'pending'"
    if stage.standing.rows(query, instance_id):
        stage.answer(instance_id, body={"paid": True})
        stage.drain()


def test_a_call_that_is_drawn_elsewhere_does_not_pay_again(stage: WorkflowStage) -> None:
    name = stage.publish(PAID, **ASKED, posting=linear(PAY))
    document = approved(stage, name)
    pay(stage, document)
    stage.publish_next(name, 1, **ASKED, paying=linear(PAY))
    ask(stage, document, "pay")
    assert list_paid(stage, document) == ["completed"]
    assert held_by(stage, document) == [("DONE_BEFORE", "usr:paying:pay")]
    (reason,) = stage.standing.row(
        "SELECT reason FROM workflow_instances WHERE id = %s", stage.instance_of(document.id)
    )
    assert "usr:posting:pay acted since people decided" in reason


def test_a_call_that_is_renamed_does_not_pay_again(stage: WorkflowStage) -> None:
    name = stage.publish(PAID, **ASKED, paying=linear(PAY))
    document = approved(stage, name, "pay")
    stage.publish_next(name, 1, **ASKED, paying=linear(TRANSFER))
    ask(stage, document, "reopen", "pay")
    assert list_paid(stage, document) == ["completed"]
    assert held_by(stage, document) == [("DONE_BEFORE", "usr:paying:transfer")]


def test_a_call_behind_another_decision_pays_again(stage: WorkflowStage) -> None:
    """The lawful way: a person who may decide asks for it."""
    name = stage.publish(DECIDED, **ASKED, posting=linear(PAY))
    document = approved(stage, name)
    pay(stage, document)
    stage.publish_next(name, 1, **ASKED, paying=linear(TRANSFER))
    ask(stage, document, "pay", user_id="otto")
    assert list_paid(stage, document) == ["completed", "completed"]


STAMP = {"id": "stamp", "type": "action", "config": {"action": "post", "run_as": "system"}}


@pytest.mark.parametrize(
    "older", [{}, {"posting": linear(STAMP)}, {"posting": linear(SETTLE), "paying": linear(PAY)}]
)
def test_a_call_that_is_not_by_another_name_is_made(stage: WorkflowStage, older: Mapping[str, Any]) -> None:
    """The lawful way: nothing was done, or nothing that lasts, or the older definition had this node too."""
    name = stage.publish(PAID, **ASKED, **older)
    document = approved(stage, name)
    pay(stage, document)
    stage.publish_next(name, 1, **ASKED, paying=linear(PAY))
    ask(stage, document, "pay")
    assert (list_paid(stage, document), held_by(stage, document)) == (["completed"], [])
