"""Values that an action or a rule takes of another document: they are pinned like those of the definition."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from signet.core.documents.rules import Rule
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member
from signet.core.validation.strict_model import parse_strictly
from signet.store.definitions.rules import save_rule
from signet.store.tenants.tenants import save_members
from tests.scenarios.authority.acts import edit, newest, submit, vote
from tests.support.core.approval_policies import role
from tests.support.workflow_stage import CONTRACT, Made, WorkflowStage, standing_stage

LOOK = {"id": "look", "type": "approval", "config": {"approvers": [role("voter")]}}
ACCOUNT = "{entity.vendor.number}"
APPROVED = "approved"


@pytest.fixture
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        members = [
            Member(user_id=name, display_name=name, roles=("voter", "admin"))
            for name in ("app1", "app2", "carl", "mia", "rosa")
        ]
        with made.standing.company.database.transaction(made.tenant_id) as connection:
            save_members(connection, made.tenant_id, tuple(members), COMMAND_LINE)
        yield made


def paying_by(
    stage: WorkflowStage, action: str, *, set_by_action: Mapping[str, Any], edit_active: str = "locked"
) -> tuple[str, str]:
    """Publish vendors, and payments that are paid by an action. Nothing of the patch names the account."""
    vendor = stage.publish()
    reads = {"number": {"type": "string"}, "amount": {"type": "int"}}
    fields = {**CONTRACT["fields"], "vendor": {"type": "ref", "entity_type": vendor, "reads": reads}}
    states = {
        **CONTRACT["states"],
        "active": {"edit": edit_active, "settled": True},
        "paid": {"edit": "locked", "settled": True},
    }
    contract = {
        **CONTRACT,
        "fields": fields,
        "states": states,
        "transitions": {
            **CONTRACT["transitions"],
            "pay": {"from": ["active"], "to": "paid", "kind": "requested"},
        },
        "slots": {**CONTRACT["slots"], "paying": {"transition": "pay"}},
        "actions": {
            "take": {"kind": "update", "set": dict(set_by_action)},
            "unused": {"kind": "update", "set": {"amount": "{entity.vendor.amount}"}},
        },
    }
    node = {"id": "take", "type": "action", "config": {"action": action, "run_as": "system"}}
    return vendor, stage.publish(contract, approval={"nodes": [LOOK]}, paying={"nodes": [node]})


def asked_about(
    stage: WorkflowStage, vendor: str, payment: str, supplied_by: str = "mia"
) -> tuple[Made, Made]:
    supplier = stage.create(vendor, supplied_by, number="DE-GOOD")
    made = stage.create(payment, "carl", vendor=str(supplier.id))
    submit(stage, made, "carl")
    return supplier, made


def pay(stage: WorkflowStage, document: Made) -> str:
    """Pay, and return the account that was taken."""
    stage.ask(document.id, "pay", "carl")
    stage.drain()
    assert stage.status_of(document.id) == "paid", stage.instance(stage.instance_of(document.id))["reason"]
    return str(stage.standing.row("SELECT data ->> 'number' FROM documents WHERE id = %s", document.id)[0])


def save(stage: WorkflowStage, entity_type: str, action: Mapping[str, Any], condition: str = "true") -> None:
    """Save a rule of rosa's that runs before each action of the document."""
    document = {
        "name": "watch",
        "entity_type": entity_type,
        "phase": "before",
        "operations": ["action"],
        "condition": {"expression": condition},
        "actions": [action],
    }
    rule, findings = parse_strictly(Rule, document)
    assert rule is not None, findings
    with stage.standing.company.database.transaction(stage.tenant_id) as connection:
        save_rule(connection, stage.tenant_id, rule, frozenset({"rosa"}))


# --- actions ---


def test_an_account_that_an_action_takes_is_asked_about_again(stage: WorkflowStage) -> None:
    supplier, made = asked_about(stage, *paying_by(stage, "take", set_by_action={"number": ACCOUNT}))
    first = newest(stage, made.id)
    edit(stage, supplier, "mia", number="DE-EVIL")
    assert vote(stage, made.id, "app1") == "APPROVAL_STALE"
    stage.drain()
    assert newest(stage, made.id) != first
    assert vote(stage, made.id, "app1") == APPROVED
    assert pay(stage, made) == "DE-EVIL", "app1 has seen it"


def test_an_action_takes_the_account_that_was_approved(stage: WorkflowStage) -> None:
    supplier, made = asked_about(stage, *paying_by(stage, "take", set_by_action={"number": ACCOUNT}))
    assert vote(stage, made.id, "app1") == APPROVED
    edit(stage, supplier, "mia", number="DE-EVIL")
    assert pay(stage, made) == "DE-GOOD"


def test_who_wrote_the_account_that_an_action_takes_does_not_approve(stage: WorkflowStage) -> None:
    way = paying_by(stage, "take", set_by_action={"number": ACCOUNT})
    _, made = asked_about(stage, *way, supplied_by="app1")
    assert vote(stage, made.id, "app1") == "SEPARATION_OF_DUTIES"
    assert vote(stage, made.id, "app2") == APPROVED
    assert pay(stage, made) == "DE-GOOD"


def test_an_action_that_no_node_runs_pins_nothing(stage: WorkflowStage) -> None:
    """The lawful way beside it: another field of the vendor is nobody's concern here."""
    way = paying_by(stage, "take", set_by_action={"number": ACCOUNT})
    supplier, made = asked_about(stage, *way)
    edit(stage, supplier, "app1", amount=2)
    assert vote(stage, made.id, "app1") == APPROVED


# --- rules ---


def test_an_account_that_a_rule_sets_is_pinned_and_not_set_behind_the_gate(
    stage: WorkflowStage,
) -> None:
    way = paying_by(stage, "take", set_by_action={"is_posted": True}, edit_active="editable")
    save(stage, way[1], {"kind": "set", "values": {"number": ACCOUNT}})
    supplier, made = asked_about(stage, *way, supplied_by="app1")
    assert vote(stage, made.id, "app1") == "SEPARATION_OF_DUTIES"
    assert vote(stage, made.id, "app2") == APPROVED
    edit(stage, supplier, "app1", number="DE-EVIL")
    stage.ask(made.id, "pay", "carl")
    stage.drain()
    (number,) = stage.standing.row("SELECT data ->> 'number' FROM documents WHERE id = %s", made.id)
    assert (stage.status_of(made.id), number) == ("active", None), "a rule sets nothing behind the gate"


def test_a_rule_that_rejects_reads_what_holds_now(stage: WorkflowStage) -> None:
    """It stops a payment to a vendor that was locked after the approval."""
    way = paying_by(stage, "take", set_by_action={"is_posted": True})
    save(stage, way[1], {"kind": "reject", "message": "locked"}, "entity.vendor.amount > 1")
    supplier, made = asked_about(stage, *way)
    assert vote(stage, made.id, "app1") == APPROVED
    edit(stage, supplier, "mia", amount=2)
    stage.ask(made.id, "pay", "carl")
    stage.drain()
    assert stage.status_of(made.id) == "active"
