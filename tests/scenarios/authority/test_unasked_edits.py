"""A person types over the values that a step gave of an approved document: it goes nowhere unasked."""

from collections.abc import Iterator

import pytest

from tests.scenarios.authority.acts import edit, vote
from tests.scenarios.authority.payments import (
    FRAUD,
    GIVEN,
    GOOD,
    HELD,
    LOOK,
    MAKE,
    MARK,
    ON_THE_WAY,
    OPEN,
    PAY,
    PAY_OUT,
    STATES,
    TYPED,
    answer,
    ask,
    by_hand,
    calls,
    conditional,
    count_made_of,
    end_workflow,
    incidents,
    newest_of,
    pay_order,
    publish_payments,
    restart,
    skip,
    standing_payments,
    withdraw,
)
from tests.support.workflow_stage import CONTRACT, WorkflowStage


@pytest.fixture(scope="module")
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_payments(server_url) as made:
        yield made


@pytest.mark.parametrize("required", [False, True])
@pytest.mark.parametrize("slot", ON_THE_WAY)
def test_a_payment_that_a_person_has_changed_is_not_paid(
    stage: WorkflowStage, slot: str, required: bool
) -> None:
    """Carl types over what was approved with the order; then Carl puts it back, and it is paid."""
    made = pay_order(stage, publish_payments(stage, **{slot: [PAY]}), required=required)
    edit(stage, made, "carl", **TYPED)
    ask(stage, made, "prep")
    assert (calls(stage, made), incidents(stage, made)) == ([], HELD)
    assert stage.status_of(made.id) == "new"
    withdraw(stage, made)
    edit(stage, made, "carl", number="DE-OK", amount=100)
    ask(stage, made, "prep")
    answer(stage, made)
    assert (calls(stage, made), incidents(stage, made)) == ([GOOD], [])
    assert stage.status_of(made.id) == "sent"
    stage.check_rebuild(made.instance_id)


def test_an_operator_ends_its_workflow_and_people_edit_it(stage: WorkflowStage) -> None:
    """The remedy by an operator: olga cancels what is held, and carl puts back what it said."""
    made = pay_order(stage, publish_payments(stage, before_go=[PAY]))
    edit(stage, made, "carl", **TYPED)
    ask(stage, made, "prep")
    assert incidents(stage, made) == HELD
    end_workflow(stage, made)
    edit(stage, made, "carl", number="DE-OK", amount=100)
    ask(stage, made, "prep")
    assert (calls(stage, made), incidents(stage, made)) == ([GOOD], [])


def test_what_an_automatic_gate_holds_begins_again_as_it_was_made(stage: WorkflowStage) -> None:
    """The gate behind `mid` is automatic: nobody has asked for it, and nobody edits there."""
    made = pay_order(stage, publish_payments(stage, mid=OPEN, behind_go=[PAY]))
    edit(stage, made, "carl", **TYPED)
    ask(stage, made, "prep")
    assert (stage.status_of(made.id), incidents(stage, made)) == ("mid", HELD)
    end_workflow(stage, made, "leave")
    edit(stage, made, "carl", number="DE-OK", amount=100)
    restart(stage, made)
    assert (calls(stage, made), incidents(stage, made)) == ([GOOD], [])


def test_a_changed_payment_is_withdrawn_for_good(stage: WorkflowStage) -> None:
    """The remedy of who wants it no more. A call behind that is held, and an operator skips it."""
    made = pay_order(stage, publish_payments(stage, behind_drop=[PAY]))
    edit(stage, made, "carl", **TYPED)
    ask(stage, made, "drop")
    assert (stage.status_of(made.id), calls(stage, made), incidents(stage, made)) == ("void", [], HELD)
    skip(stage, made)
    assert (calls(stage, made), incidents(stage, made)) == ([], [])


def test_a_payment_that_nobody_has_changed_is_withdrawn_with_its_call(stage: WorkflowStage) -> None:
    made = pay_order(stage, publish_payments(stage, behind_drop=[PAY]))
    ask(stage, made, "drop")
    assert (calls(stage, made), incidents(stage, made)) == ([GOOD], [])


def test_a_changed_payment_makes_no_payout(stage: WorkflowStage) -> None:
    """A step makes none, and no person does. They make one of what is as it was made."""
    drawn = pay_order(stage, publish_payments(stage, before_prep=[PAY_OUT]))
    edit(stage, drawn, "carl", **TYPED)
    ask(stage, drawn, "prep")
    assert incidents(stage, drawn) == HELD
    free = pay_order(stage, publish_payments(stage))
    edit(stage, free, "carl", **TYPED)
    assert by_hand(stage, free) == HELD[0]
    edit(stage, free, "carl", number="DE-OK", amount=100)
    assert by_hand(stage, free) == "made"
    assert (count_made_of(stage, drawn), count_made_of(stage, free)) == (0, 1)


