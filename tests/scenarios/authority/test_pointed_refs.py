"""A ref that a step points elsewhere behind the gate: what no approval has pinned is not read there."""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any
from uuid import UUID

import pytest

from signet.core.errors import Rejected
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member
from signet.engine.cache import CompiledCache
from signet.engine.documents.commands import RunAction
from signet.engine.instances.actions import Instances
from signet.engine.instances.document_restarts import Restarts
from signet.engine.instances.explain import explain
from signet.store.tenants.tenants import save_members
from tests.scenarios.authority.acts import add_endpoint, edit, submit, vote
from tests.support.core.approval_policies import role
from tests.support.operated_instances import version
from tests.support.workflow_stage import CONTRACT, Made, WorkflowStage, standing_stage

LOOK = {"id": "look", "type": "approval", "config": {"approvers": [role("voter")], "quorum": "any"}}
APPROVED = "approved"


@pytest.fixture(scope="module")
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        people = ("app2", "carl", "mia", "vera")
        members = [Member(user_id=name, display_name=name, roles=("voter", "admin")) for name in people]
        with made.standing.company.database.transaction(made.tenant_id) as connection:
            save_members(connection, made.tenant_id, tuple(members), COMMAND_LINE)
        add_endpoint(made)
        yield made


def point(field: str = "vendor", name: str = "point", **config: Any) -> Mapping[str, Any]:
    payload = {"to": f"{{entity.{field}}}"}
    return {
        "id": name,
        "type": "action",
        "config": {"action": "point", "run_as": "system", "payload": payload, **config},
    }


def pay(account: str = "{entity.target.number}", name: str = "pay") -> Mapping[str, Any]:
    return {
        "id": name,
        "type": "webhook_out",
        "config": {"endpoint": "erp", "payload": {"account": account}},
    }


def in_turn(*nodes: Mapping[str, Any]) -> dict[str, Any]:
    edges = [{"source": one["id"], "target": other["id"]} for one, other in pairwise(nodes)]
    return {"nodes": list(nodes), "edges": edges}


def contract_of(vendor: str, **changes: Any) -> dict[str, Any]:
    """Make a contract of bills with three refs to vendors, of which a step may set `target`."""
    ref = {
        "type": "ref",
        "entity_type": vendor,
        "reads": {"number": {"type": "string"}, "amount": {"type": "int"}},
    }
    to = {"to": {"type": "string"}, "note": {"type": "string"}}
    set_target = {"target": "{payload.to}"}
    return {
        **CONTRACT,
        "fields": {
            **CONTRACT["fields"],
            "vendor": ref,
            "other": ref,
            "target": ref,
            "plain": {"type": "string"},
        },
        "states": {**CONTRACT["states"], "paid": {"edit": "locked", "settled": True}},
        "transitions": {
            **CONTRACT["transitions"],
            "pay": {"from": ["active"], "to": "paid", "kind": "requested"},
        },
        "slots": {**CONTRACT["slots"], "paying": {"transition": "pay"}},
        "actions": {
            "point": {"kind": "update", "payload": to, "set": set_target},
            "copy": {"kind": "create", "entity_type": vendor, "set": {"number": "{entity.target.number}"}},
        },
        **changes,
    }


def publish(stage: WorkflowStage, **slots: Any) -> tuple[str, str]:
    vendor = stage.publish()
    return vendor, stage.publish(contract_of(vendor), approval={"nodes": [LOOK]}, **slots)


def approved(stage: WorkflowStage, vendor: str, bill: str, field: str = "vendor") -> tuple[Made, Made]:
    """Let carl's bill to a vendor be approved; then vera changes the account."""
    supplier = stage.create(vendor, "mia", number="DE-GOOD", amount=1)
    made = stage.create(bill, "carl", **{field: str(supplier.id)})
    submit(stage, made, "carl")
    assert vote(stage, made.id, "app2") == APPROVED
    edit(stage, supplier, "vera", number="DE-FRAUD")
    return supplier, made


def ask_to_pay(stage: WorkflowStage, made: Made) -> None:
    stage.ask(made.id, "pay", "carl")
    stage.drain()
    stage.check_rebuild(stage.instance_of(made.id))


def told(stage: WorkflowStage, document_id: UUID) -> list[str]:
    rows = stage.standing.rows(
        "SELECT e.payload_json -> 'payload' ->> 'account' FROM workflow_side_effects_outbox e"
        " JOIN workflow_instances i ON i.tenant_id = e.tenant_id AND i.id = e.instance_id"
        " WHERE i.entity_id = %s ORDER BY e.id",
        document_id,
    )
    return [row[0] for row in rows]


def incidents(stage: WorkflowStage, document_id: UUID) -> list[str]:
    query = "SELECT code FROM incidents WHERE entity_id = %s AND closed_at IS NULL"
    return [row[0] for row in stage.standing.rows(query, document_id)]


