"""Documents that an action makes behind a gate: they read other documents as their origin was approved."""

from collections.abc import Iterator, Mapping
from typing import Any
from uuid import UUID

import pytest

from signet.core.documents.rules import Rule
from signet.core.explain.instance import ApprovedReference
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member
from signet.core.validation.strict_model import parse_strictly
from signet.engine.documents.commands import Amend, RunAction
from signet.engine.instances.explain import explain
from signet.store.definitions.rules import save_rule
from signet.store.tenants.tenants import save_members
from tests.scenarios.authority.acts import edit, newest, submit, vote
from tests.support.core.approval_policies import role
from tests.support.workflow_stage import CONTRACT, Made, WorkflowStage, standing_stage

LOOK = {"id": "look", "type": "approval", "config": {"approvers": [role("voter")]}}
ACCOUNT = "{entity.supplier.number}"
APPROVED = "approved"
NOTED = ("note", "pay")
TAKE = {"nodes": [{"id": "take", "type": "action", "config": {"action": "take", "run_as": "system"}}]}


@pytest.fixture
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        members = [
            Member(user_id=name, display_name=name, roles=("voter", "admin"))
            for name in ("app1", "app2", "carl", "mia")
        ]
        with made.standing.company.database.transaction(made.tenant_id) as connection:
            save_members(connection, made.tenant_id, tuple(members), COMMAND_LINE)
        yield made


def ref_to(vendor: str) -> Mapping[str, Any]:
    return {"type": "ref", "entity_type": vendor, "reads": {"number": {"type": "string"}}}


def derived_contract(
    vendor: str, is_asked: bool, deciding: tuple[str, ...] = ()
) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Make payments that take the account when they are released; some are asked about first."""
    contract = {
        **CONTRACT,
        "fields": {**CONTRACT["fields"], "supplier": ref_to(vendor)},
        "states": {
            "draft": {"edit": "editable", "initial": True},
            "ready": {"edit": "editable"},
            "released": {"edit": "locked", "settled": True},
        },
        "transitions": {
            "submit": {"from": ["draft"], "to": "ready", "kind": "requested"},
            "release": {"from": ["ready"], "to": "released", "kind": "requested"},
        },
        "slots": {
            "checks": {"transition": "submit"},
            "releasing": {"transition": "release", "position": "after"},
        },
        "amendment": {"from": ["released"]},
        "actions": {"take": {"kind": "update", "set": {"number": ACCOUNT}}},
        "deletable_in": [],
        "separation_of_duties": {"deciding": list(deciding)},
    }
    return contract, ({"checks": {"nodes": [LOOK]}} if is_asked else {}) | {"releasing": TAKE}


def bills(
    stage: WorkflowStage, *, is_asked: bool = False, deciding: tuple[str, ...] = ()
) -> tuple[str, str, str]:
    """Publish vendors, payments, and bills that make a payment behind their approval."""
    vendor = stage.publish()
    contract, slots = derived_contract(vendor, is_asked, deciding)
    payment = stage.publish(contract, **slots)
    set_ = {"supplier": {"$expr": "entity.vendor"}, "amount": 1, "contact": "{entity.vendor.number}"}
    bill = {
        **CONTRACT,
        "fields": {**CONTRACT["fields"], "vendor": ref_to(vendor)},
        # People may make another payment by hand.
        "actions": {"pay": {"kind": "create", "entity_type": payment, "set": set_, "repeats": "allowed"}},
    }
    node = {"id": "pay", "type": "action", "config": {"action": "pay", "run_as": "system"}}
    return vendor, payment, stage.publish(bill, approval={"nodes": [LOOK]}, posting={"nodes": [node]})


def payment_of(stage: WorkflowStage, payment: str) -> Made:
    document_id = stage.standing.row(
        "SELECT id FROM documents WHERE entity_type = %s ORDER BY created_at DESC, id DESC LIMIT 1", payment
    )[0]
    return Made(document_id, stage.instance_of(document_id))


def approved(stage: WorkflowStage, vendor: str, payment: str, bill: str) -> tuple[Made, Made, Made]:
    """Return the vendor, the approved bill and the payment that it made."""
    supplier = stage.create(vendor, "mia", number="DE-GOOD")
    made = stage.create(bill, "carl", vendor=str(supplier.id))
    submit(stage, made, "carl")
    assert vote(stage, made.id, "app1") == APPROVED
    return supplier, made, payment_of(stage, payment)


def release(stage: WorkflowStage, document: Made, by: str = "carl") -> str:
    """Release the payment, and return the account that it took."""
    for status, transition in (("draft", "submit"), ("ready", "release")):
        if stage.status_of(document.id) == status:
            stage.ask(document.id, transition, by)
            stage.drain()
    stage.check_rebuild(stage.instance_of(document.id))
    return account_of(stage, document)


def account_of(stage: WorkflowStage, document: Made) -> str:
    return str(stage.standing.row("SELECT data ->> 'number' FROM documents WHERE id = %s", document.id)[0])


def test_a_derived_payment_takes_the_account_that_was_approved(stage: WorkflowStage) -> None:
    """Carl changes the account between the payment and its release."""
    supplier, _, payment = approved(stage, *bills(stage))
    edit(stage, supplier, "carl", number="XX-CARL")
    assert release(stage, payment) == "DE-GOOD"


def bills_by_text(stage: WorkflowStage, *, is_asked: bool = False) -> tuple[str, str, str]:
    """Publish bills that make an order, which keeps the vendor's id as a text and makes the payment later."""
    vendor = stage.publish()
    contract, slots = derived_contract(vendor, False)
    payment = stage.publish(contract, **slots)
    set_ = {"supplier": "{entity.number}", "amount": 1}
    pay = {"kind": "create", "entity_type": payment, "set": set_, "repeats": "allowed"}
    run = {"nodes": [{"id": "pay", "type": "action", "config": {"action": "pay", "run_as": "system"}}]}
    asked = {"approval": {"nodes": [LOOK]}} if is_asked else {}
    order = stage.publish({**CONTRACT, "actions": {"pay": pay}}, posting=run, **asked)
    make = {"kind": "create", "entity_type": order, "set": {"number": "{entity.vendor}", "amount": 1}}
    bill = {
        **CONTRACT,
        "fields": {**CONTRACT["fields"], "vendor": ref_to(vendor)},
        "actions": {"pay": make, "note": {"kind": "update", "set": {"number": "{entity.vendor.number}"}}},
    }
    nodes = [{"id": name, "type": "action", "config": {"action": name, "run_as": "system"}} for name in NOTED]
    posting = {"nodes": nodes, "edges": [{"source": "note", "target": "pay"}]}
    return vendor, order, stage.publish(bill, approval={"nodes": [LOOK]}, posting=posting)


