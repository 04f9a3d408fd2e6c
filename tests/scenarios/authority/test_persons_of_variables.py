"""Persons travel with variables: a script that copies a value of another document hides nobody behind it."""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any
from uuid import UUID

import pytest

from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member
from signet.store.tenants.tenants import save_members
from tests.scenarios.authority.acts import add_endpoint, edit, submit, vote
from tests.support.core.approval_policies import role
from tests.support.workflow_stage import CONTRACT, Made, WorkflowStage, standing_stage

APPROVED, DUTIES = "approved", "SEPARATION_OF_DUTIES"
LOOK = {"id": "look", "type": "approval", "config": {"approvers": [role("voter")], "quorum": "any"}}
COPY = {"id": "copy", "type": "script", "config": {"set": {"account": "entity.vendor.number"}}}
ASK = {
    "id": "ask",
    "type": "webhook_out",
    "config": {"endpoint": "erp", "save_as": "account", "payload": {"account": "{entity.vendor.number}"}},
}
PAY = {
    "id": "pay",
    "type": "webhook_out",
    "config": {"endpoint": "erp", "payload": {"account": "{context.account}"}},
}
TAKE = {
    "kind": "update",
    "payload": {"account": {"type": "string"}},
    "set": {"number": "{payload.account}"},
}


@pytest.fixture(scope="module")
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        people = ("vlad", "app2", "carl", "mia", "cora")
        members = [Member(user_id=name, display_name=name, roles=("voter", "admin")) for name in people]
        with made.standing.company.database.transaction(made.tenant_id) as connection:
            save_members(connection, made.tenant_id, tuple(members), COMMAND_LINE)
        add_endpoint(made)
        yield made


