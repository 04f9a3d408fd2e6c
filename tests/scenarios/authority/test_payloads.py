"""Values of another document that the payload of a step takes over: who wrote them does not approve."""

from collections.abc import Iterator, Mapping
from typing import Any
from uuid import UUID

import pytest

from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member
from signet.store.tenants.tenants import save_members
from tests.scenarios.authority.acts import add_endpoint, edit, newest, submit, vote
from tests.support.core.approval_policies import role
from tests.support.workflow_stage import CALL, CONTRACT, Made, WorkflowStage, standing_stage

APPROVED, DUTIES = "approved", "SEPARATION_OF_DUTIES"
LOOK = {"id": "look", "type": "approval", "config": {"approvers": [role("voter")]}}
ACCOUNT = {"account": "{entity.vendor.number}"}
PAYLOAD = {"account": {"type": "string"}}
TAKE = {"kind": "update", "payload": PAYLOAD, "set": {"number": "{payload.account}"}}


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


def fill(**config: Any) -> Mapping[str, Any]:
    return {"id": "fill", "type": "action", "config": {"action": "fill", "run_as": "system", **config}}


def paying(
    stage: WorkflowStage, action: Mapping[str, Any], slot: str = "checks", **config: Any
) -> tuple[str, str]:
    """Publish vendors, and payments whose step in this slot runs the action with this payload."""
    vendor = stage.publish()
    ref = {"type": "ref", "entity_type": vendor, "reads": {"number": {"type": "string"}}}
    contract = {**CONTRACT, "fields": {**CONTRACT["fields"], "vendor": ref}, "actions": {"fill": action}}
    nodes = [CALL, fill(**config)] if slot == "posting" else [fill(**config)]
    edges = [{"source": "call", "target": "fill"}] if slot == "posting" else []
    slots = {"approval": {"nodes": [LOOK]}, slot: {"nodes": nodes, "edges": edges}}
    return vendor, stage.publish(contract, **slots)


def editors_of(stage: WorkflowStage, document_id: UUID) -> list[str]:
    rows = stage.standing.rows(
        "SELECT unnest(s.persons) FROM documents d JOIN responsible_sets s ON s.tenant_id = d.tenant_id"
        " AND s.hash = d.editor_responsible WHERE d.id = %s",
        document_id,
    )
    return sorted(row[0] for row in rows)


def submitted(stage: WorkflowStage, vendor: str, payment: str) -> tuple[Made, Made]:
    """Submit a payment to a vendor whose number app1 wrote."""
    supplier = stage.create(vendor, "app1", number="DE-OF-APP1")
    made = stage.create(payment, "carl", vendor=str(supplier.id))
    submit(stage, made, "carl")
    return supplier, made


def ask_again(stage: WorkflowStage, supplier: Made, document: Made) -> None:
    """Let mia change the vendor, so that the pins name app1 no longer."""
    edit(stage, supplier, "mia", number="DE-OTHER")
    assert vote(stage, document.id, "app2") == "APPROVAL_STALE"
    stage.drain()


def test_who_wrote_what_a_payload_takes_over_does_not_approve(stage: WorkflowStage) -> None:
    """app1 writes the account, a step copies it, mia changes the vendor: what is paid is of app1."""
    supplier, made = submitted(stage, *paying(stage, TAKE, payload=ACCOUNT))
    first = newest(stage, made.id)
    ask_again(stage, supplier, made)
    assert newest(stage, made.id) != first
    assert vote(stage, made.id, "app1") == DUTIES
    assert vote(stage, made.id, "app2") == APPROVED
    assert stage.status_of(made.id) == "active"


def test_who_wrote_what_a_payload_takes_over_does_not_approve_what_is_made(stage: WorkflowStage) -> None:
    transfer = stage.publish(approval={"nodes": [LOOK]})
    make = {**TAKE, "kind": "create", "entity_type": transfer}
    submitted(stage, *paying(stage, make, payload=ACCOUNT))
    (made_id,) = stage.standing.row("SELECT id FROM documents WHERE entity_type = %s", transfer)
    derived = Made(made_id, stage.instance_of(made_id))
    submit(stage, derived, "carl")
    assert vote(stage, derived.id, "app1") == DUTIES
    assert vote(stage, derived.id, "app2") == APPROVED


def test_a_payload_that_reads_no_other_document_makes_nobody_an_editor(stage: WorkflowStage) -> None:
    """The lawful way beside it: the step copies what the document itself says."""
    supplier, made = submitted(stage, *paying(stage, TAKE, payload={"account": "{entity.amount}"}))
    assert editors_of(stage, made.id) == ["carl"]
    edit(stage, supplier, "mia", number="DE-OTHER")
    assert vote(stage, made.id, "app1") == APPROVED


def test_behind_the_gate_who_wrote_what_was_approved_counts(stage: WorkflowStage) -> None:
    """The step copies the pinned value: mia, who changed the vendor since, has no part in it."""
    add_endpoint(stage)
    vendor, payment = paying(stage, TAKE, slot="posting", payload=ACCOUNT)
    supplier, made = submitted(stage, vendor, payment)
    assert vote(stage, made.id, "app1") == DUTIES
    assert vote(stage, made.id, "app2") == APPROVED
    edit(stage, supplier, "mia", number="DE-OTHER")
    stage.answer(made.instance_id)
    stage.drain()
    query = "SELECT data ->> 'number' FROM documents WHERE id = %s"
    assert stage.standing.row(query, made.id) == ("DE-OF-APP1",)
    assert editors_of(stage, made.id) == ["app1", "carl"]
