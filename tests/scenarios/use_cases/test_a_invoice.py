"""Use case A: the fast lane, the chain and two approvers at once, from the invoice to the ledger."""

from typing import Any
from uuid import UUID

import pytest

from tests.support.examples_tenant import Story

BILL = {"invoice_date": "2026-03-01", "cost_center_owner": "olga"}


@pytest.fixture
def invoices(story: Story) -> Story:
    story.publish("invoice")
    return story


def submitted(story: Story, number: str, grand_total: int, vendor_id: str = "V-999", **data: Any) -> UUID:
    made = story.create(
        "carl", "invoice", **BILL, number=number, grand_total=grand_total, vendor_id=vendor_id, **data
    )
    story.ask("carl", made, "submit")
    return made


def test_a_small_invoice_of_a_trusted_vendor_asks_nobody(invoices: Story) -> None:
    invoices.check("a_fast_lane.txt", submitted(invoices, "R-1", 50000, "V-100"))


def test_everything_else_goes_through_the_chain(invoices: Story) -> None:
    """Take a trusted vendor, but an amount that is not small enough."""
    invoice = submitted(invoices, "R-2", 50001, "V-100")
    assert invoices.waits_for("fiona", invoice) == []
    invoices.decide("anton", invoice)
    invoices.decide("fiona", invoice)
    invoices.check("a_chain.txt", invoice)


def test_a_large_invoice_wants_both(invoices: Story) -> None:
    invoice = submitted(invoices, "R-3", 1000001)
    invoices.decide("olga", invoice)
    assert invoices.stage.status_of(invoice) == "submitted"
    invoices.decide("fiona", invoice)
    invoices.check("a_both.txt", invoice)


def test_one_rejection_takes_the_other_question_back(invoices: Story) -> None:
    """Send the invoice back to draft with the reason; then edit, submit and approve it."""
    invoice = submitted(invoices, "R-4", 2000000)
    invoices.decide("fiona", invoice, "rejected", "the price is wrong")
    assert invoices.stage.status_of(invoice) == "draft"
    assert invoices.waits_for("olga", invoice) == []
    invoices.edit("carl", invoice, grand_total=40000, vendor_id="V-200")
    invoices.ask("carl", invoice, "submit")
    invoices.check("a_rejected.txt", invoice)


def test_whoever_edits_what_is_being_approved_begins_a_new_one(invoices: Story) -> None:
    """Amend after the budget owner has approved the old content: everybody is asked again."""
    invoice = submitted(invoices, "R-5", 2000000)
    invoices.decide("olga", invoice)
    amended = invoices.edit("carl", invoice, grand_total=3000000)
    assert amended.original_id == invoice
    assert invoices.waits_for("fiona", invoice) == []
    invoices.ask("carl", amended.document_id, "submit")
    invoices.decide("frank", amended.document_id)
    invoices.decide("olga", amended.document_id)
    invoices.check("a_amended.txt", invoice, amended.document_id)


def test_time_asks_a_wider_circle(invoices: Story) -> None:
    invoice = submitted(invoices, "R-6", 2000000)
    invoices.stage.bring_escalation(invoice)
    invoices.stage.make_due()
    invoices.work()
    invoices.decide("ada", invoice, "abstained")
    invoices.decide("frank", invoice)
    invoices.decide("olga", invoice)
    invoices.check("a_escalated.txt", invoice)


def test_what_runs_keeps_the_definition_that_it_began_with(invoices: Story) -> None:
    """Publish a definition that asks no approval below a thousand; the old invoice keeps its chain."""
    old = submitted(invoices, "R-7", 60000)
    invoices.publish("invoice_fast_track", replaces="invoice_approval")
    new = submitted(invoices, "R-8", 60000)
    assert (invoices.stage.status_of(old), invoices.stage.status_of(new)) == ("submitted", "active")
    invoices.decide("anton", old)
    invoices.decide("fiona", old)
    invoices.check("a_pinned.txt", old, new)


def test_cancelled_while_it_is_being_approved(invoices: Story) -> None:
    invoice = submitted(invoices, "R-9", 60000)
    invoices.decide("anton", invoice)
    invoices.ask("fiona", invoice, "cancel", "ordered twice")
    assert invoices.waits_for("frank", invoice) == []
    invoices.check("a_cancelled.txt", invoice)
