"""Use case C: nobody approves one content and gets another; every vote about the old content is void."""

from uuid import UUID

import pytest

from signet.core.errors import Rejected
from tests.support.examples_tenant import Story

BILL = {
    "number": "R-1",
    "vendor_id": "V-1",
    "vendor_contact": "Zacharias",
    "invoice_date": "2026-03-01",
    "grand_total": 60000,
    "cost_center_owner": "olga",
}


@pytest.fixture
def invoices(story: Story) -> Story:
    story.publish("invoice")
    story.publish("invoice_amendment", replaces="invoice_approval")
    return story


@pytest.fixture
def submitted(invoices: Story) -> UUID:
    made = invoices.create("carl", "invoice", **BILL)
    invoices.ask("carl", made, "submit")
    return made


def approve_anew(story: Story, amended: UUID) -> None:
    story.ask("carl", amended, "submit")
    story.decide("fiona", amended, "approved", "the vendor called")
    story.decide("fiona", amended)
    story.decide("frank", amended)


def test_an_edit_after_the_approval_and_before_the_gate(invoices: Story, submitted: UUID) -> None:
    """Change the total after both have approved and before a worker runs."""
    invoices.decide("fiona", submitted)
    invoices.decide("frank", submitted, then_works=False)
    amended = invoices.edit("carl", submitted, grand_total=90000)
    assert invoices.stage.status_of(submitted) == "amended"
    assert invoices.stage.status_of(amended.document_id) == "draft"
    approve_anew(invoices, amended.document_id)
    invoices.check("c_edited_after_approval.txt", submitted, amended.document_id)


def test_an_edit_between_two_approvals(invoices: Story, submitted: UUID) -> None:
    invoices.decide("fiona", submitted)
    (request_id,) = invoices.waits_for("frank", submitted)
    amended = invoices.edit("carl", submitted, grand_total=90000)
    with pytest.raises(Rejected) as caught:
        invoices.approvals.decide(invoices.author("frank"), request_id, "approved")
    assert caught.value.code == "APPROVAL_CLOSED"
    approve_anew(invoices, amended.document_id)
    invoices.check("c_edited_between_approvals.txt", submitted, amended.document_id)


def test_an_amendment_of_what_is_active(invoices: Story, submitted: UUID) -> None:
    """Amend after the gate has used the approvals: they stay with the content they were given for."""
    invoices.decide("fiona", submitted)
    invoices.decide("frank", submitted)
    assert invoices.stage.status_of(submitted) == "active"
    amended = invoices.amend("carl", submitted, "the tax was forgotten", tax_total=1900)
    assert invoices.stage.status_of(submitted) == "active", "it is in force until the new one is"
    approve_anew(invoices, amended.document_id)
    assert invoices.stage.status_of(submitted) == "amended"
    invoices.check("c_amended_when_active.txt", submitted, amended.document_id)


def test_an_amendment_that_is_given_up_leaves_what_is_active(invoices: Story, submitted: UUID) -> None:
    invoices.decide("fiona", submitted)
    invoices.decide("frank", submitted)
    amended = invoices.amend("carl", submitted, "the tax was forgotten", tax_total=1900)
    invoices.ask("carl", amended.document_id, "submit")
    invoices.decide("fiona", amended.document_id, "rejected", "the vendor denies it")
    invoices.ask("fiona", amended.document_id, "cancel", "the vendor denies it")
    assert invoices.stage.status_of(submitted) == "active"
    assert invoices.stage.status_of(amended.document_id) == "cancelled"
    invoices.check("c_amendment_given_up.txt", submitted, amended.document_id)


def test_the_manager_does_not_release_it(invoices: Story, submitted: UUID) -> None:
    """Reject the second version, edit again, and approve the third."""
    amended = invoices.edit("carl", submitted, grand_total=90000).document_id
    invoices.ask("carl", amended, "submit")
    invoices.decide("fiona", amended, "rejected", "it is too much")
    assert invoices.stage.status_of(amended) == "draft"
    invoices.edit("carl", amended, grand_total=70000)
    approve_anew(invoices, amended)
    invoices.check("c_not_released.txt", submitted, amended)
