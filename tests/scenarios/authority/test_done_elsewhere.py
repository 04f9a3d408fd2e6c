"""A node that a newer definition has renamed or moved does nothing again for the same decision."""

from collections.abc import Mapping
from typing import Any

import pytest

from signet.engine.cache import CompiledCache
from signet.engine.instances.moves import InstanceMoves, MoveTarget
from tests.scenarios.authority.acts import submit, vote
from tests.scenarios.authority.test_done_once import (
    APPROVED,
    LOOK,
    PAY,
    SETTLE,
    ask_reverse,
    booked,
    held_by,
    linear,
    list_paid,
    operator,
    withdraw,
)
from tests.scenarios.authority.test_done_once import stage as stage
from tests.support.operated_instances import version
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


TELL = {"id": "told", "type": "webhook_out", "config": {"endpoint": "erp", "payload": {"told": "x"}}}
# Its id, and what it does under the newer definition.
RETOLD = {**PAY, "id": "told"}
BIG = {**PAY, "id": "big"}
BIG_ONLY: Mapping[str, Any] = {
    "nodes": [{"id": "much", "type": "condition"}, BIG],
    "edges": [
        {"source": "much", "target": "big", "condition": "entity.amount > 100"},
        {"source": "much", "target": "out"},
        {"source": "big", "target": "out"},
    ],
    "exit": "join",
}


@pytest.mark.parametrize("is_kept", [False, True], ids=["moved", "twice"])
@pytest.mark.parametrize(
    ("older", "newer", "node"),
    [
        (linear(TELL), linear(RETOLD), "told"),
        # The condition had led past it, so that nothing was paid there.
        (BIG_ONLY, linear(BIG), "big"),
    ],
    ids=["another task", "another way"],
)
def test_an_id_that_does_something_else_now_does_not_pay_again(
    stage: WorkflowStage, older: Mapping[str, Any], newer: Mapping[str, Any], node: str, is_kept: bool
) -> None:
    """It does not matter whether the node that has paid is drawn still."""
    name = stage.publish(PAID, **ASKED, posting=linear(PAY), paying=older)
    document = approved(stage, name)
    pay(stage, document)
    kept = {"posting": linear(PAY)} if is_kept else {}
    stage.publish_next(name, 1, **ASKED, **kept, paying=newer)
    ask(stage, document, "pay")
    assert list_paid(stage, document) == ["completed"]
    assert held_by(stage, document) == [("DONE_BEFORE", f"usr:paying:{node}")]


def test_an_id_that_was_a_call_and_makes_documents_now_makes_none(stage: WorkflowStage) -> None:
    made_type = stage.publish()
    action = {"kind": "create", "entity_type": made_type, "set": {"number": "x"}}
    contract = {**PAID, "actions": {**PAID["actions"], "make": action}}
    make = {"id": "told", "type": "action", "config": {"action": "make", "run_as": "system"}}
    name = stage.publish(contract, **ASKED, posting=linear(PAY), paying=linear(TELL))
    document = approved(stage, name)
    pay(stage, document)
    stage.publish_next(name, 1, **ASKED, paying=linear(make))
    ask(stage, document, "pay")
    assert stage.standing.rows("SELECT id FROM documents WHERE entity_type = %s", made_type) == []
    assert held_by(stage, document) == [("DONE_BEFORE", "usr:paying:told")]


def test_what_an_instance_did_before_its_move_is_not_done_by_another_name(stage: WorkflowStage) -> None:
    """The call is known by the definition that it was made under, and not by the one of today."""
    document = booked(stage)
    (name,) = stage.standing.row("SELECT entity_type FROM documents WHERE id = %s", document.id)
    slots = {"approval": linear(LOOK), "reversal": linear(LOOK)}
    newer = MoveTarget(stage.publish_next(name, 1, **slots, booking=linear(PAY, TRANSFER, SETTLE)))
    moves = InstanceMoves(stage.standing.company.database, stage.caches(), CompiledCache())
    moved = moves.move(operator(stage), document.instance_id, version(stage, document), newer, "newer")
    assert moved.outcome == "moved"
    ask_reverse(stage, document)
    withdraw(stage, document)
    assert list_paid(stage, document) == ["completed"]
    assert held_by(stage, document) == [("DONE_BEFORE", "usr:booking:transfer")]


STAMP = {"id": "stamp", "type": "action", "config": {"action": "post", "run_as": "system"}}


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ({}, {}),
        ({"posting": linear(STAMP)}, {}),
        ({"posting": linear(SETTLE), "paying": linear(PAY)}, {}),
        ({"posting": linear(SETTLE), "paying": linear(TELL)}, {"posting": linear(SETTLE)}),
    ],
    ids=["nothing done", "nothing lasts", "known", "kept"],
)
def test_a_call_that_is_not_by_another_name_is_made(
    stage: WorkflowStage, older: Mapping[str, Any], newer: Mapping[str, Any]
) -> None:
    """The lawful way: nothing lasts, or the older one had this node too, or the other is kept."""
    name = stage.publish(PAID, **ASKED, **older)
    document = approved(stage, name)
    pay(stage, document)
    stage.publish_next(name, 1, **ASKED, **newer, paying=linear(PAY))
    ask(stage, document, "pay")
    assert (list_paid(stage, document), held_by(stage, document)) == (["completed"], [])


def test_what_both_definitions_draw_alike_says_the_same_twice(stage: WorkflowStage) -> None:
    """The lawful way: its author means both."""
    slots = {"posting": linear(PAY), "paying": linear(BIG)}
    name = stage.publish(PAID, **ASKED, **slots)
    document = approved(stage, name)
    pay(stage, document)
    stage.publish_next(name, 1, **ASKED, **slots, reopening=linear(LOOK))
    ask(stage, document, "pay")
    assert (list_paid(stage, document), held_by(stage, document)) == (["completed", "completed"], [])
