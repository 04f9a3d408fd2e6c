"""Decisions about one's own work: refused through a workflow, a rule or another document."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from signet.core.documents.rules import Rule
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member
from signet.core.validation.strict_model import parse_strictly
from signet.engine.approvals.inbox import Approvals
from signet.engine.documents.commands import Create
from signet.store.definitions.rules import save_rule
from signet.store.tenants.tenants import save_members
from tests.scenarios.authority.acts import add_endpoint, edit, newest, submit, vote
from tests.support.core.approval_policies import role
from tests.support.workflow_stage import CONTRACT, Made, WorkflowStage, standing_stage

VOTERS = {"approvers": [role("voter")], "quorum": "any"}
LOOK = {"id": "look", "type": "approval", "config": VOTERS}
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


def bill_contract(stage: WorkflowStage) -> str:
    return stage.publish(approval={"nodes": [LOOK]})


def order(stage: WorkflowStage, bill: str, run_as: str) -> str:
    """Publish an order whose checks make a bill of it."""
    spawn = {"kind": "create", "entity_type": bill, "set": {"number": "of {entity.number}"}}
    contract = {**CONTRACT, "actions": {**CONTRACT["actions"], "spawn": spawn}}
    node = {"id": "make", "type": "action", "config": {"action": "spawn", "run_as": run_as}}
    return stage.publish(contract, checks={"nodes": [node]})


def made_of(stage: WorkflowStage, entity_type: str) -> Made:
    (document_id,) = stage.standing.row(
        "SELECT id FROM documents WHERE entity_type = %s ORDER BY created_at DESC LIMIT 1", entity_type
    )
    return Made(document_id, stage.instance_of(document_id))


@pytest.mark.parametrize("run_as", ["actor", "system"])
def test_the_author_of_an_order_does_not_approve_its_bill(stage: WorkflowStage, run_as: str) -> None:
    """app1 types the order, dave only says go, and the workflow makes the bill (A2)."""
    bill = bill_contract(stage)
    made = stage.create(order(stage, bill, run_as), "app1", number="N1")
    submit(stage, made, "dave")
    derived = made_of(stage, bill)
    submit(stage, derived, "mia")
    assert vote(stage, derived.id, "app1") == "SEPARATION_OF_DUTIES"
    assert vote(stage, derived.id, "dave") == "SEPARATION_OF_DUTIES"
    assert vote(stage, derived.id, "app2") == APPROVED
    assert stage.status_of(derived.id) == "active"


def test_a_chain_of_three_documents_forgets_nobody(stage: WorkflowStage) -> None:
    bill = bill_contract(stage)
    middle = order(stage, bill, "system")
    made = stage.create(order(stage, middle, "system"), "app1", number="N1")
    submit(stage, made, "dave")
    between = made_of(stage, middle)
    submit(stage, between, "mia")
    derived = made_of(stage, bill)
    submit(stage, derived, "carl")
    for barred in ("app1", "dave", "mia", "carl"):
        assert vote(stage, derived.id, barred) == "SEPARATION_OF_DUTIES"
    assert vote(stage, derived.id, "app2") == APPROVED


def test_an_edit_by_a_step_is_an_edit_of_who_stands_behind_the_step(stage: WorkflowStage) -> None:
    """An action in a slot writes a version as app1, who then approves the next transition (A2)."""
    post = {"id": "post", "type": "action", "config": {"action": "post"}}
    contract = {**CONTRACT, "separation_of_duties": {"may_decide": ["requester"]}}
    entity_type = stage.publish(contract, checks={"nodes": [post]}, approval={"nodes": [LOOK]})
    made = stage.create(entity_type, "mia")
    submit(stage, made, "app1")
    (editors,) = stage.standing.row(
        "SELECT s.persons FROM documents d JOIN responsible_sets s ON s.hash = d.editor_responsible"
        " WHERE d.id = %s",
        made.id,
    )
    assert editors == ["app1"]
    assert vote(stage, made.id, "app1") == "SEPARATION_OF_DUTIES"
    assert vote(stage, made.id, "app2") == APPROVED


def test_a_workflow_that_changes_no_content_makes_nobody_an_editor(stage: WorkflowStage) -> None:
    contract = {**CONTRACT, "separation_of_duties": {"may_decide": ["requester"]}}
    made = stage.create(stage.publish(contract, approval={"nodes": [LOOK]}), "mia")
    submit(stage, made, "app1")
    assert vote(stage, made.id, "app1") == APPROVED


def add_setting_rule(stage: WorkflowStage, entity_type: str, author: str, on: str = "create") -> None:
    body: Mapping[str, Any] = {
        "name": "fill",
        "entity_type": entity_type,
        "phase": "before",
        "operations": [on],
        "condition": {"expression": "entity.amount > 10"},
        "actions": [{"kind": "set", "values": {"number": "DE-OF-APP1"}}],
    }
    rule, findings = parse_strictly(Rule, body)
    assert rule is not None, findings
    with stage.standing.company.database.transaction(stage.tenant_id) as connection:
        save_rule(connection, stage.tenant_id, rule, frozenset({author}))


def test_the_author_of_a_rule_does_not_approve_what_it_set(stage: WorkflowStage) -> None:
    """app1 saves a rule that sets the account; mia creates (A9)."""
    entity_type = bill_contract(stage)
    add_setting_rule(stage, entity_type, "app1")
    touched, untouched = (stage.create(entity_type, "mia", amount=amount) for amount in (500, 5))
    for document in (touched, untouched):
        submit(stage, document, "mia")
    assert vote(stage, touched.id, "app1") == "SEPARATION_OF_DUTIES"
    assert vote(stage, touched.id, "app2") == APPROVED
    assert vote(stage, untouched.id, "app1") == APPROVED


def test_a_rule_changes_nothing_that_a_step_posts(stage: WorkflowStage) -> None:
    """app1 saves a rule and approves; the rule is asked when a step posts."""
    post = {"id": "post", "type": "action", "config": {"action": "post", "run_as": "system"}}
    before, behind = (
        stage.publish(**{slot: {"nodes": nodes} for slot, nodes in slots.items()})
        for slots in ({"checks": [post], "approval": [LOOK]}, {"approval": [LOOK], "posting": [post]})
    )
    made = []
    for entity_type in (before, behind):
        add_setting_rule(stage, entity_type, "app1", on="action")
        made.append(stage.create(entity_type, "mia", amount=500))
        submit(stage, made[-1], "mia")
    # In a status that may be edited the step is held; in a locked one the rule sets nothing.
    codes = "SELECT code FROM incidents WHERE entity_id = %s AND closed_at IS NULL"
    assert (read_number(stage, made[0]), stage.status_of(made[0].id)) == ("None", "draft")
    assert stage.standing.rows(codes, made[0].id) == [("RULE_SETS_APPROVED",)]
    number = read_number(stage, made[1])
    assert vote(stage, made[1].id, "app1") == APPROVED
    assert (stage.status_of(made[1].id), read_number(stage, made[1])) == ("active", number)
    is_posted = stage.standing.row("SELECT data -> 'is_posted' FROM documents WHERE id = %s", made[1].id)
    assert is_posted == (True,)


def read_number(stage: WorkflowStage, document: Made) -> str:
    return str(stage.standing.row("SELECT data ->> 'number' FROM documents WHERE id = %s", document.id)[0])


def paying(stage: WorkflowStage) -> tuple[str, str]:
    """Publish vendors, and payments to the account that the vendor's document names."""
    vendor = stage.publish()
    fields = {
        **CONTRACT["fields"],
        "vendor": {"type": "ref", "entity_type": vendor, "reads": {"number": {"type": "string"}}},
    }
    call = {
        "id": "pay",
        "type": "webhook_out",
        "config": {"endpoint": "erp", "payload": {"account": "{entity.vendor.number}"}},
    }
    first = {"id": "first", "type": "webhook_out", "config": {"endpoint": "erp"}}
    posting = {"nodes": [first, call], "edges": [{"source": "first", "target": "pay"}]}
    payment = stage.publish({**CONTRACT, "fields": fields}, approval={"nodes": [LOOK]}, posting=posting)
    return vendor, payment


