"""A ref to a vendor that an amendment has replaced: what is in force is read, shown and paid."""

from uuid import UUID

import pytest

from tests.scenarios.authority.acts import list_asked, newest, submit, vote
from tests.scenarios.authority.test_pinned_refs import (
    APPROVED,
    CALL,
    LOOK,
    paid,
    seen_pins,
    with_vendor,
)
from tests.scenarios.authority.test_pinned_refs import stage as stage
from tests.support.amended_documents import amend, read, settle, settled
from tests.support.workflow_stage import CONTRACT, Made, WorkflowStage

OLD, NEW = "R-1", "DE-NEW"
FIRST = {"id": "first", "type": "webhook_out", "config": {"endpoint": "erp"}}


def vendor_in_force(stage: WorkflowStage) -> tuple[Made, str]:
    """Make a vendor that only an amendment changes, and a type of bills that pay it behind their gate."""
    vendor = settled(stage)
    contract = {**CONTRACT, "fields": with_vendor(read(stage, vendor).entity_type)}
    edges = [{"source": "first", "target": "call"}]
    slots = {"approval": {"nodes": [LOOK]}, "posting": {"nodes": [FIRST, CALL], "edges": edges}}
    return vendor, stage.publish(contract, **slots)


def bill_of(stage: WorkflowStage, entity_type: str, vendor: Made) -> Made:
    made = stage.create(entity_type, "carl", vendor=str(vendor.id))
    submit(stage, made, "carl")
    return made


def replace(stage: WorkflowStage, vendor: Made) -> Made:
    amendment = amend(stage, vendor, number=NEW)
    settle(stage, amendment)
    assert stage.status_of(vendor.id) == "amended"
    return amendment


def pay(stage: WorkflowStage, bill: Made) -> str:
    """Answer the call before the payment, and return the account that the bank gets."""
    stage.answer(bill.instance_id)
    stage.drain()
    return str(paid(stage, bill)[-1]["account"])


def pins_of(stage: WorkflowStage, bill: Made) -> list[tuple[UUID, UUID | None, str, bool]]:
    return [
        (pin.document_id, pin.read_from, pin.values["number"], pin.is_changed)
        for pin in seen_pins(stage, newest(stage, bill.id))
    ]


def test_people_are_asked_again_about_a_vendor_that_was_replaced(stage: WorkflowStage) -> None:
    vendor, bills = vendor_in_force(stage)
    bill = bill_of(stage, bills, vendor)
    assert pins_of(stage, bill) == [(vendor.id, None, OLD, False)]
    amendment = replace(stage, vendor)
    assert pins_of(stage, bill) == [(vendor.id, None, OLD, True)]
    assert vote(stage, bill.id, "app1") == "APPROVAL_STALE"
    stage.drain()
    assert pins_of(stage, bill) == [(vendor.id, amendment.id, NEW, False)]
    assert vote(stage, bill.id, "app1") == APPROVED
    assert pay(stage, bill) == NEW
    stage.check_rebuild(bill.instance_id)


@pytest.mark.parametrize("times", [1, 2])
def test_a_bill_that_names_the_old_vendor_pays_the_one_in_force(stage: WorkflowStage, times: int) -> None:
    vendor, bills = vendor_in_force(stage)
    last = replace(stage, vendor)
    if times == 2:
        first, last = last, amend(stage, last, number="DE-NEWEST")
        settle(stage, last)
        assert stage.status_of(first.id) == "amended"
    bill = bill_of(stage, bills, vendor)
    ((document_id, read_from, number, is_changed),) = pins_of(stage, bill)
    assert (document_id, read_from, is_changed) == (vendor.id, last.id, False)
    assert vote(stage, bill.id, "app1") == APPROVED
    assert pay(stage, bill) == number == (NEW if times == 1 else "DE-NEWEST")


def test_what_was_approved_is_paid_behind_the_gate(stage: WorkflowStage) -> None:
    """The lawful way beside it: the vendor is replaced after the approval, as it may be edited then."""
    vendor, bills = vendor_in_force(stage)
    bill = bill_of(stage, bills, vendor)
    assert vote(stage, bill.id, "app1") == APPROVED
    replace(stage, vendor)
    assert pay(stage, bill) == OLD


def test_an_amendment_that_has_not_settled_is_not_read(stage: WorkflowStage) -> None:
    vendor, bills = vendor_in_force(stage)
    bill = bill_of(stage, bills, vendor)
    amend(stage, vendor, number=NEW)
    stage.drain()
    assert pins_of(stage, bill) == [(vendor.id, None, OLD, False)]
    assert vote(stage, bill.id, "app1") == APPROVED
    assert pay(stage, bill) == OLD


def lengthen(stage: WorkflowStage, last: Made, links: int) -> None:
    """Put so many amendments behind this one, as if each had taken the place of the one before."""
    stage.standing.run_unguarded(
        "WITH line AS (SELECT n, CASE n WHEN 0 THEN %s::uuid ELSE gen_random_uuid() END AS id"
        " FROM generate_series(0, %s) AS n)"
        " INSERT INTO amendments (tenant_id, document_id, original_id, original_version, original_status,"
        " opened_at, closing, closed_at)"
        " SELECT %s, a.id, b.id, 1, 'active', now(), 'settled', now()"
        " FROM line a JOIN line b ON a.n = b.n + 1",
        last.id,
        links,
        stage.tenant_id,
    )


def test_past_a_thousand_amendments_no_replaced_document_is_read(stage: WorkflowStage) -> None:
    """It is not known which one is in force: what reads it is held, and nothing is paid."""
    vendor, bills = vendor_in_force(stage)
    asked = bill_of(stage, bills, vendor)
    last = replace(stage, vendor)
    lengthen(stage, last, 1_000)
    assert vote(stage, asked.id, "app1") == "APPROVAL_STALE"
    bill = bill_of(stage, bills, vendor)
    stage.standing.run(
        "UPDATE workflow_events_outbox SET max_attempts = attempts + 1, due_at = now()"
        " WHERE status = 'failed'"
    )
    stage.drain()
    for held in (asked, bill):
        code = "SELECT code FROM incidents WHERE entity_id = %s AND closed_at IS NULL"
        assert stage.standing.rows(code, held.id) == [("AMENDMENTS_TOO_MANY",)]
        assert paid(stage, held) == []
    assert list_asked(stage, bill) == []
    assert pins_of(stage, asked) == [(vendor.id, None, OLD, True)]
    assert vote(stage, asked.id, "app1") != APPROVED
