"""Actions that make documents, run by hand behind an approval: what was approved is done once."""

from collections.abc import Iterator, Mapping
from typing import Any
from uuid import UUID

import pytest

from signet.authoring.actions import ActionInput, ActionResult, NewDocument
from signet.core.errors import Rejected
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member
from signet.engine.documents.commands import RunAction
from signet.store.tenants.tenants import save_members
from tests.scenarios.authority.acts import add_endpoint, submit, vote
from tests.support.core.approval_policies import role
from tests.support.workflow_stage import CALL, CONTRACT, Made, WorkflowStage, standing_stage

LOOK = {"id": "look", "type": "approval", "config": {"approvers": [role("voter")]}}
PAY = {"id": "pay", "type": "action", "config": {"action": "pay", "run_as": "system"}}
APPROVED, DONE, ONE_MORE = "approved", "DONE_BEFORE", "one more"


@pytest.fixture(scope="module")
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        members = [
            Member(user_id=name, display_name=name, roles=("voter", "admin")) for name in ("app1", "carl")
        ]
        with made.standing.company.database.transaction(made.tenant_id) as connection:
            save_members(connection, made.tenant_id, tuple(members), COMMAND_LINE)
        add_endpoint(made)
        yield made


def orders(stage: WorkflowStage, payment: str = "", **slots: Any) -> tuple[str, str]:
    """Publish payments, and orders whose action makes them: `pay_often` as often as people like."""
    made = payment or stage.publish()
    pay = {"kind": "create", "entity_type": made, "set": {"amount": {"$expr": "entity.amount"}}}
    contract = {
        **CONTRACT,
        "transitions": {
            **CONTRACT["transitions"],
            "reopen": {"from": ["active"], "to": "draft", "kind": "requested"},
        },
        "actions": {
            **CONTRACT["actions"],
            "pay": pay,
            "pay_too": pay,
            "pay_half": {**pay, "set": {"amount": {"$expr": "entity.amount"}, "number": "half"}},
            "pay_often": {**pay, "repeats": "allowed"},
            "compute": {"kind": "python"},
        },
    }
    return made, stage.publish(contract, approval={"nodes": [LOOK]}, **slots)


def approved_order(stage: WorkflowStage, entity_type: str) -> Made:
    made = stage.create(entity_type, "carl", amount=5)
    submit(stage, made, "carl")
    assert vote(stage, made.id, "app1") == APPROVED
    return made


def by_hand(stage: WorkflowStage, document_id: UUID, action: str = "pay") -> str:
    try:
        stage.mutate(RunAction(document_id, stage.version_of(document_id), action, {}), "carl")
    except Rejected as refused:
        return refused.code
    stage.drain()
    return ONE_MORE


def count_payments(stage: WorkflowStage, payment: str) -> int:
    query = "SELECT count(*) FROM documents WHERE entity_type = %s"
    return int(stage.standing.row(query, payment)[0])


def test_a_payment_that_a_step_has_made_is_not_made_again_by_hand(stage: WorkflowStage) -> None:
    payment, order = orders(stage, posting={"nodes": [PAY]})
    made = approved_order(stage, order)
    assert [by_hand(stage, made.id), by_hand(stage, made.id)] == [DONE, DONE]
    assert count_payments(stage, payment) == 1


def test_a_payment_that_a_step_is_to_make_is_not_made_by_hand_before(stage: WorkflowStage) -> None:
    """The step waits behind a call. It makes the one payment afterwards."""
    edges = [{"source": "call", "target": "pay"}]
    payment, order = orders(stage, posting={"nodes": [CALL, PAY], "edges": edges})
    made = approved_order(stage, order)
    assert by_hand(stage, made.id) == DONE
    stage.answer(stage.instance_of(made.id))
    stage.drain()
    assert count_payments(stage, payment) == 1


def test_what_no_step_does_is_done_once_for_each_decision(stage: WorkflowStage) -> None:
    """The lawful way beside it: where people have decided again, it may be done again."""
    payment, order = orders(stage)
    made = approved_order(stage, order)
    assert [by_hand(stage, made.id), by_hand(stage, made.id)] == [ONE_MORE, DONE]
    stage.ask(made.id, "reopen", "carl")
    stage.drain()
    submit(stage, made, "carl")
    assert vote(stage, made.id, "app1") == APPROVED
    assert [by_hand(stage, made.id), by_hand(stage, made.id)] == [ONE_MORE, DONE]
    assert count_payments(stage, payment) == 2


@pytest.mark.parametrize("is_drawn", [False, True])
def test_two_actions_that_make_the_same_payment_make_one(stage: WorkflowStage, is_drawn: bool) -> None:
    """It does not matter whether a step has made it, or a person."""
    slots: dict[str, Any] = {"posting": {"nodes": [PAY]}} if is_drawn else {}
    payment, order = orders(stage, **slots)
    made = approved_order(stage, order)
    assert by_hand(stage, made.id) == (DONE if is_drawn else ONE_MORE)
    assert by_hand(stage, made.id, "pay_too") == DONE
    assert count_payments(stage, payment) == 1


def test_two_actions_that_make_different_payments_make_one_each(stage: WorkflowStage) -> None:
    """The lawful way beside it: a publication names them."""
    payment, order = orders(stage)
    made = approved_order(stage, order)
    assert [by_hand(stage, made.id, name) for name in ("pay", "pay_half", "pay_half")] == [
        ONE_MORE,
        ONE_MORE,
        DONE,
    ]
    assert count_payments(stage, payment) == 2


def test_what_the_contract_lets_people_repeat_they_repeat(stage: WorkflowStage) -> None:
    payment, order = orders(stage)
    made = approved_order(stage, order)
    assert [by_hand(stage, made.id, "pay_often") for _ in range(3)] == [ONE_MORE] * 3
    assert count_payments(stage, payment) == 3


def test_a_document_about_which_nobody_has_decided_is_used_as_people_like(stage: WorkflowStage) -> None:
    payment, order = orders(stage)
    made = stage.create(order, "carl")
    stage.drain()
    assert [by_hand(stage, made.id), by_hand(stage, made.id)] == [ONE_MORE, ONE_MORE]
    assert count_payments(stage, payment) == 2


def test_a_document_that_was_made_of_an_approved_one_makes_a_payment_once(stage: WorkflowStage) -> None:
    """The order was approved with all that its payment order does."""
    payment = stage.publish()
    pay: Mapping[str, Any] = {
        "kind": "create",
        "entity_type": payment,
        "set": {"amount": {"$expr": "entity.amount"}},
    }
    order_to_pay = stage.publish({**CONTRACT, "actions": {"pay": pay}})
    _, order = orders(stage, order_to_pay, posting={"nodes": [PAY]})
    approved_order(stage, order)
    (made,) = stage.standing.row("SELECT id FROM documents WHERE entity_type = %s", order_to_pay)
    assert [by_hand(stage, made), by_hand(stage, made)] == [ONE_MORE, DONE]
    assert count_payments(stage, payment) == 1


def test_a_function_that_makes_documents_is_run_by_hand_once(stage: WorkflowStage) -> None:
    payment, order = orders(stage)

    def compute(given: ActionInput) -> ActionResult:
        return ActionResult(creates=[NewDocument(payment, {"amount": 5})])

    stage.registry.action(order, "compute")(compute)
    made = approved_order(stage, order)
    assert [by_hand(stage, made.id, "compute"), by_hand(stage, made.id, "compute")] == [ONE_MORE, DONE]
    assert count_payments(stage, payment) == 1