def test_what_is_approved_is_what_is_paid(stage: WorkflowStage) -> None:
    """The account of the vendor changes while app1 is asked, and again behind the gate (A7)."""
    vendor, payment = paying(stage)
    supplier = stage.create(vendor, "carl", number="DE-GOOD")
    made = stage.create(payment, "mia", vendor=str(supplier.id))
    submit(stage, made, "mia")
    first = newest(stage, made.id)
    edit(stage, supplier, "mia", number="DE-OF-MIA")
    assert newest(stage, made.id) == first, "the change of the vendor touches no request"
    assert vote(stage, made.id, "app1") == "APPROVAL_STALE"
    stage.drain()
    assert newest(stage, made.id) != first, "the workflow asks again, about the account as it is"
    assert vote(stage, made.id, "app1") == APPROVED
    # Behind the gate, and before the call that pays.
    edit(stage, supplier, "mia", number="DE-LATER")
    stage.answer(made.instance_id)
    stage.drain()
    payloads = stage.standing.rows(
        "SELECT payload_json FROM workflow_side_effects_outbox WHERE instance_id = %s ORDER BY id",
        made.instance_id,
    )
    assert len(payloads) == 2
    assert "DE-OF-MIA" in str(payloads[1])


def test_a_change_between_vote_and_gate_is_asked_about_again(stage: WorkflowStage) -> None:
    vendor, payment = paying(stage)
    supplier = stage.create(vendor, "carl", number="DE-GOOD")
    made = stage.create(payment, "mia", vendor=str(supplier.id))
    submit(stage, made, "mia")
    company = stage.standing.company
    first = newest(stage, made.id)
    Approvals(company.database, stage.caches()).decide(company.caller("app1"), first, "approved")
    edit(stage, supplier, "carl", number="DE-OF-CARL")
    stage.drain()
    assert stage.status_of(made.id) == "submitted"
    assert stage.standing.row("SELECT status FROM approval_requests WHERE id = %s", first) == ("voided",)
    assert newest(stage, made.id) != first