def fill(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    return {
        "id": "fill",
        "type": "action",
        "config": {"action": "fill", "run_as": "system", "payload": payload},
    }


def in_turn(*nodes: Mapping[str, Any]) -> dict[str, Any]:
    edges = [{"source": one["id"], "target": other["id"]} for one, other in pairwise(nodes)]
    return {"nodes": list(nodes), "edges": edges}


def publish(stage: WorkflowStage, action: Mapping[str, Any] = TAKE, **slots: Any) -> tuple[str, str]:
    """Publish vendors, and payments to them with these slots."""
    vendor = stage.publish()
    ref = {"type": "ref", "entity_type": vendor, "reads": {"number": {"type": "string"}}}
    contract = {**CONTRACT, "fields": {**CONTRACT["fields"], "vendor": ref}, "actions": {"fill": action}}
    return vendor, stage.publish(contract, **slots)


def submitted(stage: WorkflowStage, vendor: str, payment: str) -> tuple[Made, Made]:
    """Submit carl's payment to a vendor whose number vlad wrote."""
    supplier = stage.create(vendor, "vlad", number="DE-OF-VLAD")
    made = stage.create(payment, "carl", vendor=str(supplier.id))
    submit(stage, made, "carl")
    return supplier, made


def editors_of(stage: WorkflowStage, document_id: UUID) -> list[str]:
    rows = stage.standing.rows(
        "SELECT unnest(s.persons) FROM documents d JOIN responsible_sets s ON s.tenant_id = d.tenant_id"
        " AND s.hash = d.editor_responsible WHERE d.id = %s",
        document_id,
    )
    return sorted(row[0] for row in rows)


def vote_of_vlad(stage: WorkflowStage, supplier: Made, made: Made) -> str:
    """Let mia repair the vendor, so that no pin names vlad any more; then vlad votes."""
    edit(stage, supplier, "mia", number="DE-GOOD")
    if (code := vote(stage, made.id, "vlad")) != "APPROVAL_STALE":
        return code
    stage.drain()
    return vote(stage, made.id, "vlad")


def test_who_wrote_what_a_script_has_read_does_not_approve_what_reads_the_variable(
    stage: WorkflowStage,
) -> None:
    slots = {"checks": {"nodes": [COPY]}, "approval": {"nodes": [LOOK]}, "posting": {"nodes": [PAY]}}
    supplier, made = submitted(stage, *publish(stage, **slots))
    assert vote_of_vlad(stage, supplier, made) == DUTIES
    assert vote(stage, made.id, "app2") == APPROVED
    assert stage.status_of(made.id) == "active"
    stage.check_rebuild(made.instance_id)


def test_who_wrote_what_a_payload_has_told_does_not_approve_what_reads_the_answer(
    stage: WorkflowStage,
) -> None:
    """The answer to the call is saved as a variable; the vendor is repaired before it comes."""
    slots = {"checks": {"nodes": [ASK]}, "approval": {"nodes": [LOOK]}, "posting": {"nodes": [PAY]}}
    supplier, made = submitted(stage, *publish(stage, **slots))
    edit(stage, supplier, "mia", number="DE-GOOD")
    stage.answer(made.instance_id, body="DE-OF-VLAD")
    stage.drain()
    assert vote(stage, made.id, "vlad") == DUTIES
    assert vote(stage, made.id, "app2") == APPROVED


def test_who_wrote_what_a_script_has_read_does_not_approve_what_a_step_copied(stage: WorkflowStage) -> None:
    checks = in_turn(COPY, fill({"account": "{context.account}"}))
    supplier, made = submitted(stage, *publish(stage, checks=checks, approval={"nodes": [LOOK]}))
    assert vote_of_vlad(stage, supplier, made) == DUTIES
    assert vote(stage, made.id, "app2") == APPROVED


def test_who_wrote_what_a_script_has_read_does_not_approve_what_is_made(stage: WorkflowStage) -> None:
    bill = stage.publish(approval={"nodes": [LOOK]})
    make = {**TAKE, "kind": "create", "entity_type": bill}
    checks = in_turn(COPY, fill({"account": "{context.account}"}))
    submitted(stage, *publish(stage, make, checks=checks))
    (made_id,) = stage.standing.row("SELECT id FROM documents WHERE entity_type = %s", bill)
    derived = Made(made_id, stage.instance_of(made_id))
    submit(stage, derived, "cora")
    assert vote(stage, derived.id, "vlad") == DUTIES
    assert vote(stage, derived.id, "app2") == APPROVED


def test_who_wrote_what_a_script_has_read_stands_behind_the_field_that_it_fills(stage: WorkflowStage) -> None:
    """A further document reads the field by a ref: a second hop hides nobody either."""
    checks = in_turn(COPY, fill({"account": "{context.account}"}))
    vendor, payment = publish(stage, checks=checks)
    _, made = submitted(stage, vendor, payment)
    ref = {"type": "ref", "entity_type": payment, "reads": {"number": {"type": "string"}}}
    contract = {**CONTRACT, "fields": {**CONTRACT["fields"], "payment": ref}}
    pay = {**PAY, "config": {"endpoint": "erp", "payload": {"account": "{entity.payment.number}"}}}
    bill = stage.publish(contract, approval={"nodes": [LOOK]}, posting={"nodes": [pay]})
    other = stage.create(bill, "cora", payment=str(made.id))
    submit(stage, other, "cora")
    assert vote(stage, other.id, "vlad") == DUTIES
    assert vote(stage, other.id, "app2") == APPROVED


def test_a_variable_of_what_the_document_says_itself_bars_nobody_else(stage: WorkflowStage) -> None:
    """The lawful way beside it: the script reads no other document, and vlad may approve."""
    own = {**COPY, "config": {"set": {"account": "entity.amount"}}}
    slots = {"checks": {"nodes": [own]}, "approval": {"nodes": [LOOK]}, "posting": {"nodes": [PAY]}}
    _, made = submitted(stage, *publish(stage, **slots))
    assert editors_of(stage, made.id) == []
    assert vote(stage, made.id, "vlad") == APPROVED