@pytest.mark.parametrize("is_asked", [False, True], ids=["free", "asked"])
@pytest.mark.parametrize("by_hand", [False, True], ids=["step", "hand"])
def test_a_payment_takes_what_was_approved_also_where_a_document_between_keeps_the_id_as_text(
    stage: WorkflowStage, is_asked: bool, by_hand: bool
) -> None:
    """Carl changes the account before the order makes the payment. App1 was shown the good one."""
    vendor, order, bill = bills_by_text(stage, is_asked=is_asked)
    supplier, _, between = approved(stage, vendor, order, bill)
    edit(stage, supplier, "carl", number="XX-CARL")
    edit(stage, between, "mia", contact="a note")
    submit(stage, between, "mia")
    if is_asked:
        assert vote(stage, between.id, "app2") == APPROVED
    assert stage.status_of(between.id) == "active"
    stage.check_rebuild(between.instance_id)
    if by_hand:
        stage.mutate(RunAction(between.id, stage.version_of(between.id), "pay", {}), "mia")
    query = "SELECT id FROM documents WHERE data ->> 'supplier' = %s ORDER BY id DESC LIMIT 1"
    (made,) = stage.standing.row(query, str(supplier.id))
    assert release(stage, Made(made, stage.instance_of(made))) == "DE-GOOD"


def test_an_edit_of_another_field_loses_nothing(stage: WorkflowStage) -> None:
    supplier, _, payment = approved(stage, *bills(stage))
    edit(stage, supplier, "carl", number="XX-CARL")
    edit(stage, payment, "carl", is_posted=True)
    stage.drain()
    assert release(stage, payment) == "DE-GOOD"