def test_who_changed_the_account_does_not_approve_the_payment(stage: WorkflowStage) -> None:
    """The person who changed the field that is read is barred; an address may be anybody's."""
    vendor, payment = paying(stage)
    supplier = stage.create(vendor, "carl", number="DE-GOOD")
    edit(stage, supplier, "app2", amount=7)
    edit(stage, supplier, "app1", number="DE-NEW")
    made = stage.create(payment, "mia", vendor=str(supplier.id))
    submit(stage, made, "mia")
    assert vote(stage, made.id, "app1") == "SEPARATION_OF_DUTIES"
    assert vote(stage, made.id, "app2") == APPROVED


def test_content_that_an_action_takes_from_another_document_has_its_authors(stage: WorkflowStage) -> None:
    vendor = stage.publish()
    fields = {
        **CONTRACT["fields"],
        "vendor": {"type": "ref", "entity_type": vendor, "reads": {"number": {"type": "string"}}},
    }
    take = {"kind": "update", "set": {"number": "{entity.vendor.number}"}}
    contract = {**CONTRACT, "fields": fields, "actions": {"post": take}}
    node = {"id": "post", "type": "action", "config": {"action": "post", "run_as": "system"}}
    entity_type = stage.publish(contract, checks={"nodes": [node]}, approval={"nodes": [LOOK]})
    supplier = stage.mutate(Create(vendor, {"amount": 1, "number": "DE-OF-APP1"}), "app1")
    made = stage.create(entity_type, "mia", vendor=str(supplier.document_id))
    submit(stage, made, "mia")
    assert vote(stage, made.id, "app1") == "SEPARATION_OF_DUTIES"
    assert vote(stage, made.id, "app2") == APPROVED
