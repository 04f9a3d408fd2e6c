"""One approval is one payment: neither a loop that asks nobody nor another request makes it again."""

from collections.abc import Mapping
from typing import Any

import pytest

from signet.engine.cache import CompiledCache
from signet.engine.instances.actions import Instances
from signet.engine.instances.document_restarts import Restarts
from signet.engine.instances.repairs import Repairs
from tests.scenarios.authority.acts import edit, list_asked, submit, vote
from tests.scenarios.authority.test_done_once import (
    ANSWER,
    APPROVED,
    BOOKED,
    CONFIRM,
    LOOK,
    PAY,
    SETTLE,
    ask_reverse,
    booked,
    erase,
    held_by,
    linear,
    list_paid,
    operator,
    where,
    withdraw,
)
from tests.scenarios.authority.test_done_once import stage as stage
from tests.scenarios.authority.test_restarts_behind_gates import cancel, restart
from tests.support.operated_instances import version
from tests.support.workflow_stage import Made, WorkflowStage

HELD = ("DONE_BEFORE", "usr:booking:pay")
# The payment is asked for, and waits for a second approval behind the call.
ASKED: Mapping[str, Any] = {
    **BOOKED,
    "transitions": {
        "submit": {"from": ["draft"], "to": "approved", "kind": "requested"},
        "settle": {"from": ["approved"], "to": "active", "kind": "requested"},
    },
    "slots": {"approval": {"transition": "submit"}, "booking": {"transition": "settle"}},
}
LOOP: Mapping[str, Any] = {
    **BOOKED,
    "states": {**BOOKED["states"], "on_hold": {"edit": "locked"}},
    "transitions": {
        "submit": {"from": ["draft"], "to": "approved", "kind": "requested"},
        "book": {"from": ["approved"], "to": "active", "kind": "automatic", "rejected_to": "draft"},
        "hold": {"from": ["approved"], "to": "on_hold", "kind": "interrupting"},
        "release": {"from": ["on_hold"], "to": "approved", "kind": "requested"},
    },
    "slots": {
        "approval": {"transition": "submit"},
        "booking": {"transition": "book"},
        "releasing": {"transition": "release"},
    },
}


def ask(stage: WorkflowStage, document: Made, *transitions: str, user_id: str = "carl") -> None:
    for transition in transitions:
        stage.ask(document.id, transition, user_id)
        stage.drain()


def answer(stage: WorkflowStage, document: Made, **outcome: Any) -> None:
    stage.answer(document.instance_id, **outcome)
    stage.drain()


def made(stage: WorkflowStage, contract: Mapping[str, Any], **slots: Any) -> Made:
    """Let a document be approved; its call is not answered yet."""
    slots = {"approval": linear(LOOK), "booking": linear(PAY, SETTLE), **slots}
    document = stage.create(stage.publish(contract, **slots), "carl", number="P1", contact="Bob")
    submit(stage, document, "carl")
    assert vote(stage, document.id, "bea") == APPROVED
    return document


def test_holding_and_releasing_makes_no_call_again(stage: WorkflowStage) -> None:
    document = made(stage, LOOP)
    answer(stage, document, body={"paid": True})
    for _ in range(2):
        ask(stage, document, "hold", "release")
        assert where(stage, document) == ["usr:booking:settle"]
    assert list_paid(stage, document) == ["completed"]


def foreseen(stage: WorkflowStage, document: Made) -> list[tuple[str, str]]:
    """Cancel the workflow, and report what a restart would be held at."""
    operators = Instances(stage.standing.company.database, stage.caches(), CompiledCache())
    operators.cancel(operator(stage), document.instance_id, version(stage, document), "x")
    stage.drain()
    restarts = Restarts(stage.standing.company.database, stage.caches(), CompiledCache())
    return [(held.code, held.node) for held in restarts.report(operator(stage), document.id).held_ahead]


def test_a_dry_run_of_a_restart_foresees_what_is_not_done_again(stage: WorkflowStage) -> None:
    document = made(stage, LOOP)
    answer(stage, document, body={"paid": True})
    ask(stage, document, "hold")
    assert foreseen(stage, document) == [HELD]