def amended(stage: WorkflowStage, *deciding: str) -> Made:
    """Let a payment be released and amended, while its vendor has another account."""
    supplier, _, payment = approved(stage, *bills(stage, deciding=deciding))
    assert release(stage, payment, by="app1") == "DE-GOOD"
    edit(stage, supplier, "carl", number="XX-CARL")
    new = stage.mutate(Amend(payment.id, stage.version_of(payment.id), {"amount": 3}), "carl")
    stage.drain()
    assert new.instance_id is not None
    return Made(new.document_id, new.instance_id)


def test_an_amendment_loses_nothing(stage: WorkflowStage) -> None:
    """The lawful way: a person who may decide has asked for what the amendment says."""
    amendment = amended(stage, "release")
    assert release(stage, amendment, by="app2") == "DE-GOOD"
    assert stage.status_of(amendment.id) == "released"


def test_an_amendment_of_what_was_approved_with_its_origin_settles_by_a_decision_alone(
    stage: WorkflowStage,
) -> None:
    """Carl writes another amount into a payment that was approved with its bill, and nobody is asked."""
    amendment = amended(stage)
    release(stage, amendment)
    query = "SELECT code FROM incidents WHERE entity_id = %s AND closed_at IS NULL"
    assert stage.standing.rows(query, amendment.id) == [("AMENDMENT_UNASKED",)]
    assert stage.status_of(amendment.id) == "ready"


def test_a_payment_to_another_vendor_is_decided_about_first(stage: WorkflowStage) -> None:
    """Carl edits the ref, and app2 decides. Else nothing is released."""
    for deciding, account in (((), "None"), (("release",), "DE-OTHER")):
        names = bills(stage, deciding=deciding)
        _, _, payment = approved(stage, *names)
        other = stage.create(names[0], "mia", number="DE-OTHER")
        edit(stage, payment, "carl", supplier=str(other.id))
        stage.drain()
        assert release(stage, payment, by="app2") == account


def test_a_payment_that_is_approved_anew_takes_what_was_seen(stage: WorkflowStage) -> None:
    """The lawful way beside it: the new account was shown, and carl is barred by it."""
    supplier, _, payment = approved(stage, *bills(stage, is_asked=True))
    edit(stage, supplier, "app2", number="DE-NEW")
    submit(stage, payment, "carl")
    assert vote(stage, payment.id, "app2") == "SEPARATION_OF_DUTIES"
    assert vote(stage, payment.id, "app1") == APPROVED
    assert release(stage, payment) == "DE-NEW"


def test_a_rule_on_the_new_document_reads_what_was_approved(stage: WorkflowStage) -> None:
    """A rule fills in the account, also where carl makes another payment by hand."""
    vendor, payment, bill = bills(stage)
    document = {
        "name": "fill",
        "entity_type": payment,
        "phase": "before",
        "operations": ["create"],
        "condition": {"expression": "true"},
        "actions": [{"kind": "set", "values": {"number": ACCOUNT}}],
    }
    rule, findings = parse_strictly(Rule, document)
    assert rule is not None, findings
    with stage.standing.company.database.transaction(stage.tenant_id) as connection:
        save_rule(connection, stage.tenant_id, rule, frozenset({"rosa"}))
    supplier, made, first = approved(stage, vendor, payment, bill)
    assert account_of(stage, first) == "DE-GOOD"
    edit(stage, supplier, "carl", number="XX-CARL")
    applied = stage.mutate(RunAction(made.id, stage.version_of(made.id), "pay", {}), "carl")
    second = UUID(str((applied.output or {})["document_id"]))
    assert account_of(stage, Made(second, second)) == "DE-GOOD"
    assert release(stage, Made(second, stage.instance_of(second))) == "DE-GOOD"


def test_an_explanation_names_the_approval(stage: WorkflowStage) -> None:
    supplier, made, payment = approved(stage, *bills(stage))
    stage.drain()
    explained = explain(
        stage.standing.company.database, stage.caches().contracts, stage.tenant_id, payment.instance_id
    )
    request = newest(stage, made.id)
    (shown,) = explained.approved_references
    assert shown == ApprovedReference("supplier", supplier.id, 1, ("number",), request, made.id, shown.text)
    assert shown.text.endswith(f"by approval {request} of document {made.id}, which made this one.")