def test_a_list_of_payouts_is_held_as_a_whole(stage: WorkflowStage) -> None:
    each = {**PAY_OUT, "config": {"action": "pay_out", "run_as": "system", "for_each": "[1, 2]"}}
    made = pay_order(stage, publish_payments(stage, before_prep=[each]))
    edit(stage, made, "carl", **TYPED)
    ask(stage, made, "prep")
    assert (count_made_of(stage, made), incidents(stage, made)) == (0, HELD)


def test_a_changed_payment_does_not_settle_without_a_call(stage: WorkflowStage) -> None:
    """Others read what is in force, so that it is held although it calls nobody."""
    made = pay_order(stage, publish_payments(stage))
    edit(stage, made, "carl", **TYPED)
    ask(stage, made, "prep")
    assert (stage.status_of(made.id), incidents(stage, made)) == ("new", HELD)


@pytest.mark.parametrize("slot", ["behind_prep", "before_go"])
def test_a_changed_payment_moves_on_to_where_people_may_edit_it(stage: WorkflowStage, slot: str) -> None:
    """It is held at the last gate before nobody may put the value back, and at each call before."""
    made = pay_order(stage, publish_payments(stage, mid=OPEN, **{slot: [PAY]}))
    edit(stage, made, "carl", **TYPED)
    ask(stage, made, "prep")
    assert (stage.status_of(made.id), calls(stage, made), incidents(stage, made)) == ("mid", [], HELD)
    edit(stage, made, "carl", number="DE-OK", amount=100)
    stage.drain()
    assert (calls(stage, made), incidents(stage, made)) == ([GOOD], [])


def test_a_payment_whose_own_way_asks_is_paid_as_it_was_approved_there(stage: WorkflowStage) -> None:
    """The lawful way: app2 sees what carl has typed. That is what is paid."""
    made = pay_order(stage, publish_payments(stage, before_go=[LOOK, PAY]))
    edit(stage, made, "carl", **TYPED)
    ask(stage, made, "prep")
    assert (calls(stage, made), incidents(stage, made)) == ([], [])
    assert vote(stage, made.id, "app2") == "approved"
    assert (calls(stage, made), incidents(stage, made)) == ([FRAUD], [])
    answer(stage, made)
    assert stage.status_of(made.id) == "sent"


def test_a_call_before_the_approval_that_is_certain_is_made(stage: WorkflowStage) -> None:
    """The lawful way: the rating is asked for first, in a slot before that of the approval."""
    rate, told = {**PAY, "id": "rate"}, {**PAY, "id": "told"}
    slots = {"before_prep": [rate], "before_go": [LOOK], "behind_go": [PAY, told]}
    made = pay_order(stage, publish_payments(stage, **slots))
    edit(stage, made, "carl", **TYPED)
    ask(stage, made, "prep")
    assert (calls(stage, made), incidents(stage, made)) == ([FRAUD], [])
    answer(stage, made)
    assert vote(stage, made.id, "app2") == "approved"
    answer(stage, made)
    assert (calls(stage, made), incidents(stage, made)) == ([FRAUD] * 3, [])


def test_a_call_before_an_approval_that_may_be_left_out_is_held(stage: WorkflowStage) -> None:
    made = pay_order(stage, publish_payments(stage, before_prep=[PAY], before_go=conditional(LOOK)))
    edit(stage, made, "carl", **TYPED)
    ask(stage, made, "prep")
    assert (calls(stage, made), incidents(stage, made)) == ([], HELD)


@pytest.mark.parametrize("amount", [999, 5_000])
def test_an_approval_for_large_amounts_lets_those_pass_alone(stage: WorkflowStage, amount: int) -> None:
    made = pay_order(stage, publish_payments(stage, before_go=conditional(LOOK), behind_go=[PAY]))
    edit(stage, made, "carl", number="DE-FRAUD", amount=amount)
    ask(stage, made, "prep")
    if amount < 1_000:
        assert (calls(stage, made), incidents(stage, made)) == ([], HELD)
        return
    assert vote(stage, made.id, "app2") == "approved"
    assert (calls(stage, made), incidents(stage, made)) == ([{"iban": "DE-FRAUD", "amount": amount}], [])


def test_a_call_behind_an_approval_that_was_given_is_made(stage: WorkflowStage) -> None:
    """The lawful way: the approval waits for its gate, and others come to that gate without one."""
    made = pay_order(stage, publish_payments(stage, before_go=conditional(LOOK, PAY)))
    edit(stage, made, "carl", amount=5_000)
    ask(stage, made, "prep")
    assert vote(stage, made.id, "app2") == "approved"
    assert (calls(stage, made), incidents(stage, made)) == ([{**GOOD, "amount": 5_000}], [])
    answer(stage, made)
    assert stage.status_of(made.id) == "sent"


