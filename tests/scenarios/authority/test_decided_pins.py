"""A request that decides pins what is read of other documents: what was decided is what is used behind it."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member
from signet.engine.instances.explain import explain
from signet.store.tenants.tenants import save_members
from tests.scenarios.authority.acts import add_endpoint, edit, submit, vote
from tests.scenarios.authority.test_pointed_refs import APPROVED, LOOK, told
from tests.support.workflow_stage import CALL, CONTRACT, Made, WorkflowStage, standing_stage

PAY = {
    "id": "pay",
    "type": "webhook_out",
    "config": {"endpoint": "erp", "payload": {"account": "{entity.vendor.number}"}},
}
HELD = {**CALL, "config": {"endpoint": "erp", "payload": {"account": "before"}}}


@pytest.fixture(scope="module")
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        people = ("app1", "app2", "carl", "mia", "vera")
        members = [Member(user_id=name, display_name=name, roles=("voter", "admin")) for name in people]
        with made.standing.company.database.transaction(made.tenant_id) as connection:
            save_members(connection, made.tenant_id, tuple(members), COMMAND_LINE)
        add_endpoint(made)
        yield made


def publish(stage: WorkflowStage, **slots: Mapping[str, Any]) -> tuple[str, str]:
    """Publish vendors, and orders that a request which decides releases."""
    vendor = stage.publish()
    reads = {"number": {"type": "string"}, "amount": {"type": "int"}}
    contract = {
        **CONTRACT,
        "fields": {**CONTRACT["fields"], "vendor": {"type": "ref", "entity_type": vendor, "reads": reads}},
        "states": {**CONTRACT["states"], "released": {"edit": "locked", "settled": True}},
        "transitions": {
            **CONTRACT["transitions"],
            "release": {"from": ["active"], "to": "released", "kind": "requested"},
            "reopen": {"from": ["released"], "to": "active", "kind": "requested"},
            "recall": {"from": ["active", "released"], "to": "cancelled", "kind": "interrupting"},
        },
        "slots": {
            **CONTRACT["slots"],
            "releasing": {"transition": "release"},
            "paying": {"transition": "release", "position": "after"},
            "recalling": {"transition": "recall", "position": "after"},
        },
        "separation_of_duties": {"deciding": ["release", "recall"]},
    }
    return vendor, stage.publish(contract, **slots)


def make_order(stage: WorkflowStage, vendor: str, order: str) -> tuple[Made, Made]:
    supplier = stage.create(vendor, "mia", number="DE-GOOD")
    made = stage.create(order, "carl", vendor=str(supplier.id))
    submit(stage, made, "carl")
    return supplier, made


def ask(stage: WorkflowStage, made: Made, transition: str = "release") -> None:
    stage.ask(made.id, transition, "app1")
    stage.drain()


def answer(stage: WorkflowStage, made: Made) -> None:
    stage.answer(stage.instance_of(made.id), body={})
    stage.drain()
    stage.check_rebuild(stage.instance_of(made.id))


def paid(stage: WorkflowStage, made: Made) -> list[str]:
    return [account for account in told(stage, made.id) if account != "before"]


def in_turn(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    return {"nodes": [first, second], "edges": [{"source": first["id"], "target": second["id"]}]}


def test_behind_a_request_that_decides_the_account_is_that_of_the_decision(stage: WorkflowStage) -> None:
    """Vera changes the account while a call behind the gate waits."""
    supplier, made = make_order(stage, *publish(stage, paying=in_turn(HELD, PAY)))
    ask(stage, made)
    assert stage.status_of(made.id) == "released"
    edit(stage, supplier, "vera", number="DE-FRAUD")
    answer(stage, made)
    assert paid(stage, made) == ["DE-GOOD"]


def test_what_changes_before_the_gate_is_asked_for_again(stage: WorkflowStage) -> None:
    """The lawful way beside it: who asks again decides about what holds now."""
    supplier, made = make_order(stage, *publish(stage, releasing={"nodes": [HELD]}, paying={"nodes": [PAY]}))
    ask(stage, made)
    edit(stage, supplier, "vera", number="DE-NEW")
    answer(stage, made)
    (status, outcome) = stage.standing.row(
        "SELECT status, outcome FROM transition_requests WHERE document_id = %s ORDER BY id DESC LIMIT 1",
        made.id,
    )
    assert (status, stage.status_of(made.id), paid(stage, made)) == ("refused", "active", [])
    assert outcome == "vendor leads to something else now than when this was asked for"
    ask(stage, made)
    answer(stage, made)
    assert (stage.status_of(made.id), paid(stage, made)) == ("released", ["DE-NEW"])


def test_who_changes_it_and_changes_it_back_is_found(stage: WorkflowStage) -> None:
    """A step between could have read what held for a moment."""
    supplier, made = make_order(stage, *publish(stage, releasing={"nodes": [HELD]}, paying={"nodes": [PAY]}))
    ask(stage, made)
    for number in ("DE-FRAUD", "DE-GOOD"):
        edit(stage, supplier, "vera", number=number)
    answer(stage, made)
    assert (stage.status_of(made.id), paid(stage, made)) == ("active", [])


def test_another_field_may_change(stage: WorkflowStage) -> None:
    """The definition reads the number alone, though the contract allows the amount too."""
    supplier, made = make_order(stage, *publish(stage, releasing={"nodes": [HELD]}, paying={"nodes": [PAY]}))
    ask(stage, made)
    edit(stage, supplier, "vera", amount=9)
    answer(stage, made)
    assert (stage.status_of(made.id), paid(stage, made)) == ("released", ["DE-GOOD"])


def test_what_an_approval_has_pinned_goes_before(stage: WorkflowStage) -> None:
    """App2 has approved the good account. A request that decides later does not undo it."""
    way = publish(stage, approval={"nodes": [LOOK]}, paying={"nodes": [PAY]})
    supplier, made = make_order(stage, *way)
    assert vote(stage, made.id, "app2") == APPROVED
    edit(stage, supplier, "vera", number="DE-FRAUD")
    ask(stage, made)
    assert (stage.status_of(made.id), paid(stage, made)) == ("released", ["DE-GOOD"])


def test_a_later_decision_goes_before_an_earlier_one(stage: WorkflowStage) -> None:
    again = {**PAY, "id": "again"}
    supplier, made = make_order(stage, *publish(stage, paying={"nodes": [PAY]}, recalling={"nodes": [again]}))
    ask(stage, made)
    edit(stage, supplier, "vera", number="DE-NEW")
    ask(stage, made, "recall")
    assert paid(stage, made) == ["DE-GOOD", "DE-NEW"]


def test_an_explanation_names_the_request(stage: WorkflowStage) -> None:
    _, made = make_order(stage, *publish(stage, paying={"nodes": [PAY]}))
    ask(stage, made)
    database, contracts = stage.standing.company.database, stage.caches().contracts
    explained = explain(database, contracts, stage.tenant_id, stage.instance_of(made.id))
    (request,) = stage.standing.row(
        "SELECT id FROM transition_requests WHERE document_id = %s ORDER BY id DESC LIMIT 1", made.id
    )
    (reference,) = explained.approved_references
    assert reference.text.endswith(f"as of version 1, by request {request}.")


def test_a_request_of_an_older_release_is_asked_for_again(stage: WorkflowStage) -> None:
    _, made = make_order(stage, *publish(stage, releasing={"nodes": [HELD]}, paying={"nodes": [PAY]}))
    ask(stage, made)
    stage.standing.run("UPDATE transition_requests SET pins = NULL WHERE document_id = %s", made.id)
    answer(stage, made)
    assert (stage.status_of(made.id), paid(stage, made)) == ("active", [])
