"""The actions of the purchase order of the examples: they make what their contract says."""

from signet.engine.documents.commands import RunAction
from tests.support.examples_tenant import Story


def test_an_order_makes_its_invoice_over_the_same_amount(story: Story) -> None:
    for folder in ("invoice", "purchase_order"):
        story.publish(folder)
    order = story.create(
        "carl",
        "purchase_order",
        number="PO-1",
        vendor_id="V-100",
        grand_total=50_000,
        cost_center="C",
        cost_center_owner="olga",
        lines=[],
    )
    payload = {"invoice_number": "R-1", "invoice_date": "2026-03-01"}
    made = story.mutate("carl", RunAction(order, 1, "expect_invoice", payload))
    (total, number) = story.stage.standing.row(
        "SELECT data -> 'grand_total', data -> 'number' FROM documents WHERE id = %s",
        (made.output or {})["document_id"],
    )
    assert (total, number) == (50_000, "R-1")
    story.mutate("carl", RunAction(order, 1, "record_receipt", {"received_total": 40_000}))
    (received,) = story.stage.standing.row(
        "SELECT data -> 'received_total' FROM documents WHERE id = %s", order
    )
    assert received == 40_000
