"""Use case B: stock, credit and the warehouse at once; the loser of an ANY join is no longer waited for.

The patch is of `examples/sales_order_calls`: the one in `examples/sales_order` waits for events from outside.
"""

from uuid import UUID

import pytest

from signet.authoring.actions import ActionRegistry
from signet.authoring.extensions import load_extensions
from tests.support.examples_tenant import Story
from tests.support.workflow_stage import CallAnswer

REFUSED = CallAnswer(error="the account is closed")


@pytest.fixture
def orders(story: Story) -> Story:
    load_extensions(["examples.sales_order.actions"], ActionRegistry())
    for folder in ("customer", "sales_order"):
        story.publish(folder)
    story.publish("sales_order_calls", replaces="order_fulfilment")
    return story


def placed(story: Story, number: str, grand_total: int) -> UUID:
    customer = story.create("ada", "customer", name="Tilda", credit_available=10000)
    line = {"sku": "A-1", "quantity": 2, "unit_price": grand_total // 2}
    order = story.create(
        "carl", "sales_order", number=number, customer=str(customer), grand_total=grand_total, lines=[line]
    )
    story.ask("carl", order, "place")
    return order


def test_the_warehouse_is_faster_and_the_supplier_is_not_waited_for(orders: Story) -> None:
    order = placed(orders, "S-1", 10000)
    assert orders.stage.status_of(order) == "placed"
    orders.answer(order, "reserve", CallAnswer(body={"bin": "7"}))
    assert orders.stage.status_of(order) == "active"
    orders.ask("carl", order, "fulfil")
    orders.check("b_reserved.txt", order)


def test_the_supplier_is_faster(orders: Story) -> None:
    order = placed(orders, "S-2", 5000)
    orders.answer(order, "backorder", CallAnswer())
    orders.check("b_backordered.txt", order)


def test_without_credit_everything_else_is_left_and_the_bank_collects(orders: Story) -> None:
    """Check the credit before any call: neither warehouse nor supplier hears of the order."""
    order = placed(orders, "S-3", 10001)
    assert orders.stage.instance(orders.stage.instance_of(order))["current_nodes"] == [
        "usr:stock_and_credit:collect"
    ]
    orders.answer(order, "collect", CallAnswer(body={"reference": "P-1"}))
    orders.check("b_paid.txt", order)


def test_the_bank_gives_up_and_a_manager_vouches(orders: Story) -> None:
    order = placed(orders, "S-4", 20000)
    orders.answer(order, "collect", REFUSED)
    orders.decide("sam", order, "approved", "an old customer")
    orders.check("b_vouched.txt", order)


def test_nobody_vouches_and_the_payment_is_tried_again(orders: Story) -> None:
    order = placed(orders, "S-5", 20000)
    orders.answer(order, "collect", REFUSED)
    orders.decide("sam", order, "rejected", "too much")
    assert orders.stage.status_of(order) == "payment_failed"
    orders.edit("carl", order, grand_total=9000)
    orders.ask("carl", order, "retry_payment")
    orders.answer(order, "reserve", CallAnswer())
    orders.check("b_tried_again.txt", order)


def test_cancelled_while_the_stock_is_looked_for(orders: Story) -> None:
    order = placed(orders, "S-6", 5000)
    orders.ask("carl", order, "cancel")
    orders.check("b_cancelled.txt", order)