def test_a_transition_that_decides_asks_who_wants_it(stage: WorkflowStage) -> None:
    """The lawful way: app2 may decide, and asks for what carl has typed."""
    made = pay_order(stage, publish_payments(stage, deciding=["prep"], behind_prep=[PAY]))
    edit(stage, made, "carl", **TYPED)
    ask(stage, made, "prep", "app2")
    assert (calls(stage, made), incidents(stage, made)) == ([FRAUD], [])


def test_what_is_typed_behind_the_own_approval_is_held_again(stage: WorkflowStage) -> None:
    """App2 approves the way to `mid`, where carl may edit; there Carl types another account."""
    payment = publish_payments(stage, mid=OPEN, before_prep=[LOOK], before_go=[PAY_OUT, PAY])
    made = pay_order(stage, payment)
    edit(stage, made, "carl", amount=7)
    ask(stage, made, "prep")
    edit(stage, made, "carl", amount=8)
    ask(stage, made, "prep")
    assert vote(stage, made.id, "app2") == "approved"
    answer_paid = calls(stage, made)
    assert answer_paid == [{"iban": "DE-OK", "amount": 8}]
    edit(stage, made, "carl", number="DE-FRAUD")
    stage.drain()
    assert (calls(stage, made), incidents(stage, made)) == (answer_paid, HELD)


def test_the_contract_accepts_an_edit_by_name(stage: WorkflowStage) -> None:
    """The lawful way: two people have said that clerks may correct such payments."""
    new = {**STATES["new"], "after_approval": "editable"}
    made = pay_order(stage, publish_payments(stage, new=new, before_go=[PAY]))
    edit(stage, made, "carl", **TYPED)
    ask(stage, made, "prep")
    assert (calls(stage, made), incidents(stage, made)) == ([FRAUD], [])


def test_a_value_that_its_own_step_writes_is_as_it_was_published(stage: WorkflowStage) -> None:
    """The lawful way: the workflow of the payment changes what the order gave, and no person does."""
    rate, marked = {**PAY, "id": "rate"}, {**GOOD, "iban": "DE-OK!"}
    made = pay_order(stage, publish_payments(stage, before_prep=[MARK], before_go=[rate, PAY]))
    edit(stage, made, "carl", contact="a note")
    ask(stage, made, "prep")
    answer(stage, made)
    assert (calls(stage, made), incidents(stage, made)) == ([marked, marked], [])


def test_a_step_does_not_hide_what_a_person_has_typed(stage: WorkflowStage) -> None:
    made = pay_order(stage, publish_payments(stage, before_prep=[MARK], before_go=[PAY]))
    edit(stage, made, "carl", number="DE-FRAUD")
    ask(stage, made, "prep")
    assert (calls(stage, made), incidents(stage, made)) == ([], HELD)


def test_a_personal_value_is_put_back(stage: WorkflowStage) -> None:
    """Each time it is typed it gets another reference; the value itself is compared."""
    made = pay_order(stage, publish_payments(stage, before_go=[PAY]), {**GIVEN, "contact": "ann"})
    edit(stage, made, "carl", contact="bob")
    ask(stage, made, "prep")
    assert incidents(stage, made) == HELD
    withdraw(stage, made)
    edit(stage, made, "carl", contact="ann")
    ask(stage, made, "prep")
    assert (calls(stage, made), incidents(stage, made)) == ([GOOD], [])


def test_a_document_that_a_person_has_made_is_theirs(stage: WorkflowStage) -> None:
    """It was approved by nobody: its own way says who is asked."""
    payment = publish_payments(stage, before_go=[PAY])
    made = stage.create(payment, "carl", number="DE-OK", amount=100)
    edit(stage, made, "carl", **TYPED)
    ask(stage, made, "prep")
    assert (calls(stage, made), incidents(stage, made)) == ([FRAUD], [])


def test_it_holds_over_further_documents(stage: WorkflowStage) -> None:
    """The order makes a note, whose own step makes the payment. Nobody is asked between them."""
    payment = publish_payments(stage, before_go=[PAY])
    make = {"kind": "create", "entity_type": payment, "set": GIVEN}
    note = pay_order(stage, stage.publish({**CONTRACT, "actions": {"make": make}}, posting={"nodes": [MAKE]}))
    ask(stage, note, "submit")
    made = newest_of(stage, payment)
    edit(stage, made, "carl", **TYPED)
    ask(stage, made, "prep")
    assert (calls(stage, made), incidents(stage, made)) == ([], HELD)


def test_a_clerk_fills_what_the_step_has_left_empty(stage: WorkflowStage) -> None:
    """The lawful way: the action gives an amount alone, and carl is to find the account."""
    made = pay_order(stage, publish_payments(stage, before_go=[PAY]), {"amount": 100})
    edit(stage, made, "carl", number="DE-FOUND")
    edit(stage, made, "carl", number="DE-OK")
    ask(stage, made, "prep")
    assert (calls(stage, made), incidents(stage, made)) == ([GOOD], [])
