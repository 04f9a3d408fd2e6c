"""Persons behind what a document reads of another one: who deleted it, who wrote what acts have copied."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from signet.core.errors import Rejected
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member
from signet.engine.documents.commands import Delete, RunAction
from signet.store.tenants.tenants import save_members
from tests.scenarios.authority.acts import edit, submit, vote
from tests.scenarios.authority.test_persons_of_conditions import APPROVED, DUTIES, LOOK, TIER_B, where
from tests.support.workflow_stage import CONTRACT, Made, WorkflowStage, standing_stage

PLAIN = {"id": "other", "type": "condition", "config": {}}
TIERED = where(TIER_B, PLAIN)


@pytest.fixture(scope="module")
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        people = ("vlad", "app2", "carl", "mia")
        members = [Member(user_id=name, display_name=name, roles=("voter", "admin")) for name in people]
        with made.standing.company.database.transaction(made.tenant_id) as connection:
            save_members(connection, made.tenant_id, tuple(members), COMMAND_LINE)
        yield made


def contract_of(vendor: str, **changes: Any) -> dict[str, Any]:
    reads = {"number": {"type": "string"}, "status": {"type": "string"}}
    ref = {"type": "ref", "entity_type": vendor, "reads": reads}
    return {**CONTRACT, "fields": {**CONTRACT["fields"], "vendor": ref}, **changes}


def order_about(stage: WorkflowStage, supplier: Made, order: str) -> Made:
    return stage.create(order, "carl", vendor=str(supplier.id), number="DE-A")


def check_votes(stage: WorkflowStage, made: Made) -> None:
    """Vlad does not decide about the order, and app2 does."""
    assert vote(stage, made.id, "vlad") == DUTIES
    assert vote(stage, made.id, "app2") == APPROVED


def delete(stage: WorkflowStage, document: Made, user_id: str) -> None:
    stage.mutate(Delete(document.id, stage.version_of(document.id)), user_id)


@pytest.mark.parametrize("is_in_one_wave", [True, False])
def test_who_deletes_what_a_condition_reads_does_not_approve_what_it_let_past(
    stage: WorkflowStage, is_in_one_wave: bool
) -> None:
    vendor = stage.publish()
    order = stage.publish(contract_of(vendor), checks=TIERED, approval={"nodes": [LOOK]})
    supplier = stage.create(vendor, "mia", number="B")
    made = order_about(stage, supplier, order)
    delete(stage, supplier, "vlad")
    if not is_in_one_wave:
        stage.drain()
    submit(stage, made, "carl")
    check_votes(stage, made)


def test_to_delete_what_was_read_does_not_lift_the_own_bar(stage: WorkflowStage) -> None:
    vendor = stage.publish()
    order = stage.publish(contract_of(vendor), checks=TIERED, approval={"nodes": [LOOK]})
    supplier = stage.create(vendor, "mia", number="A")
    edit(stage, supplier, "vlad", number="B")
    made = order_about(stage, supplier, order)
    submit(stage, made, "carl")
    assert vote(stage, made.id, "vlad") == DUTIES
    delete(stage, supplier, "vlad")
    assert vote(stage, made.id, "vlad") == "APPROVAL_STALE"
    stage.drain()
    check_votes(stage, made)


def test_who_has_typed_another_field_alone_may_decide(stage: WorkflowStage) -> None:
    """The lawful way: nothing reads the amount, and a person has typed each value."""
    vendor = stage.publish()
    order = stage.publish(contract_of(vendor), checks=TIERED, approval={"nodes": [LOOK]})
    supplier = stage.create(vendor, "mia", number="B")
    edit(stage, supplier, "vlad", amount=7)
    made = order_about(stage, supplier, order)
    submit(stage, made, "carl")
    assert vote(stage, made.id, "vlad") == APPROVED


@pytest.mark.parametrize("way", ["person", "step"])
def test_who_wrote_what_an_action_copies_stands_behind_the_copy(stage: WorkflowStage, way: str) -> None:
    """Vlad writes one field, and carl or a step of the vendor runs the action that copies it."""
    copied = {"kind": "update", "set": {"number": "{entity.memo}"}}
    fields = {**CONTRACT["fields"], "memo": {"type": "string"}}
    run = {"id": "copy", "type": "action", "config": {"action": "copy", "run_as": "system"}}
    slots: Mapping[str, Any] = {"checks": {"nodes": [run]}} if way == "step" else {}
    vendor = stage.publish({**CONTRACT, "fields": fields, "actions": {"copy": copied}}, **slots)
    order = stage.publish(contract_of(vendor), checks=TIERED, approval={"nodes": [LOOK]})
    supplier = stage.create(vendor, "mia", number="A", memo="A")
    edit(stage, supplier, "vlad", memo="B")
    if way == "step":
        submit(stage, supplier, "carl")
    else:
        stage.mutate(RunAction(supplier.id, stage.version_of(supplier.id), "copy", {}), "carl")
    made = order_about(stage, supplier, order)
    submit(stage, made, "mia")
    check_votes(stage, made)


def test_who_wrote_what_a_gate_asked_stands_behind_the_status(stage: WorkflowStage) -> None:
    submit_ = {**CONTRACT["transitions"]["submit"], "condition": "entity.number == 'B'"}
    transitions = {**CONTRACT["transitions"], "submit": submit_}
    vendor = stage.publish({**CONTRACT, "transitions": transitions})
    of_status = where("entity.vendor.status == 'draft'", PLAIN)
    order = stage.publish(contract_of(vendor), checks=of_status, approval={"nodes": [LOOK]})
    supplier = stage.create(vendor, "mia", number="A")
    edit(stage, supplier, "vlad", number="B")
    submit(stage, supplier, "carl")
    made = order_about(stage, supplier, order)
    submit(stage, made, "mia")
    check_votes(stage, made)


def gated_by_group(stage: WorkflowStage, gate: str, **edited: Any) -> tuple[Made, str]:
    """Make a vendor whose gate reads its group, which vlad has edited, and let it pass that gate last.

    Return the vendor, and its type.
    """
    group = stage.publish()
    transitions = {name: dict(one) for name, one in CONTRACT["transitions"].items()}
    transitions[gate]["condition"] = "entity.group.number == 'B'"
    ref = {"type": "ref", "entity_type": group, "reads": {"number": {"type": "string"}}}
    contract = {**CONTRACT, "fields": {**CONTRACT["fields"], "group": ref}, "transitions": transitions}
    waits: Mapping[str, Any] = {"approval": {"nodes": [LOOK]}} if gate == "submit" else {}
    vendor = stage.publish(contract, **waits)
    grouped = stage.create(group, "mia", number="A" if "number" in edited else "B")
    edit(stage, grouped, "vlad", **edited)
    supplier = stage.create(vendor, "mia", number="A", group=str(grouped.id))
    stage.ask(supplier.id, "cancel" if gate == "cancel" else "submit", "mia")
    stage.drain()
    assert stage.status_of(supplier.id) == PASSED[gate]
    return supplier, vendor


PASSED = {"submit": "submitted", "approve": "active", "cancel": "cancelled"}
OF_STATUS = where("entity.vendor.status == 'draft'", PLAIN)


@pytest.mark.parametrize("gate", PASSED)
def test_who_wrote_what_a_gate_read_of_others_stands_behind_the_status(
    stage: WorkflowStage, gate: str
) -> None:
    """The gate is requested, automatic or interrupting."""
    supplier, vendor = gated_by_group(stage, gate, number="B")
    order = stage.publish(contract_of(vendor), checks=OF_STATUS, approval={"nodes": [LOOK]})
    made = order_about(stage, supplier, order)
    submit(stage, made, "mia")
    check_votes(stage, made)


@pytest.mark.parametrize("gate", PASSED)
def test_who_wrote_what_no_gate_read_does_not_stand_behind_the_status(
    stage: WorkflowStage, gate: str
) -> None:
    """The lawful way: vlad has changed another field of the group."""
    supplier, vendor = gated_by_group(stage, gate, amount=7)
    order = stage.publish(contract_of(vendor), checks=OF_STATUS, approval={"nodes": [LOOK]})
    made = order_about(stage, supplier, order)
    submit(stage, made, "mia")
    assert vote(stage, made.id, "vlad") == APPROVED


def test_who_wrote_what_a_gate_read_does_not_decide_by_a_request(stage: WorkflowStage) -> None:
    """The request that decides may lead to the status of the vendor."""
    supplier, vendor = gated_by_group(stage, "approve", number="B")
    duties = {"deciding": ["submit"]}
    made = order_about(
        stage, supplier, stage.publish(contract_of(vendor, separation_of_duties=duties), checks=OF_STATUS)
    )
    with pytest.raises(Rejected) as caught:
        stage.ask(made.id, "submit", "vlad")
    assert caught.value.code == DUTIES
    stage.ask(made.id, "submit", "app2")
    stage.drain()
    assert stage.status_of(made.id) == "active"


@pytest.mark.parametrize("on", ["create", "transition"])
def test_who_wrote_what_a_rule_let_past_does_not_approve_it(stage: WorkflowStage, on: str) -> None:
    """A rule rejects orders to vendors of another tier. It sets nothing, and no step reads the tier."""
    vendor = stage.publish()
    order = stage.publish(contract_of(vendor), approval={"nodes": [LOOK]})
    stage.add_rule(order, "tiers", "entity.vendor.number != 'B'", on=on)
    supplier = stage.create(vendor, "mia", number="A")
    edit(stage, supplier, "vlad", number="B")
    made = order_about(stage, supplier, order)
    submit(stage, made, "carl")
    check_votes(stage, made)


def test_who_wrote_what_lets_a_person_ask_does_not_approve_what_they_ask(stage: WorkflowStage) -> None:
    """The permission to ask has a condition, and mia has repaired the value that it read."""
    vendor = stage.publish()
    contract = contract_of(vendor, conditions={"thing:submit": TIER_B})
    contract["transitions"] = {
        **CONTRACT["transitions"],
        "submit": {**CONTRACT["transitions"]["submit"], "permission": "thing:submit"},
    }
    order = stage.publish(contract, approval={"nodes": [LOOK]})
    supplier = stage.create(vendor, "mia", number="A")
    edit(stage, supplier, "vlad", number="B")
    made = order_about(stage, supplier, order)
    stage.ask(made.id, "submit", "carl")
    edit(stage, supplier, "mia", number="A")
    edit(stage, supplier, "mia", number="B")
    stage.drain()
    check_votes(stage, made)


def test_who_wrote_what_makes_a_step_fail_does_not_approve_where_its_error_leads(
    stage: WorkflowStage,
) -> None:
    """The receiver does not take the text: the step takes the edge for errors. Mia repairs it then."""
    vendor = stage.publish()
    payload = {"memo": "{entity.vendor.number}"}
    note = {"id": "note", "type": "webhook_out", "config": {"endpoint": "erp", "payload": payload}}
    edges = [
        {"source": "note", "target": "look"},
        {"source": "note", "target": "rest", "on": "error"},
        {"source": "look", "target": "rest"},
    ]
    checks = {"nodes": [note, LOOK, {**PLAIN, "id": "rest"}], "edges": edges}
    order = stage.publish(contract_of(vendor), checks=checks, approval={"nodes": [LOOK]})
    supplier = stage.create(vendor, "mia", number="A")
    edit(stage, supplier, "vlad", number="A" * 30)
    made = order_about(stage, supplier, order)
    submit(stage, made, "carl")
    stage.answer(made.instance_id, error="ANSWERED: 400")
    stage.drain()
    assert [node for node in stage.nodes(made.instance_id) if node.endswith((":note", ":look", ":rest"))] == [
        "usr:checks:note",
        "usr:checks:rest",
        "usr:approval:look",
    ]
    edit(stage, supplier, "mia", number="A")
    assert vote(stage, made.id, "vlad") == "APPROVAL_STALE"
    stage.drain()
    check_votes(stage, made)
