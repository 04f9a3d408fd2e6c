"""Persons behind a condition: who changed what it reads approves nothing that was written because of it."""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

import pytest

from signet.core.documents.rules import Rule
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member
from signet.core.validation.strict_model import parse_strictly
from signet.engine.documents.commands import RunAction
from signet.store.definitions.rules import save_rule
from signet.store.tenants.tenants import save_members
from tests.scenarios.authority.acts import edit, submit, vote
from tests.support.core.approval_policies import role
from tests.support.workflow_stage import CONTRACT, Made, WorkflowStage, standing_stage

APPROVED, DUTIES = "approved", "SEPARATION_OF_DUTIES"
LOOK = {"id": "look", "type": "approval", "config": {"approvers": [role("voter")], "quorum": "any"}}
BEGIN: Mapping[str, Any] = {"id": "begin", "type": "condition", "config": {}}
TIER_B = "entity.vendor.number == 'B'"


@pytest.fixture(scope="module")
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        people = ("vlad", "app2", "carl", "mia", "cora")
        members = [Member(user_id=name, display_name=name, roles=("voter", "admin")) for name in people]
        with made.standing.company.database.transaction(made.tenant_id) as connection:
            save_members(connection, made.tenant_id, tuple(members), COMMAND_LINE)
        yield made


def contract_of(vendor: str, bill: str | None = None, **changes: Any) -> dict[str, Any]:
    """Make a contract of orders to vendors: steps write an account, or make a bill with it."""
    ref = {"type": "ref", "entity_type": vendor, "reads": {"number": {"type": "string"}}}
    payload = {"account": {"type": "string"}}
    fill = {"kind": "update", "payload": payload, "set": {"number": "{payload.account}"}}
    make = {"kind": "create", "entity_type": bill, "payload": payload, "set": {"number": "{payload.account}"}}
    return {
        **CONTRACT,
        "fields": {**CONTRACT["fields"], "vendor": ref},
        "actions": {"fill": fill} | ({"make": make} if bill is not None else {}),
        **changes,
    }


def run(action: str, account: str, name: str | None = None, **config: Any) -> Mapping[str, Any]:
    payload = {"account": account}
    return {
        "id": name or action,
        "type": "action",
        "config": {"action": action, "run_as": "system", "payload": payload, **config},
    }


def script(name: str, account: str) -> Mapping[str, Any]:
    return {"id": name, "type": "script", "config": {"set": {"account": f"'{account}'"}}}


def where(condition: str, bad: Mapping[str, Any], *last: Mapping[str, Any]) -> dict[str, Any]:
    """Fill a slot with a node that is run where the condition holds, and others behind it."""
    end = {"id": "rest", "type": "condition", "config": {}}
    behind = (*last, end)
    edges = [
        {"source": "begin", "target": bad["id"], "condition": condition, "priority": 1},
        {"source": "begin", "target": behind[0]["id"], "priority": 2},
        {"source": bad["id"], "target": behind[0]["id"]},
        *({"source": one["id"], "target": other["id"]} for one, other in pairwise(behind)),
    ]
    return {"nodes": [BEGIN, bad, *behind], "edges": edges}


def submitted(stage: WorkflowStage, vendor: str, order: str) -> tuple[Made, Made]:
    """Submit carl's order to mia's vendor, whose tier vlad has changed."""
    supplier = stage.create(vendor, "mia", number="A")
    edit(stage, supplier, "vlad", number="B")
    made = stage.create(order, "carl", vendor=str(supplier.id), number="DE-A")
    submit(stage, made, "carl")
    return supplier, made


def made_of(stage: WorkflowStage, bill: str) -> Made:
    (document_id,) = stage.standing.row("SELECT id FROM documents WHERE entity_type = %s", bill)
    return Made(document_id, stage.instance_of(document_id))


def check_bill(stage: WorkflowStage, bill: str) -> None:
    """Vlad does not decide about the bill, and app2 does."""
    derived = made_of(stage, bill)
    submit(stage, derived, "cora")
    assert vote(stage, derived.id, "vlad") == DUTIES
    assert vote(stage, derived.id, "app2") == APPROVED


SLOTS = {
    "made": where(TIER_B, run("make", "DE-FRAUD")),
    "variable": where(TIER_B, script("choose", "DE-FRAUD"), run("make", "{context.account}", save_as="made")),
}


@pytest.mark.parametrize("way", SLOTS)
def test_who_changed_what_an_edge_reads_does_not_approve_what_is_made_behind_it(
    stage: WorkflowStage, way: str
) -> None:
    """The edge decides whether a bill is made, or with which account."""
    vendor, bill = stage.publish(), stage.publish(approval={"nodes": [LOOK]})
    order = stage.publish(contract_of(vendor, bill), checks=SLOTS[way])
    _, made = submitted(stage, vendor, order)
    stage.check_rebuild(made.instance_id)
    check_bill(stage, bill)


def test_who_changed_what_an_edge_behind_an_approval_reads_does_not_approve_what_is_made(
    stage: WorkflowStage,
) -> None:
    """The edge is chosen when the approval ends, and not when it begins."""
    vendor, bill = stage.publish(), stage.publish(approval={"nodes": [LOOK]})
    make, rest = run("make", "DE-FRAUD"), {"id": "rest", "type": "condition", "config": {}}
    edges = [
        {"source": "look", "target": "make", "on": "approved", "condition": TIER_B, "priority": 1},
        {"source": "look", "target": "rest", "on": "approved", "priority": 2},
        {"source": "make", "target": "rest"},
    ]
    order = stage.publish(contract_of(vendor, bill), approval={"nodes": [LOOK, make, rest], "edges": edges})
    _, made = submitted(stage, vendor, order)
    assert vote(stage, made.id, "app2") == APPROVED
    check_bill(stage, bill)


