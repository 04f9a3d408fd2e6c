"""An amendment of what a step made of an approved document: nothing is done with it unasked."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from tests.scenarios.authority.acts import vote
from tests.scenarios.authority.payments import (
    AMENDMENT_HELD,
    FRAUD,
    GOOD,
    LOOK,
    OPEN,
    PAY,
    PAY_OUT,
    TYPED,
    amend,
    answer,
    ask,
    calls,
    conditional,
    count_made_of,
    incidents,
    publish_next,
    publish_payments,
    settled,
    skip,
    standing_payments,
)
from tests.support.workflow_stage import WorkflowStage


@pytest.fixture(scope="module")
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_payments(server_url) as made:
        yield made


@pytest.mark.parametrize("node", [PAY, PAY_OUT], ids=["call", "action"])
@pytest.mark.parametrize("slot", ["amended", "behind_prep", "before_go"])
def test_an_amendment_neither_calls_nor_makes_a_payout_on_its_way(
    stage: WorkflowStage, slot: str, node: Mapping[str, Any]
) -> None:
    """Carl amends what was sent, again and again. Each is held before anything leaves."""
    made, payment = settled(stage, mid=OPEN)
    publish_next(stage, payment, **{slot: [node]})
    for amount in (999, 998):
        amendment = amend(stage, made, number="DE-FRAUD", amount=amount)
        ask(stage, amendment, "prep")
        assert (calls(stage, amendment), incidents(stage, amendment)) == ([], AMENDMENT_HELD)
        ask(stage, amendment, "drop")
        assert (stage.status_of(amendment.id), incidents(stage, amendment)) == ("void", [])
        assert count_made_of(stage, amendment) == 0
    assert stage.status_of(made.id) == "sent"


def test_an_amendment_that_says_the_same_pays_nothing_twice(stage: WorkflowStage) -> None:
    made, _ = settled(stage, mid=OPEN, before_go=[PAY])
    assert calls(stage, made) == [GOOD]
    amendment = amend(stage, made, contact="a note")
    ask(stage, amendment, "prep")
    assert (calls(stage, amendment), incidents(stage, amendment)) == ([], AMENDMENT_HELD)


def test_a_call_behind_the_withdrawal_of_an_amendment_is_held(stage: WorkflowStage) -> None:
    made, payment = settled(stage)
    publish_next(stage, payment, behind_drop=[PAY])
    amendment = amend(stage, made, **TYPED)
    ask(stage, amendment, "drop")
    assert stage.status_of(amendment.id) == "void"
    assert (calls(stage, amendment), incidents(stage, amendment)) == ([], AMENDMENT_HELD)
    skip(stage, amendment)
    assert (calls(stage, amendment), incidents(stage, amendment)) == ([], [])


def test_an_amendment_whose_way_asks_is_rated_approved_and_paid(stage: WorkflowStage) -> None:
    """The lawful way: the rating goes out before the approval, which is certain there."""
    made, payment = settled(stage)
    publish_next(stage, payment, amended=[{**PAY, "id": "rate"}], before_go=[LOOK], behind_go=[PAY])
    amendment = amend(stage, made, **TYPED)
    ask(stage, amendment, "prep")
    assert (calls(stage, amendment), incidents(stage, amendment)) == ([FRAUD], [])
    answer(stage, amendment)
    assert vote(stage, amendment.id, "app2") == "approved"
    assert (calls(stage, amendment), incidents(stage, amendment)) == ([FRAUD, FRAUD], [])
    assert (stage.status_of(amendment.id), stage.status_of(made.id)) == ("sent", "amended")


def test_an_amendment_of_an_approved_amendment_is_asked_about_itself(stage: WorkflowStage) -> None:
    """The first is large, and app2 approves it. Carl amends it again, to an amount that asks nobody."""
    made, payment = settled(stage)
    publish_next(stage, payment, before_go=conditional(LOOK), behind_go=[PAY])
    first = amend(stage, made, amount=5_000)
    ask(stage, first, "prep")
    assert vote(stage, first.id, "app2") == "approved"
    answer(stage, first)
    assert stage.status_of(first.id) == "sent"
    second = amend(stage, first, **TYPED)
    ask(stage, second, "prep")
    assert (calls(stage, second), incidents(stage, second)) == ([], AMENDMENT_HELD)


def test_an_amendment_of_what_nobody_approved_goes_its_own_way(stage: WorkflowStage) -> None:
    payment = publish_payments(stage, before_go=[PAY])
    made = stage.create(payment, "carl", number="DE-OK", amount=100)
    ask(stage, made, "prep")
    answer(stage, made)
    amendment = amend(stage, made, **TYPED)
    ask(stage, amendment, "prep")
    assert (calls(stage, amendment), incidents(stage, amendment)) == ([FRAUD], [])
