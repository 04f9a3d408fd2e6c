"""A new instance under a newer definition reads nothing that no approval of its document has pinned."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member
from signet.engine.cache import CompiledCache
from signet.engine.instances.actions import Instances
from signet.store.tenants.tenants import save_members
from tests.scenarios.authority.acts import add_endpoint, edit, submit, vote
from tests.support.core.approval_policies import role
from tests.support.named_things import publish_patch
from tests.support.workflow_stage import CONTRACT, Made, WorkflowStage, standing_stage

APPROVED = "approved"
LOOK = {"id": "look", "type": "approval", "config": {"approvers": [role("voter")], "quorum": "any"}}


def pay(text: str) -> Mapping[str, Any]:
    return {
        "id": "pay",
        "type": "webhook_out",
        "config": {"endpoint": "erp", "payload": {"account": text}},
    }


OWN, OF_VENDOR = pay("{entity.number}"), pay("{entity.vendor.number}")
COPY = {"id": "copy", "type": "script", "config": {"set": {"account": "entity.vendor.number"}}}
FROM_COPY = pay("{context.account}")
COPIED = {"nodes": [COPY, FROM_COPY], "edges": [{"source": "copy", "target": "pay"}]}


@pytest.fixture(scope="module")
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        members = [
            Member(user_id=name, display_name=name, roles=("voter", "admin"))
            for name in ("app1", "carl", "vera")
        ]
        with made.standing.company.database.transaction(made.tenant_id) as connection:
            save_members(connection, made.tenant_id, tuple(members), COMMAND_LINE)
        add_endpoint(made)
        yield made


def approved(stage: WorkflowStage, **slots: Any) -> tuple[str, Made, Made]:
    """Have app1 approve carl's payment; it rests in `active`, where carl may ask for `pay`."""
    vendor = stage.publish()
    ref = {"type": "ref", "entity_type": vendor, "reads": {"number": {"type": "string"}}}
    contract = {
        **CONTRACT,
        "fields": {**CONTRACT["fields"], "vendor": ref},
        "states": {**CONTRACT["states"], "paid": {"edit": "locked", "settled": True}},
        "transitions": {
            **CONTRACT["transitions"],
            "pay": {"from": ["active"], "to": "paid", "kind": "requested"},
        },
        "slots": {**CONTRACT["slots"], "paying": {"transition": "pay"}},
    }
    payment = stage.publish(contract, approval={"nodes": [LOOK]}, **slots)
    supplier = stage.create(vendor, "vera", number="DE-GOOD")
    made = stage.create(payment, "carl", number="DE-OWN", vendor=str(supplier.id))
    submit(stage, made, "carl")
    assert vote(stage, made.id, "app1") == APPROVED
    assert stage.status_of(made.id) == "active"
    return payment, supplier, made


def paid(stage: WorkflowStage, document: Made) -> list[str]:
    rows = stage.standing.rows(
        "SELECT e.payload_json #>> '{payload,account}' FROM workflow_side_effects_outbox e"
        " JOIN workflow_instances i ON i.tenant_id = e.tenant_id AND i.id = e.instance_id"
        " WHERE i.entity_id = %s ORDER BY e.id",
        document.id,
    )
    return [row[0] for row in rows]


def ask_to_pay(stage: WorkflowStage, supplier: Made, made: Made) -> None:
    edit(stage, supplier, "vera", number="DE-FRAUD")
    stage.ask(made.id, "pay", "carl")
    stage.drain()


def cancel(stage: WorkflowStage, document: Made) -> None:
    company = stage.standing.company
    operating = Instances(company.database, stage.caches(), CompiledCache())
    instance_id = stage.instance_of(document.id)
    version = stage.instance(instance_id)["version"]
    operating.cancel(company.caller("dave", "admin"), instance_id, version, "stuck")


def incidents(stage: WorkflowStage, document: Made) -> list[str]:
    rows = stage.standing.rows(
        "SELECT code FROM incidents WHERE entity_id = %s AND closed_at IS NULL", document.id
    )
    return [row[0] for row in rows]


@pytest.mark.parametrize("slot", [{"nodes": [OF_VENDOR]}, COPIED], ids=["call", "script"])
def test_a_newer_definition_reads_nothing_that_was_not_approved(
    stage: WorkflowStage, slot: Mapping[str, Any]
) -> None:
    payment, supplier, made = approved(stage, paying={"nodes": [OWN]})
    stage.publish_next(payment, approval={"nodes": [LOOK]}, paying=slot)
    ask_to_pay(stage, supplier, made)
    assert paid(stage, made) == []
    assert incidents(stage, made) == ["READS_UNPINNED"]
    assert stage.status_of(made.id) == "active"
    stage.check_rebuild(stage.instance_of(made.id))


def test_publishing_it_warns(stage: WorkflowStage) -> None:
    payment, _, _ = approved(stage, paying={"nodes": [OWN]})
    base = {"entity_type": payment, "envelope_version": 1}
    asked = {"approval": {"nodes": [LOOK]}}
    for number, warned in ((OWN, []), (OF_VENDOR, ["READS_UNPINNED_LATER"]), (OF_VENDOR, [])):
        slots = {**asked, "paying": {"nodes": [number]}}
        published = publish_patch(stage.standing.company, {"patch": "own", "base": base, "slots": slots})
        found = [finding for finding in published.findings if finding.code == "READS_UNPINNED_LATER"]
        assert [finding.code for finding in found] == warned
        assert all("vendor.number" in finding.sentence for finding in found)


def test_a_third_definition_does_not_take_the_second_for_approved(stage: WorkflowStage) -> None:
    """Each new instance is judged by the definition under which people approved."""
    payment, supplier, made = approved(stage, paying={"nodes": [OWN]})
    stage.publish_next(payment, approval={"nodes": [LOOK]}, paying={"nodes": [OF_VENDOR]})
    ask_to_pay(stage, supplier, made)
    cancel(stage, made)
    stage.ask(made.id, "pay", "carl")
    stage.drain()
    assert (paid(stage, made), incidents(stage, made)) == ([], ["READS_UNPINNED"])


def test_a_newer_definition_reads_what_was_pinned(stage: WorkflowStage) -> None:
    """The lawful way: the older definition read the same, so that people saw the value, and it is paid."""
    payment, supplier, made = approved(stage, paying={"nodes": [OF_VENDOR]})
    stage.publish_next(payment, approval={"nodes": [LOOK]}, paying=COPIED)
    ask_to_pay(stage, supplier, made)
    assert paid(stage, made) == ["DE-GOOD"]
    assert incidents(stage, made) == []


def test_a_newer_definition_reads_the_document_itself(stage: WorkflowStage) -> None:
    payment, supplier, made = approved(stage, paying={"nodes": [OWN]})
    stage.publish_next(payment, approval={"nodes": [LOOK]}, paying={"nodes": [pay("to {entity.number}")]})
    ask_to_pay(stage, supplier, made)
    assert paid(stage, made) == ["to DE-OWN"]


def test_a_newer_definition_reads_what_people_are_asked_about_again(stage: WorkflowStage) -> None:
    """The lawful way: the request asks people itself, and they see what is read."""
    payment, supplier, made = approved(stage, paying={"nodes": [OWN]})
    then = {"nodes": [COPY, LOOK, FROM_COPY]}
    then["edges"] = [{"source": "copy", "target": "look"}, {"source": "look", "target": "pay"}]
    stage.publish_next(payment, approval={"nodes": [LOOK]}, paying=then)
    ask_to_pay(stage, supplier, made)
    assert (paid(stage, made), incidents(stage, made)) == ([], [])