@pytest.mark.parametrize("number", ["{entity.vendor.number} ", "{entity.vendor.amount} ", ""])
def test_a_ref_that_a_step_sets_behind_the_gate_pays_no_account_of_now(
    stage: WorkflowStage, number: str
) -> None:
    """The same vendor is pinned with its account, with another field, or not at all."""
    paying = {"nodes": [pay(f"{number}to {{entity.target.number}}")]}
    way = publish(stage, posting={"nodes": [point()]}, paying=paying)
    _, made = approved(stage, *way)
    ask_to_pay(stage, made)
    if "vendor.number" in number:
        assert (told(stage, made.id), incidents(stage, made.id)) == (["DE-GOOD to DE-GOOD"], [])
    else:
        assert (told(stage, made.id), incidents(stage, made.id)) == ([], ["READS_UNPINNED"])


def test_the_incident_names_the_field_and_the_explanation_the_ref(stage: WorkflowStage) -> None:
    way = publish(stage, posting={"nodes": [point("plain")]}, paying={"nodes": [pay()]})
    supplier, made = approved(stage, *way, field="plain")
    ask_to_pay(stage, made)
    (reason,) = stage.standing.row(
        "SELECT message FROM incidents WHERE entity_id = %s AND closed_at IS NULL", made.id
    )
    sentence = "reads target.number, which no approval of the document has pinned"
    assert reason == f"READS_UNPINNED: usr:paying:pay {sentence}"
    database, contracts = stage.standing.company.database, stage.caches().contracts
    explained = explain(database, contracts, stage.tenant_id, stage.instance_of(made.id))
    assert [reference.text for reference in explained.approved_references] == [
        f"target: a step has pointed it to document {supplier.id}. Nobody has approved what that says."
    ]


def test_a_dry_run_of_a_restart_foresees_what_will_not_be_read(stage: WorkflowStage) -> None:
    vendor = stage.publish()
    states = {**CONTRACT["states"], "active": {"edit": "locked"}, "paid": {"edit": "locked", "settled": True}}
    slots = {"posting": {"nodes": [point("plain")]}, "paying": {"nodes": [pay()]}}
    bill = stage.publish(contract_of(vendor, states=states), approval={"nodes": [LOOK]}, **slots)
    _, made = approved(stage, vendor, bill, field="plain")
    company, caches = stage.standing.company, stage.caches()
    operators, olga = Instances(company.database, caches, CompiledCache()), company.caller("olga")
    live = Made(made.id, stage.instance_of(made.id))
    operators.cancel(olga, live.instance_id, version(stage, live), "x")
    (held,) = Restarts(company.database, caches, CompiledCache()).report(olga, made.id).held_ahead
    assert (held.code, held.node) == ("READS_UNPINNED", "usr:paying:pay")
    assert held.reason.endswith("reads target.number, which no approval of the document has pinned")


def test_another_document_than_the_pinned_one_is_not_read(stage: WorkflowStage) -> None:
    """The target was approved as one vendor; a step points it to another, whose account nobody has seen."""
    vendor, bill = publish(stage, posting={"nodes": [point("plain")]}, paying={"nodes": [pay()]})
    shown = stage.create(vendor, "mia", number="DE-SHOWN")
    fraud = stage.create(vendor, "vera", number="DE-FRAUD")
    made = stage.create(bill, "carl", target=str(shown.id), plain=str(fraud.id))
    submit(stage, made, "carl")
    assert vote(stage, made.id, "app2") == APPROVED
    ask_to_pay(stage, made)
    assert (told(stage, made.id), incidents(stage, made.id)) == ([], ["READS_UNPINNED"])


def test_a_step_of_the_same_slot_reads_it_no_more_than_a_later_one(stage: WorkflowStage) -> None:
    way = publish(stage, posting=in_turn(point("plain"), pay()))
    _, made = approved(stage, *way, field="plain")
    assert (told(stage, made.id), incidents(stage, made.id)) == ([], ["READS_UNPINNED"])
    stage.check_rebuild(made.instance_id)


def test_a_condition_behind_the_step_reads_it_not(stage: WorkflowStage) -> None:
    """The step is undone: the ref stays as it was."""
    posting = {
        "nodes": [point("plain"), pay("one", "one"), pay("two", "two")],
        "edges": [
            {"source": "point", "target": "one", "condition": "entity.target.amount == 1", "priority": 1},
            {"source": "point", "target": "two", "priority": 2},
            {"source": "one", "target": "two"},
        ],
    }
    way = publish(stage, posting=posting)
    _, made = approved(stage, *way, field="plain")
    assert (told(stage, made.id), incidents(stage, made.id)) == ([], ["READS_UNPINNED"])
    assert stage.standing.row("SELECT data ->> 'target' FROM documents WHERE id = %s", made.id) == (None,)
    stage.check_rebuild(made.instance_id)


