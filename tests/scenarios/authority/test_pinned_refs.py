"""A payment to an account of another document: what was approved is what is paid, and nothing else."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID, uuid4

import pytest

from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member
from signet.engine.approvals.inbox import Approvals
from signet.engine.approvals.request_view import PinnedReference
from signet.engine.cache import CompiledCache
from signet.engine.documents.commands import Create, Update
from signet.engine.instances.actions import Instances
from signet.store.tenants.tenants import save_members
from tests.scenarios.authority.acts import add_endpoint, newest, submit, vote
from tests.support.core.approval_policies import role
from tests.support.workflow_stage import CONTRACT, Made, WorkflowStage, standing_stage

LOOK = {
    "id": "look",
    "type": "approval",
    "config": {"approvers": [role("voter")], "quorum": "any"},
}
CALL = {
    "id": "call",
    "type": "webhook_out",
    "config": {"endpoint": "erp", "payload": {"account": "{entity.vendor.number}"}},
}
APPROVED = "approved"


@pytest.fixture
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        people = ("app1", "app2", "dave", "mia", "carl")
        members = [Member(user_id=name, display_name=name, roles=("voter", "admin")) for name in people]
        with made.standing.company.database.transaction(made.tenant_id) as connection:
            save_members(connection, made.tenant_id, tuple(members), COMMAND_LINE)
        add_endpoint(made)
        yield made


def with_vendor(vendor: str) -> dict[str, Any]:
    ref = {"type": "ref", "entity_type": vendor, "reads": {"number": {"type": "string"}}}
    return {**CONTRACT["fields"], "vendor": ref}


def paying(stage: WorkflowStage) -> tuple[str, str]:
    """Publish vendors, and payments that call the bank behind the gate."""
    vendor = stage.publish()
    contract = {**CONTRACT, "fields": with_vendor(vendor)}
    return vendor, stage.publish(contract, approval={"nodes": [LOOK]}, posting={"nodes": [CALL]})


def edit(stage: WorkflowStage, document_id: UUID, user_id: str, **changes: Any) -> None:
    stage.mutate(Update(document_id, stage.version_of(document_id), changes), user_id)


def appear(stage: WorkflowStage, entity_type: str, document_id: UUID, user_id: str) -> None:
    """Create the document that a ref has named all along."""
    stage.mutate(Create(entity_type, {"amount": 1, "number": "DE-EVIL"}, document_id), user_id)


def seen_pins(stage: WorkflowStage, request_id: UUID) -> Sequence[PinnedReference]:
    """Return what an approver sees of other documents."""
    company = stage.standing.company
    approvals = Approvals(company.database, stage.caches())
    return approvals.read_request(company.caller("app2"), request_id).pins


def paid(stage: WorkflowStage, document: Made) -> list[Mapping[str, Any]]:
    """Return what the bank was told, call by call."""
    rows = stage.standing.rows(
        "SELECT e.payload_json -> 'payload' FROM workflow_side_effects_outbox e"
        " JOIN workflow_instances i ON i.tenant_id = e.tenant_id AND i.id = e.instance_id"
        " WHERE i.entity_id = %s ORDER BY e.id",
        document.id,
    )
    return [row[0] for row in rows]


def test_a_vendor_that_appears_while_people_are_asked_is_asked_about_again(stage: WorkflowStage) -> None:
    """The payment names a vendor that nobody has created yet; app1 creates it, and votes."""
    vendor, payment = paying(stage)
    later = uuid4()
    made = stage.create(payment, "carl", vendor=str(later))
    submit(stage, made, "carl")
    first = newest(stage, made.id)
    assert [(pin.version, pin.is_changed) for pin in seen_pins(stage, first)] == [(None, False)]
    appear(stage, vendor, later, "app1")
    assert [(pin.version, pin.is_changed) for pin in seen_pins(stage, first)] == [(None, True)]
    assert vote(stage, made.id, "app1") == "APPROVAL_STALE"
    stage.drain()
    assert newest(stage, made.id) != first
    assert vote(stage, made.id, "app1") == "SEPARATION_OF_DUTIES"
    company = stage.standing.company
    approvals = Approvals(company.database, stage.caches())
    why_not = approvals.read_request(company.caller("app1"), newest(stage, made.id)).standing.why_not
    assert why_not is not None and why_not.sentence == (
        f"app1 stands behind what this document reads of others ({vendor}: vendor.number)"
        " and may not decide about it"
    )
    assert vote(stage, made.id, "app2") == APPROVED
    assert paid(stage, made) == [{"account": "DE-EVIL"}], "app2 has seen the account"


def test_a_vendor_that_appears_behind_the_gate_is_not_paid(stage: WorkflowStage) -> None:
    vendor = stage.publish()
    first = {"id": "first", "type": "webhook_out", "config": {"endpoint": "erp"}}
    posting = {"nodes": [first, CALL], "edges": [{"source": "first", "target": "call"}]}
    contract = {**CONTRACT, "fields": with_vendor(vendor)}
    payment = stage.publish(contract, approval={"nodes": [LOOK]}, posting=posting)
    later = uuid4()
    made = stage.create(payment, "carl", vendor=str(later))
    submit(stage, made, "carl")
    assert vote(stage, made.id, "app1") == APPROVED
    appear(stage, vendor, later, "dave")
    stage.answer(made.instance_id)
    stage.drain()
    assert paid(stage, made)[1:] == [{"account": ""}]


def test_a_document_of_another_type_is_no_vendor(stage: WorkflowStage) -> None:
    """The ref names a payment: there is no such vendor, and changes of the payment change nothing."""
    _, payment = paying(stage)
    other = stage.create(payment, "mia", number="DE-OTHER")
    made = stage.create(payment, "carl", vendor=str(other.id))
    submit(stage, made, "carl")
    edit(stage, other.id, "mia", number="DE-EVIL")
    assert vote(stage, made.id, "app1") == APPROVED
    assert paid(stage, made) == [{"account": ""}]


def paying_later(
    stage: WorkflowStage, *, settled: bool = True, edit_active: str = "locked"
) -> tuple[str, str]:
    """Publish vendors, and payments that are approved first, and paid when a person asks for it."""
    vendor = stage.publish()
    active = {"edit": edit_active, "settled": True} if settled else {"edit": edit_active}
    states = {**CONTRACT["states"], "active": active, "paid": {"edit": "locked", "settled": True}}
    pay = {"from": ["active"], "to": "paid", "kind": "requested"}
    contract = {
        **CONTRACT,
        "fields": with_vendor(vendor),
        "states": states,
        "transitions": {**CONTRACT["transitions"], "pay": pay},
        "slots": {**CONTRACT["slots"], "paying": {"transition": "pay"}},
    }
    return vendor, stage.publish(contract, approval={"nodes": [LOOK]}, paying={"nodes": [CALL]})


def approved_payment(stage: WorkflowStage, vendor: str, payment: str) -> tuple[Made, Made]:
    supplier = stage.create(vendor, "mia", number="DE-GOOD")
    made = stage.create(payment, "carl", vendor=str(supplier.id))
    submit(stage, made, "carl")
    assert vote(stage, made.id, "app1") == APPROVED
    assert stage.status_of(made.id) == "active"
    return supplier, made


def pay(stage: WorkflowStage, document: Made) -> list[Mapping[str, Any]]:
    stage.ask(document.id, "pay", "carl")
    stage.drain()
    return paid(stage, document)


def test_a_settled_payment_is_paid_as_it_was_approved(stage: WorkflowStage) -> None:
    """The payment settles, dave changes the account, and a request begins another instance."""
    supplier, made = approved_payment(stage, *paying_later(stage))
    edit(stage, supplier.id, "dave", number="DE-EVIL")
    assert pay(stage, made) == [{"account": "DE-GOOD"}]
    again = stage.instance_of(made.id)
    assert again != made.instance_id
    stage.check_rebuild(again)


def cancel(stage: WorkflowStage, document: Made) -> None:
    company, current = stage.standing.company, stage.instance_of(document.id)
    operating = Instances(company.database, stage.caches(), CompiledCache())
    version = stage.instance(current)["version"]
    operating.cancel(company.caller("olga", "admin"), current, version, "stuck")


def test_a_cancelled_instance_forgets_nothing(stage: WorkflowStage) -> None:
    """An operator cancels the instance twice; each begins with what the one before knew."""
    supplier, made = approved_payment(stage, *paying_later(stage, settled=False))
    edit(stage, supplier.id, "dave", number="DE-EVIL")
    for _ in range(2):
        cancel(stage, made)
        told = pay(stage, made)
    assert told == [{"account": "DE-GOOD"}] * 2


@pytest.mark.parametrize("settled", [True, False])
def test_an_edit_that_asks_nobody_keeps_what_was_approved(stage: WorkflowStage, settled: bool) -> None:
    """Carl changes the account, edits another field of the payment or none, and has it paid."""
    supplier, made = approved_payment(stage, *paying_later(stage, settled=settled, edit_active="editable"))
    edit(stage, supplier.id, "carl", number="XX-CARL")
    for changes in ({"amount": 7}, {}):
        edit(stage, made.id, "carl", **changes)
        stage.drain()
        stage.check_rebuild(stage.instance_of(made.id))
    assert pay(stage, made) == [{"account": "DE-GOOD"}]
    stage.check_rebuild(stage.instance_of(made.id))


@pytest.mark.parametrize("settled", [True, False])
def test_an_edit_of_the_ref_itself_drops_what_was_approved(stage: WorkflowStage, settled: bool) -> None:
    """The lawful way beside it: the edit is of who made it, and steps read what it names as it is."""
    way = paying_later(stage, settled=settled, edit_active="editable")
    _, made = approved_payment(stage, *way)
    other = stage.create(way[0], "mia", number="DE-OTHER")
    edit(stage, made.id, "carl", vendor=str(other.id))
    stage.drain()
    edit(stage, other.id, "dave", number="DE-NEW")
    assert pay(stage, made) == [{"account": "DE-NEW"}]
    stage.check_rebuild(stage.instance_of(made.id))


def test_an_edit_without_an_instance_keeps_what_was_approved(stage: WorkflowStage) -> None:
    """An operator has cancelled the instance: nobody follows the edit."""
    supplier, made = approved_payment(stage, *paying_later(stage, settled=False, edit_active="editable"))
    cancel(stage, made)
    edit(stage, supplier.id, "dave", number="DE-EVIL")
    edit(stage, made.id, "carl", amount=7)
    assert pay(stage, made) == [{"account": "DE-GOOD"}]


@pytest.mark.parametrize("cancelled", [True, False])
def test_an_edit_that_asks_again_drops_what_was_approved(stage: WorkflowStage, cancelled: bool) -> None:
    """The lawful way beside it: back in its draft and edited, a payment reads what holds now."""
    vendor = stage.publish()
    back = {"from": ["active"], "to": "draft", "kind": "requested"}
    contract = {
        **CONTRACT,
        "fields": with_vendor(vendor),
        "transitions": {**CONTRACT["transitions"], "reopen": back},
    }
    payment = stage.publish(contract, approval={"nodes": [LOOK]}, checks={"nodes": [CALL]})
    supplier = stage.create(vendor, "mia", number="DE-GOOD")
    made = stage.create(payment, "carl", vendor=str(supplier.id))
    submit(stage, made, "carl")
    stage.answer(made.instance_id)
    stage.drain()
    assert vote(stage, made.id, "app1") == APPROVED
    edit(stage, supplier.id, "dave", number="DE-NEW")
    stage.ask(made.id, "reopen", "carl")
    stage.drain()
    if cancelled:
        cancel(stage, made)
    edit(stage, made.id, "carl", amount=7)
    submit(stage, made, "carl")
    assert paid(stage, made) == [{"account": "DE-GOOD"}, {"account": "DE-NEW"}]
    stage.check_rebuild(stage.instance_of(made.id))


def test_a_new_approval_goes_before_what_was_approved_earlier(stage: WorkflowStage) -> None:
    """A payment that was sent back to its draft is approved again, with the account of now."""
    vendor = stage.publish()
    back = {"from": ["active"], "to": "draft", "kind": "requested"}
    contract = {
        **CONTRACT,
        "fields": with_vendor(vendor),
        "transitions": {**CONTRACT["transitions"], "reopen": back},
    }
    payment = stage.publish(contract, approval={"nodes": [LOOK]}, posting={"nodes": [CALL]})
    supplier, made = approved_payment(stage, vendor, payment)
    stage.answer(made.instance_id)
    stage.drain()
    edit(stage, supplier.id, "dave", number="DE-NEW")
    stage.ask(made.id, "reopen", "carl")
    stage.drain()
    submit(stage, made, "carl")
    assert vote(stage, made.id, "app1") == APPROVED
    assert paid(stage, made) == [{"account": "DE-GOOD"}, {"account": "DE-NEW"}]