@pytest.mark.parametrize("asks", ["permission", "transition", "rule"])
def test_who_changed_what_lets_a_step_act_does_not_approve_what_it_makes(
    stage: WorkflowStage, asks: str
) -> None:
    """The condition of the action's permission, that of the transition before it, or a rule node."""
    vendor, bill = stage.publish(), stage.publish(approval={"nodes": [LOOK]})
    changes: dict[str, Any] = {}
    if asks == "permission":
        changes["conditions"] = {"order:make": TIER_B}
    if asks == "transition":
        submit_ = {**CONTRACT["transitions"]["submit"], "condition": TIER_B}
        changes["transitions"] = {**CONTRACT["transitions"], "submit": submit_}
    contract = contract_of(vendor, bill, **changes)
    contract["actions"]["make"] |= {"permission": "order:make"} if asks == "permission" else {}
    make = run("make", "DE-FRAUD")
    ask = {"id": "ask", "type": "rule", "config": {"rules": ["tiers"]}}
    asking = {"nodes": [ask, make], "edges": [{"source": "ask", "target": "make"}]}
    order = stage.publish(contract)
    save_tiers(stage, order)
    slots = {"checks": asking if asks == "rule" else {"nodes": [make]}}
    stage.publish_next(order, 1, **(slots if asks != "transition" else {"posting": {"nodes": [make]}}))
    submitted(stage, vendor, order)
    check_bill(stage, bill)


def save_tiers(stage: WorkflowStage, order: str) -> None:
    """Save a rule that rejects orders to vendors of another tier; it is asked by a node alone."""
    document = {
        "name": "tiers",
        "entity_type": order,
        "phase": "before",
        "operations": ["delete"],
        "condition": {"expression": "entity.vendor.number != 'B'"},
        "actions": [{"kind": "reject", "message": "another tier"}],
    }
    rule, findings = parse_strictly(Rule, document)
    assert rule is not None, findings
    with stage.standing.company.database.transaction(stage.tenant_id) as connection:
        save_rule(connection, stage.tenant_id, rule, frozenset({"rudi"}))


def test_who_changed_what_lets_a_person_act_does_not_approve_what_they_make(stage: WorkflowStage) -> None:
    vendor, bill = stage.publish(), stage.publish(approval={"nodes": [LOOK]})
    contract = contract_of(vendor, bill, conditions={"order:make": TIER_B})
    contract["actions"]["make"] |= {"permission": "order:make"}
    order = stage.publish(contract)
    _, made = submitted(stage, vendor, order)
    stage.mutate(RunAction(made.id, stage.version_of(made.id), "make", {"account": "DE-FRAUD"}), "carl")
    stage.drain()
    check_bill(stage, bill)


def test_a_ref_that_is_pointed_elsewhere_lifts_no_bar(stage: WorkflowStage) -> None:
    """A step writes the account because of vlad's tier; carl then names another vendor."""
    vendor = stage.publish()
    slots = {"checks": where(TIER_B, run("fill", "DE-FRAUD")), "approval": {"nodes": [LOOK]}}
    order = stage.publish(contract_of(vendor), **slots)
    _, made = submitted(stage, vendor, order)
    assert vote(stage, made.id, "app2", "rejected") == "rejected"
    other = stage.create(vendor, "mia", number="A")
    edit(stage, made, "carl", vendor=str(other.id))
    submit(stage, made, "carl")
    assert vote(stage, made.id, "vlad") == DUTIES
    assert vote(stage, made.id, "app2") == APPROVED
    assert stage.standing.row("SELECT data ->> 'number' FROM documents WHERE id = %s", made.id) == (
        "DE-FRAUD",
    )


def test_a_condition_on_the_document_itself_bars_nobody_else(stage: WorkflowStage) -> None:
    """The lawful way: no condition reads the tier, and vlad approves."""
    vendor, bill = stage.publish(), stage.publish(approval={"nodes": [LOOK]})
    way = where("entity.number == 'DE-A'", run("make", "DE-FINE"))
    order = stage.publish(contract_of(vendor, bill), checks=way)
    submitted(stage, vendor, order)
    derived = made_of(stage, bill)
    submit(stage, derived, "cora")
    assert vote(stage, derived.id, "vlad") == APPROVED


def test_who_wrote_the_value_that_chose_the_way_stays_barred(
    stage: WorkflowStage,
) -> None:
    """Mia repairs the tier, and people are asked again. The way that vlad's tier has chosen stays."""
    vendor = stage.publish()
    plain = {"id": "other", "type": "condition", "config": {}}
    slots = {"checks": where(TIER_B, plain), "approval": {"nodes": [LOOK]}}
    order = stage.publish(contract_of(vendor), **slots)
    supplier, made = submitted(stage, vendor, order)
    edit(stage, supplier, "mia", number="A")
    assert vote(stage, made.id, "vlad") == "APPROVAL_STALE"
    stage.drain()
    assert vote(stage, made.id, "vlad") == DUTIES
    assert vote(stage, made.id, "app2") == APPROVED