def test_a_dry_run_foresees_nothing_behind_another_decision(stage: WorkflowStage) -> None:
    document = made(stage, LOOP, releasing=linear(LOOK))
    answer(stage, document, body={"paid": True})
    ask(stage, document, "hold")
    assert foreseen(stage, document) == []


def test_what_may_have_left_is_not_sent_by_a_loop(stage: WorkflowStage) -> None:
    document = made(stage, LOOP)
    stage.standing.run(
        "UPDATE workflow_side_effects_outbox SET attempts = 1, left_at = now() WHERE instance_id = %s",
        document.instance_id,
    )
    ask(stage, document, "hold", "release")
    assert list_paid(stage, document) == ["withdrawn"] and held_by(stage, document) == [HELD]


def test_a_loop_with_an_approval_calls_again(stage: WorkflowStage) -> None:
    """The lawful way: people decide again about what is done then."""
    document = made(stage, LOOP, releasing=linear(LOOK))
    answer(stage, document, body={"paid": True})
    ask(stage, document, "hold", "release")
    assert vote(stage, document.id, "ben") == APPROVED
    assert list_paid(stage, document) == ["completed", "pending"]


def test_a_loop_that_decides_calls_again(stage: WorkflowStage) -> None:
    """The lawful way: a person who may decide has asked for it."""
    document = made(stage, {**LOOP, "separation_of_duties": {"deciding": ["release"]}})
    answer(stage, document, body={"paid": True})
    ask(stage, document, "hold")
    ask(stage, document, "release", user_id="otto")
    assert list_paid(stage, document) == ["completed", "pending"]


def test_a_way_that_was_gone_to_its_end_is_held(stage: WorkflowStage) -> None:
    """A loop that its author has drawn is not left out in silence: a person is told."""
    states = {**BOOKED["states"], "active": {"edit": "locked"}, "done": {"edit": "locked", "settled": True}}
    transitions = {
        **ASKED["transitions"],
        "again": {"from": ["active"], "to": "approved", "kind": "requested"},
        "close": {"from": ["active"], "to": "done", "kind": "requested"},
    }
    document = made(stage, {**ASKED, "states": states, "transitions": transitions}, booking=linear(PAY))
    ask(stage, document, "settle")
    answer(stage, document, body={"paid": True})
    assert stage.status_of(document.id) == "active"
    ask(stage, document, "again", "settle")
    assert list_paid(stage, document) == ["completed"] and held_by(stage, document) == [HELD]


def paid(stage: WorkflowStage) -> Made:
    document = made(stage, ASKED, booking=linear(PAY, CONFIRM))
    ask(stage, document, "settle")
    answer(stage, document, body={"paid": True})
    assert list_asked(stage, document) == ["@voter"]
    return document


def test_who_withdraws_and_asks_again_makes_no_call_again(stage: WorkflowStage) -> None:
    document = paid(stage)
    withdraw(stage, document)
    ask(stage, document, "settle")
    assert list_asked(stage, document) == ["@voter"] and list_paid(stage, document) == ["completed"]


def test_who_asks_again_after_a_rejection_makes_no_call_again(stage: WorkflowStage) -> None:
    document = paid(stage)
    assert vote(stage, document.id, "ben", "rejected") == "rejected"
    ask(stage, document, "settle")
    assert list_asked(stage, document) == ["ben"] and list_paid(stage, document) == ["completed"]


@pytest.mark.parametrize("person", [None, "carl", "max"])
def test_who_asks_twice_makes_no_call_again(stage: WorkflowStage, person: str | None) -> None:
    """The slot begins again by itself where a personal value is erased."""
    document = paid(stage)
    if person is not None:
        ask(stage, document, "settle", user_id=person)
    erase(stage, document, document)
    assert list_asked(stage, document) == ["@voter"] and list_paid(stage, document) == ["completed"]


@pytest.mark.parametrize(("amount", "held"), [(900, [HELD]), (None, [])])
def test_an_answer_by_hand_counts_for_the_same_alone(
    stage: WorkflowStage, amount: int | None, held: list[tuple[str, str]]
) -> None:
    states = {**BOOKED["states"], "approved": {"edit": "editable"}}
    document = made(stage, {**BOOKED, "states": states})
    answer(stage, document, error="down")
    repairs = Repairs(stage.standing.company.database, stage.caches(), CompiledCache())
    seen = version(stage, document)
    repairs.skip(operator(stage), document.instance_id, seen, "usr:booking:pay", "paid by hand", ANSWER)
    stage.drain()
    edit(stage, document, "carl", **({"contact": "Eve"} if amount is None else {"amount": amount}))
    stage.drain()
    assert held_by(stage, document) == held and list_paid(stage, document) == ["withdrawn"]