@pytest.mark.parametrize(("note", "expected"), [("{entity.target.number}", ["READS_UNPINNED"]), ("", [])])
def test_an_act_of_a_list_reads_nothing_that_the_one_before_has_pointed(
    stage: WorkflowStage, note: str, expected: list[str]
) -> None:
    """The whole list is undone; beside it, a list that does not follow the ref is run."""
    listed = point(for_each="[1, 2]", payload={"to": "{entity.plain}", "note": note})
    way = publish(stage, posting={"nodes": [listed]})
    supplier, made = approved(stage, *way, field="plain")
    (target,) = stage.standing.row("SELECT data ->> 'target' FROM documents WHERE id = %s", made.id)
    assert (incidents(stage, made.id), target) == (expected, None if expected else str(supplier.id))
    stage.check_rebuild(made.instance_id)


def test_a_document_that_a_step_makes_pays_what_was_approved(stage: WorkflowStage) -> None:
    """The payment inherits the pins; its own step points another ref to the same vendor, and to another."""
    vendor = stage.publish()
    payment_contract = contract_of(
        vendor,
        states={
            "open": {"edit": "locked", "initial": True, "settled": True},
            "sent": {"edit": "locked", "final": True},
        },
        transitions={"send": {"from": ["open"], "to": "sent", "kind": "requested"}},
        slots={"sending": {"transition": "send"}},
        deletable_in=[],
    )
    for field, expected in (("vendor", (["DE-GOOD"], [])), ("other", ([], ["READS_UNPINNED"]))):
        payment = stage.publish(payment_contract, sending=in_turn(point(field), pay()))
        make = {"kind": "create", "entity_type": payment}
        set_ = {"vendor": "{entity.vendor}", "other": "{entity.plain}"}
        bill_contract = contract_of(vendor)
        bill_contract["actions"] = {"make": {**make, "set": set_}}
        node = {"id": "make", "type": "action", "config": {"action": "make", "run_as": "system"}}
        posting = in_turn(node, pay("{entity.vendor.number}"))
        bill = stage.publish(bill_contract, approval={"nodes": [LOOK]}, posting=posting)
        fraud = stage.create(vendor, "vera", number="DE-OTHER")
        supplier = stage.create(vendor, "mia", number="DE-GOOD")
        made = stage.create(bill, "carl", vendor=str(supplier.id), plain=str(fraud.id))
        submit(stage, made, "carl")
        assert vote(stage, made.id, "app2") == APPROVED
        edit(stage, supplier, "vera", number="DE-FRAUD")
        (payment_id,) = stage.standing.row("SELECT id FROM documents WHERE entity_type = %s", payment)
        stage.ask(payment_id, "send", "carl")
        stage.drain()
        assert (told(stage, payment_id), incidents(stage, payment_id)) == expected
        stage.check_rebuild(stage.instance_of(payment_id))


def test_an_action_by_hand_reads_it_not(stage: WorkflowStage) -> None:
    way = publish(stage, posting={"nodes": [point("plain")]})
    _, made = approved(stage, *way, field="plain")
    with pytest.raises(Rejected) as refused:
        stage.mutate(RunAction(made.id, stage.version_of(made.id), "copy", {}), "carl")
    assert refused.value.code == "READS_UNPINNED"
    assert "reads target.number" in refused.value.message


def test_a_ref_that_a_step_sets_before_the_approval_is_paid_as_it_was_shown(stage: WorkflowStage) -> None:
    """The lawful way: people see the account, and it is the one that is paid."""
    checks, paying = {"nodes": [point("plain")]}, {"nodes": [pay()]}
    _, made = approved(stage, *publish(stage, checks=checks, paying=paying), field="plain")
    ask_to_pay(stage, made)
    assert (told(stage, made.id), incidents(stage, made.id)) == (["DE-GOOD"], [])


def test_a_ref_that_a_step_sets_is_read_where_people_are_asked_again(stage: WorkflowStage) -> None:
    """The lawful way: the slot that reads it asks people itself, and they see the account of now."""
    contract_slots = {"posting": {"nodes": [point("plain")]}}
    script = {"id": "take", "type": "script", "config": {"set": {"account": "entity.target.number"}}}
    again = {**LOOK, "id": "again"}
    paying = in_turn(script, again)
    vendor, bill = publish(stage, **contract_slots, paying=paying)
    _, made = approved(stage, vendor, bill, field="plain")
    ask_to_pay(stage, made)
    assert incidents(stage, made.id) == []
    assert vote(stage, made.id, "app2") == APPROVED
    assert stage.status_of(made.id) == "paid"


def test_a_second_way_that_asks_nobody_lets_no_approved_document_read_it(stage: WorkflowStage) -> None:
    """The definition does not ask everybody, and pins nothing: what the record says of it counts."""
    vendor = stage.publish()
    quick = {"from": ["draft"], "to": "active", "kind": "requested"}
    plain = contract_of(vendor)
    contract = {**plain, "transitions": {**plain["transitions"], "quick": quick}}
    slots = {"posting": {"nodes": [point("plain")]}, "paying": {"nodes": [pay()]}}
    bill = stage.publish(contract, approval={"nodes": [LOOK]}, **slots)
    _, made = approved(stage, vendor, bill, field="plain")
    ask_to_pay(stage, made)
    assert (told(stage, made.id), incidents(stage, made.id)) == ([], ["READS_UNPINNED"])