def test_a_call_that_has_failed_goes_on_under_its_first_id(stage: WorkflowStage) -> None:
    document = made(stage, BOOKED, reversal=linear(LOOK))
    stage.standing.run(
        "UPDATE workflow_side_effects_outbox SET attempts = 1, left_at = now(), error = 'HTTP 500'"
        " WHERE instance_id = %s",
        document.instance_id,
    )
    for _ in range(2):
        ask_reverse(stage, document)
        withdraw(stage, document)
    calls = stage.standing.rows(
        "SELECT id, first_id, status FROM workflow_side_effects_outbox WHERE instance_id = %s ORDER BY id",
        document.instance_id,
    )
    first = calls[0][0]
    assert [(known, status) for _, known, status in calls] == [
        (None, "withdrawn"),
        (first, "withdrawn"),
        (first, "pending"),
    ]
    assert held_by(stage, document) == []


def test_the_edge_for_errors_is_taken_again(stage: WorkflowStage) -> None:
    booking = {
        "exit": "join",
        "nodes": [PAY, CONFIRM, SETTLE],
        "edges": [
            {"source": "pay", "target": "settle"},
            {"source": "pay", "target": "confirm", "on": "error"},
            {"source": "confirm", "target": "out"},
            {"source": "settle", "target": "out"},
        ],
    }
    document = made(stage, BOOKED, booking=booking, reversal=linear(LOOK))
    answer(stage, document, error="refused by the bank")
    assert where(stage, document) == ["usr:booking:confirm"]
    ask_reverse(stage, document)
    withdraw(stage, document)
    assert where(stage, document) == ["usr:booking:confirm"] and list_asked(stage, document) == ["@voter"]
    assert len(list_paid(stage, document)) == 1 and held_by(stage, document) == []


def test_what_nobody_approved_is_done_at_each_round(stage: WorkflowStage) -> None:
    """The control: the definition asks nobody, and the loop is as its author drew it."""
    slots = {"booking": linear(PAY, SETTLE)}
    document = stage.create(stage.publish(LOOP, **slots), "carl", number="P1")
    submit(stage, document, "carl")
    answer(stage, document, body={"paid": True})
    ask(stage, document, "hold", "release")
    assert list_paid(stage, document) == ["completed", "pending"]


def test_a_document_that_came_back_is_paid_by_its_next_approval(stage: WorkflowStage) -> None:
    document = booked(stage, contract=BOOKED)
    ask_reverse(stage, document)
    assert vote(stage, document.id, "ben") == APPROVED
    assert stage.status_of(document.id) == "draft"
    submit(stage, document, "carl")
    assert vote(stage, document.id, "bea") == APPROVED
    assert list_paid(stage, document) == ["completed", "pending"]


def test_a_loop_does_not_have_a_restart_call_again(stage: WorkflowStage) -> None:
    """The loop has passed two gates since the call. They asked nobody: what was done before them counts."""
    document = made(stage, LOOP)
    stage.standing.run(
        "UPDATE workflow_side_effects_outbox SET attempts = 1, left_at = now() WHERE instance_id = %s",
        document.instance_id,
    )
    ask(stage, document, "hold", "release")
    assert held_by(stage, document) == [HELD]
    assert cancel(stage, document, then="restart") == "INSTANCE_TARGET_REPEATS"


def test_a_restart_where_people_decided_again_names_nothing(stage: WorkflowStage) -> None:
    """The lawful way beside it: the second approval is for another payment."""
    document = made(stage, LOOP, releasing=linear(LOOK))
    answer(stage, document, body={"paid": True})
    ask(stage, document, "hold", "release")
    assert vote(stage, document.id, "ben") == APPROVED
    assert cancel(stage, document, then="leave") == "done"
    assert restart(stage, document).repeats == []
